"""Sub-queries outside FROM, written as joins: IN and EXISTS as SEMI and ANTI joins, a value as a LEFT JOIN."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from windrow.language import error_at
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.calls import is_call
from windrow.plan.bind.groupings import ALWAYS, has_groupings
from windrow.plan.bind.joined_queries import (
    CLAUSES,
    JoinedQueries,
    check_columns,
    name_outputs,
    own_column,
    refuse_unequal,
)
from windrow.plan.bind.joins import all_of, conjuncts_of
from windrow.plan.bind.names import placed_as
from windrow.plan.bind.over_changes import aggregates
from windrow.plan.bind.refuse import not_yet
from windrow.plan.bind.source_names import OWN


@dataclass(slots=True)
class SubQueries(JoinedQueries):
    """Takes the sub-queries out of the clauses of one SELECT, and makes joins of them."""

    def taken_out(self, tree: exp.Select) -> exp.Select:
        """The same query without sub-queries outside FROM; what they have become is in `joins`."""
        tree = tree.copy()
        before = {id(join): self._taken_out_of_on(join, tree) for join in tree.args.get("joins") or []}
        in_on = len(self.joins)
        grouped = aggregates(tree, self.scope)
        where = tree.args.get("where")
        conditions = [] if where is None else conjuncts_of(where.this)
        kept = [condition for condition in conditions if _membership(condition) is None]
        asked = [found for condition in conditions if (found := _membership(condition)) is not None]
        if where is not None and len(kept) < len(conditions):
            tree.set("where", exp.Where(this=all_of(kept)) if kept else None)
        for part in _clauses(tree):
            of_groups = grouped and part is not tree.args.get("where")
            if of_groups:
                self._check_keys(part, tree)
            self._looked_up(part, tree)
            if of_groups:
                _group_by(tree, [column for column in _made_here(part) if not _in_call(column, self.scope)])
        for negated, condition in asked:
            self._member(condition, negated)
        if self.joins:
            written = [each for join in tree.args.get("joins") or [] for each in (*before[id(join)], join)]
            tree.set("joins", [*written, *self.joins[in_on:]])
        return tree

    def _looked_up(self, part: exp.Expr, tree: exp.Select) -> None:
        """Put the columns of joins in the place of the sub-queries of a part of `tree`."""
        self._count_members(part, tree)
        for node in list(part.find_all(exp.Subquery)):
            if node.root() is part.root() and not isinstance(node.parent, exp.From | exp.Join):
                node.replace(self._value(node))

    def _taken_out_of_on(self, join: exp.Join, tree: exp.Select) -> list[exp.Join]:
        """Take the sub-queries out of ON: what has to be joined before, so that its columns are there.

        What a sub-query asks of the source that is joined alone says which rows of it can be partners at all.
        """
        on, known, own = join.args.get("on"), len(self.joins), join.this.alias_or_name
        asking = [] if on is None else [one for one in conjuncts_of(on) if one.find(exp.Query) is not None]
        for condition in asking:
            asked = {alias for column in self._asked_of(condition) for alias in self.sources_of(column)}
            if own.lower() not in asked:
                holder = exp.paren(condition.copy())
                condition.replace(holder)
                self._looked_up(holder, tree)
            elif asked == {own.lower()} and join.side in ("", "LEFT"):
                within = exp.select("*").from_(join.this.copy()).where(condition.copy())
                alias = exp.TableAlias(this=exp.to_identifier(own))
                join.set("this", placed_as(exp.Subquery(this=within, alias=alias), join.this))
                condition.replace(exp.true())
            else:
                what = "a sub-query in ON that is asked for a column of the side which is joined"
                hint = f"let it be a column of that side: (SELECT *, k IN (SELECT ...) AS asked FROM {own}) AS {own}"
                raise not_yet(condition, f"{what}, and keeps its rows or names both sides,", self.scope.text, hint)
        return self.joins[known:]

    def _asked_of(self, condition: exp.Expr) -> list[exp.Column]:
        """The columns by which the sub-queries of a condition are looked up."""
        found: list[exp.Column] = []
        for query in condition.find_all(exp.Select):
            found += self.shared(query.copy()) if query.parent_select is condition.parent_select else []
            member = query.find_ancestor(exp.In)
            found += [] if member is None else member.this.find_all(exp.Column)
        return found

    def _check_keys(self, part: exp.Expr, tree: exp.Select) -> None:
        """Refuse a sub-query of a group that asks for something else than the group's keys: it has many of it."""
        keys = _keys(tree)
        for query in [node for node in part.find_all(exp.Query) if not isinstance(node, exp.Subquery)]:
            place = query.parent if isinstance(query.parent, exp.Subquery) else query
            if _in_call(place, self.scope) or query.find_ancestor(exp.Select) is not tree:
                continue
            member = query.find_ancestor(exp.In)
            asked = [] if member is None or member.find_ancestor(exp.Select) is not tree else [member.this]
            for call in (node for one in asked for node in one.find_all(exp.Expr) if is_call(node, self.scope)):
                hint = "WHERE total IN (SELECT ...) around a sub-query in FROM that has the groups"
                raise not_yet(call, "IN of an aggregate", self.scope.text, hint)
            plain = query.copy() if isinstance(query, exp.Select) else None
            shared = [] if plain is None else self.shared(plain)
            for column in [*(column for one in asked for column in one.find_all(exp.Column)), *shared]:
                if has_groupings(tree):
                    what = f"a sub-query by {column.name!r}, which is NULL where a grouping leaves it out,"
                    raise not_yet(column, what, self.scope.text, "ask around a sub-query in FROM that has the groups")
                if not any(_same(column, key) for key in keys):
                    message = f"{column.name!r} is no key of the groups, so that a group has many for this sub-query"
                    raise error_at(column, message, self.scope.text, "add it to GROUP BY, or ask in WHERE")

    def _count_members(self, part: exp.Expr, tree: exp.Select) -> None:
        """Where IN or EXISTS is not all of a condition, as under OR, how many rows there are says whether it holds."""
        for node in list(part.find_all(exp.Exists, exp.In)):
            if node.find_ancestor(exp.Query) is not tree:
                continue
            if isinstance(node, exp.Exists) and self._has_always(node.this.unnest()):
                node.replace(exp.true())
            elif isinstance(node, exp.Exists):
                some = self._counting(self.plain(self._any_row(node.this.unnest()), [], node), None, node)
                node.replace(placed_as(exp.paren(_some(some)), node))
            elif isinstance(node, exp.In) and node.args.get("query"):
                node.replace(placed_as(exp.paren(self._is_among(node)), node))

    def _has_always(self, query: exp.Expr) -> bool:
        """Whether a query has one row whatever there is: aggregates of all rows, none of which may be left out."""
        clauses = ("group", "having", "qualify", "limit", "cluster")
        if not isinstance(query, exp.Select) or any(map(query.args.get, clauses)):
            return False
        return aggregates(query, self.scope)

    def _any_row(self, query: Any) -> Any:
        """A query that has a row where this one has: groups, an order and a limit do not matter for that."""
        if not isinstance(query, exp.Select):
            return query
        limit = query.args.get("limit")
        some = limit is None or (isinstance(limit.expression, exp.Literal) and limit.expression.name.strip("0") != "")
        others = any(map(query.args.get, ("having", "qualify", "cluster", "with_", "offset")))
        groups = query.args.get("group") is not None and not has_groupings(query)
        if others or not some or (not groups and aggregates(query, self.scope)):
            return query
        plain = query.copy()
        for clause in ("group", "order", "limit", "distinct"):
            plain.set(clause, None)
        if groups:
            plain.set("expressions", [exp.Literal.number(1)])
        return plain

    def _is_among(self, node: exp.In) -> exp.Expr:
        """Whether a value is among those of a sub-query: NULL where a NULL may be the one that is looked for."""
        if isinstance(node.this, exp.Tuple):
            raise not_yet(node, "IN of several columns beside other conditions", self.scope.text, "EXISTS (SELECT ...)")
        inner, asked = self.plain(node.args["query"].unnest(), [node.this], node), node.this
        value = exp.paren(inner.selects[0].unalias().copy())
        missing = self._counting(inner, exp.Is(this=value.copy(), expression=exp.Null()), node)
        unknown = exp.Is(this=exp.paren(asked.copy()), expression=exp.Null())
        cases = [
            (exp.And(this=unknown, expression=_some(self._counting(inner, None, node))), exp.Null()),
            (self._has_equal(inner, value, asked, node), exp.true()),
            (_some(missing), exp.Null()),
        ]
        return exp.Case(ifs=[exp.If(this=when, true=then) for when, then in cases], default=exp.false())

    def _has_equal(self, inner: exp.Select, value: exp.Expr, asked: exp.Expr, place: exp.Expr) -> exp.Expr:
        """Whether a sub-query has a row whose `value` is what is `asked` for: a join with one row for each value."""
        made, alias = inner.copy(), self.alias()
        correlated = self.correlated(made)
        conditions, columns = self.renamed(correlated, made, alias)
        for condition in correlated:
            refuse_unequal(condition, self.scope)
        name_outputs(made, {**columns, "v": value, "n": exp.Count(this=exp.Star())})
        made.set("group", exp.Group(expressions=[part.copy() for part in (*columns.values(), value)]))
        equal = exp.EQ(this=asked.copy(), expression=own_column(alias, "v"))
        self.add(made, alias, "LEFT", [equal, *conditions], place)
        return exp.Not(this=exp.Is(this=own_column(alias, "n"), expression=exp.Null()))

    def _counting(self, inner: exp.Select, more: exp.Expr | None, place: exp.Expr) -> exp.Subquery:
        """How many rows a sub-query has, of those for which `more` holds."""
        counted = inner.copy()
        counted.set("expressions", [exp.Count(this=exp.Star())])
        if more is not None:
            where = counted.args.get("where")
            counted.set("where", exp.Where(this=all_of([*(conjuncts_of(where.this) if where else []), more])))
        made = exp.Subquery(this=counted)
        placed_as(made, place)
        return made

    def _member(self, node: exp.In | exp.Exists, negated: bool) -> None:
        """Let the rows through for which IN or EXISTS holds, or does not."""
        word = "ANTI" if negated else "SEMI"
        if isinstance(node, exp.Exists) and self._has_always(node.this.unnest()):
            if negated:
                message = "no row can meet this condition: aggregates without GROUP BY always have a row"
                hint = "NOT EXISTS (SELECT 1 FROM ...), or a comparison: (SELECT COUNT(*) FROM ...) = 0"
                raise error_at(node, message, self.scope.text, hint)
            return
        if isinstance(node, exp.Exists):
            query, asked = self._any_row(node.this.unnest()), []
        else:
            query = node.args["query"].unnest()
            asked = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
        if self.reads_table(query):
            self._among_rows(query, asked, word, node)
            return
        inner = self.plain(query, asked, node)
        correlated = self.correlated(inner)
        alias = self.alias()
        values = {f"v{i}": value.unalias() for i, value in enumerate(inner.selects)} if asked else {}
        conditions, columns = self.renamed(correlated, inner, alias)
        equal = [exp.EQ(this=one.copy(), expression=own_column(alias, name)) for one, name in zip(asked, values)]
        if negated and asked and (len(asked) > 1 or self.lacks_window(inner)):
            # one join: without a window the rows that a second would look at must end
            may = [_may_be_equal(one, own_column(alias, name)) for one, name in zip(asked, values)]
            self.join(inner, {**values, **columns}, alias, word, [*may, *conditions], node)
            return
        self.join(inner, {**values, **columns}, alias, word, [*equal, *conditions], node)
        if negated and asked:  # NULL may be equal to anything, so that nobody knows that a row is not among them
            alias = self.alias()
            conditions, columns = self.renamed(correlated, inner, alias)
            missing = exp.Is(this=exp.paren(values["v0"].copy()), expression=exp.Null())
            unknown = exp.Or(
                this=own_column(alias, "missing"),
                expression=exp.Is(this=exp.paren(asked[0].copy()), expression=exp.Null()),
            )
            self.join(inner, {"missing": missing, **columns}, alias, word, [exp.paren(unknown), *conditions], node)

    def _among_rows(self, query: exp.Select, asked: Sequence[exp.Expr], word: str, place: exp.Expr) -> None:
        """The same of the rows of a table, which are there at any time."""
        check_columns(query, len(asked), place, self.scope)

        def equal(values: Sequence[exp.Expr]) -> list[exp.Expr]:
            return [exp.EQ(this=one.copy(), expression=value) for one, value in zip(asked, values)]

        def unknown(values: Sequence[exp.Expr]) -> list[exp.Expr]:
            sides = [exp.Is(this=exp.paren(side.copy()), expression=exp.Null()) for side in (values[0], asked[0])]
            return [exp.paren(exp.Or(this=sides[0], expression=sides[1]))]

        def perhaps(values: Sequence[exp.Expr]) -> list[exp.Expr]:
            return [_may_be_equal(one, value) for one, value in zip(asked, values)]

        if word == "ANTI" and len(asked) > 1:
            self.join_table(query, word, perhaps, place)
            return
        self.join_table(query, word, equal, place)
        if word == "ANTI" and asked:
            self.join_table(query, word, unknown, place)

    def _value(self, node: exp.Subquery) -> exp.Expr:
        """The value of a sub-query with one column, from a join that adds one row at most."""
        query = node.unnest()
        alias = self.alias()
        more = any(query.args.get(clause) for clause in CLAUSES)
        empty: exp.Expr | None
        if isinstance(query, exp.Select) and not more and aggregates(query, self.scope):
            inner, value, empty = query.copy(), query.selects[0].unalias(), _of_nothing(query, self.scope)
            check_columns(query, 1, node, self.scope)
        else:
            inner = self.plain(query, [node], node)
            value, empty = exp.First(this=inner.selects[0].unalias()), None
        correlated = self.correlated(inner)
        conditions, columns = self.renamed(correlated, inner, alias)
        for condition in correlated:
            refuse_unequal(condition, self.scope)
        name_outputs(inner, {**columns, "n": exp.Count(this=exp.Star()), "v": value})
        if columns:
            inner.set("group", exp.Group(expressions=[part.copy() for part in columns.values()]))
        self.add(inner, alias, "LEFT", conditions, node, one_row=empty is None)
        found = own_column(alias, "v")
        if empty is None or isinstance(empty, exp.Null):
            return placed_as(found, node)
        nothing = exp.Is(this=own_column(alias, "n"), expression=exp.Null())
        return placed_as(exp.Case(ifs=[exp.If(this=nothing, true=empty)], default=found), node)


def sub_queries_in(part: exp.Expr) -> Iterable[exp.Expr]:
    """The queries within an expression."""
    return part.find_all(exp.Query)


def _clauses(tree: exp.Select) -> list[exp.Expr]:
    found = [*tree.selects, *(tree.args.get(clause) for clause in ("where", "having", "qualify"))]
    return [part for part in found if part is not None and next(iter(sub_queries_in(part)), None) is not None]


def _membership(condition: exp.Expr) -> tuple[bool, exp.In | exp.Exists] | None:
    """Whether a condition is IN or EXISTS of a sub-query, and is negated."""
    negated = False
    while isinstance(condition, exp.Not | exp.Paren):
        negated ^= isinstance(condition, exp.Not)
        condition = condition.this
    if isinstance(condition, exp.Exists) or (isinstance(condition, exp.In) and condition.args.get("query")):
        return negated, condition
    return None


def _may_be_equal(one: exp.Expr, other: exp.Expr) -> exp.Expr:
    """That two values are equal, or that nobody knows: NULL may be equal to anything."""
    nulls = [exp.Is(this=exp.paren(side.copy()), expression=exp.Null()) for side in (one, other)]
    return exp.paren(exp.or_(exp.EQ(this=one.copy(), expression=other.copy()), *nulls))


def _some(counted: exp.Expr) -> exp.Expr:
    return exp.GT(this=counted, expression=exp.Literal.number(0))


def _of_nothing(query: exp.Select, scope: Scope) -> exp.Expr:
    """What the value is where there are no rows: a count is 0, any other aggregate is NULL."""

    def emptied(node: exp.Expr) -> exp.Expr:
        if not is_call(node, scope):
            return node
        inner = node.this if isinstance(node, exp.Filter) else node
        names = ("count", "count_if", "approx_count_distinct", "regr_count")
        name = inner.sql_name() if isinstance(inner, exp.Func) else inner.name
        name = inner.name if isinstance(inner, exp.Anonymous) else name
        return exp.Literal.number(0) if name.lower() in names else exp.Null()

    return query.selects[0].unalias().copy().transform(emptied)


def _in_call(node: exp.Expr, scope: Scope) -> bool:
    """Whether a value is within an aggregate, which takes it row by row."""
    parent = node.parent
    while parent is not None and not isinstance(parent, exp.Query):
        if is_call(parent, scope):
            return True
        parent = parent.parent
    return False


def _made_here(part: exp.Expr) -> list[exp.Column]:
    """The columns of the joins that sub-queries have become."""
    return [column for column in part.find_all(exp.Column) if column.table.startswith(OWN)]


def _keys(tree: exp.Select) -> list[exp.Column]:
    """The columns that are grouped by, also by place or by alias."""
    group, selects = tree.args.get("group"), tree.selects
    named = {part.alias.lower(): part.unalias() for part in selects if part.alias}
    if group is None:
        return []
    found: list[exp.Expr | None] = [part.unalias() for part in selects] if group.args.get("all") else []
    for key in group.expressions:
        if isinstance(key, exp.Literal) and key.is_int and 0 < int(key.this) <= len(selects):
            key = selects[int(key.this) - 1].unalias()
        found += [key, named.get(key.name.lower())] if isinstance(key, exp.Column) else []
    return [key for key in found if isinstance(key, exp.Column)]


def _same(column: exp.Column, key: exp.Column) -> bool:
    """Whether two names may be of one column, of which each may be with or without that of its source."""
    sources = {column.table.lower(), key.table.lower()} - {""}
    return column.name.lower() == key.name.lower() and len(sources) < 2


def _group_by(tree: exp.Select, columns: list[exp.Column]) -> None:
    """At each instant a value is the same for all rows of a group, so groups may have it among their keys."""
    group = tree.args.get("group") or exp.Group(expressions=[])
    always = [*(group.args.get(ALWAYS) or []), *(column.copy() for column in columns)]
    group.set(ALWAYS, always)
    if always or group.args.get("expressions"):
        tree.set("group", group)
