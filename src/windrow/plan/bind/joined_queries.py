"""A sub-query as one more source of a join: what it shares with the query around becomes a condition of the join."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from windrow.language import error_at
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.edges import EDGES
from windrow.plan.bind.joins import all_of, conjuncts_of
from windrow.plan.bind.names import placed_as
from windrow.plan.bind.over_changes import aggregates
from windrow.plan.bind.refuse import not_yet
from windrow.plan.bind.source_names import OWN

ONE_ROW = "one_row"
"""Marks a sub-query whose value is that of its one row."""

_ONE_QUERY = "one sub-query that joins both: EXISTS (SELECT 1 FROM b ... JOIN c ... ON b.k = c.k WHERE c.n = a.n)"
_BY_GROUP = "let it answer for all: JOIN (SELECT k, MAX(x) AS x FROM b ... GROUP BY k) AS q ON a.k = q.k, or IN"
_IN_WHERE = "let FROM have the column, compare it in WHERE: (SELECT n FROM (SELECT n, k ...) AS q WHERE q.k = a.k)"
"""Ways out of names of the query around where they cannot stand."""

Columns = Mapping[str, Sequence[str]]
"""The columns of each source, by alias."""

CLAUSES = ("group", "having", "distinct", "order", "limit", "qualify", "with_", "cluster", "query_window")


@dataclass(slots=True)
class JoinedQueries:
    """The joins that sub-queries of one SELECT have become.

    `around` are the columns of its own sources, `columns_of` tells those of the sources of a sub-query. A condition of
    a sub-query that names columns of `around` is one of the join.
    """

    around: Columns
    columns_of: Callable[[exp.Select], Columns]
    scope: Scope
    first: int
    is_table: Callable[[exp.Expr], bool]
    lacks_window: Callable[[exp.Select], bool]
    """Whether a sub-query reads a stream without a window: a condition says for how long its rows are needed."""

    joins: list[exp.Join] = field(default_factory=list)

    def join(
        self,
        inner: exp.Select,
        columns: Mapping[str, exp.Expr],
        alias: str,
        word: str,
        conditions: Sequence[exp.Expr],
        place: exp.Expr,
    ) -> None:
        """Join with the distinct rows of `columns` of a sub-query; without a window all, since none would ever go."""
        made = inner.copy()
        name_outputs(made, columns or {"hit": exp.Literal.number(1)})
        if not self.lacks_window(inner):
            made.set("distinct", exp.Distinct())
        self.add(made, alias, word, conditions, place)

    def add(
        self,
        inner: exp.Select,
        alias: str,
        word: str,
        conditions: Sequence[exp.Expr],
        place: exp.Expr,
        one_row: bool = False,
    ) -> None:
        """Join with a sub-query; with `one_row`, it should have one for each row that it is joined with."""
        source = exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier(alias)))
        source.meta.update({**place.meta, ONE_ROW: one_row})
        self._add(source, word, conditions, place)

    def join_table(
        self,
        inner: exp.Select,
        word: str,
        conditions: Callable[[Sequence[exp.Expr]], Sequence[exp.Expr]],
        place: exp.Expr,
    ) -> None:
        """Join with the rows of the table that a sub-query reads; `conditions` are of the values that it selects.

        A row has a partner or has none, however many: the table is joined as it is.
        """
        own, alias = self.columns_of(inner), self.alias()
        source = inner.args["from_"].this.copy()
        old = source.args.get("alias")
        source.set("alias", exp.TableAlias(this=exp.to_identifier(alias), columns=old and old.args.get("columns")))

        def by_alias(node: exp.Expr) -> exp.Expr:
            made: exp.Paren = exp.paren(node.copy())
            for column in list(_columns(made)):
                if not self._is_around(column, own):
                    column.replace(placed_as(own_column(alias, column.name), column))
            found: exp.Expr = made.this
            return found

        where = inner.args.get("where")
        values = [by_alias(value.unalias()) for value in inner.selects]
        asked = [by_alias(one) for one in ([] if where is None else conjuncts_of(where.this))]
        self._add(source, word, [*conditions(values), *asked], place)

    def reads_table(self, query: exp.Expr) -> bool:
        """Whether a sub-query selects of the rows of one table, and does no more than that."""
        if not isinstance(query, exp.Select) or query.args.get("joins") or not query.args.get("from_"):
            return False
        more = any(query.args.get(clause) for clause in CLAUSES if clause != "distinct")
        return not more and self.is_table(query.args["from_"].this) and not aggregates(query, self.scope)

    def _add(self, source: exp.Expr, word: str, conditions: Sequence[exp.Expr], place: exp.Expr) -> None:
        side = {"side": "LEFT"} if word == "LEFT" else {"kind": word}
        on = all_of([condition.copy() for condition in conditions]) if conditions else exp.true()
        join = exp.Join(this=source, on=on, **side)
        placed_as(join, place)
        self.joins.append(join)

    def plain(self, query: exp.Expr, asked: Sequence[exp.Expr], place: exp.Expr) -> exp.Select:
        """A SELECT of columns without more than FROM and WHERE, around the query where it has more."""
        more = any(query.args.get(clause) for clause in CLAUSES)
        if isinstance(query, exp.Select) and not more and not aggregates(query, self.scope):
            check_columns(query, len(asked), place, self.scope)
            for source in [query.args.get("from_"), *(query.args.get("joins") or [])]:
                for within in [] if source is None else source.find_all(exp.Query):
                    self._refuse_shared_within(within, "in FROM of a sub-query", _IN_WHERE)
            return query.copy()
        names = [exp.to_identifier(f"w{i}") for i in range(len(asked))]
        alias = exp.TableAlias(this=exp.to_identifier("within"), columns=names if asked else None)
        self._refuse_shared_within(query, "in a sub-query with more than FROM and WHERE", _BY_GROUP)
        if isinstance(query, exp.Select):
            check_columns(query, len(asked), place, self.scope)
        around = exp.select(*(exp.column(name.copy()) for name in names) if names else [exp.Literal.number(1)])
        return around.from_(exp.Subquery(this=query.copy(), alias=alias))

    def correlated(self, inner: exp.Select) -> list[exp.Expr]:
        """The conditions of WHERE that name columns of the query around; they are taken out of `inner`."""
        own = self.columns_of(inner)
        where = inner.args.get("where")
        conditions = [] if where is None else conjuncts_of(where.this)
        correlated = [one for one in conditions if any(self._is_around(column, own) for column in _columns(one))]
        for query in (node for one in correlated for node in one.find_all(exp.Query)):
            self._refuse_shared_within(query, "two queries away", _ONE_QUERY)
        kept = [condition for condition in conditions if all(condition is not one for one in correlated)]
        if correlated:
            inner.set("where", exp.Where(this=all_of(kept)) if kept else None)
        for column in (column for part in inner.selects for column in _columns(part)):
            if self._is_around(column, own):
                message = "a sub-query may name columns of the query around it in its WHERE, and not elsewhere"
                raise error_at(column, message, self.scope.text)
        return correlated

    def _refuse_shared_within(self, query: exp.Expr, where: str, hint: str) -> None:
        """Refuse a name of the query around in a place that no condition of a join can be taken out of."""
        inside = {source.alias_or_name.lower() for source in query.find_all(exp.Table, exp.Subquery)}
        around = {alias.lower() for alias in self.around} - inside
        for column in _columns(query):
            if column.table.lower() in around:
                what = f"{column.table}.{column.name} of the query around, {where},"
                raise not_yet(column, what, self.scope.text, hint)

    def shared(self, inner: exp.Select) -> list[exp.Column]:
        """The columns of the query around that a sub-query names in its WHERE."""
        own, where = self.columns_of(inner), inner.args.get("where")
        return [] if where is None else [column for column in _columns(where) if self._is_around(column, own)]

    def renamed(
        self, conditions: Sequence[exp.Expr], inner: exp.Select, alias: str
    ) -> tuple[list[exp.Expr], dict[str, exp.Expr]]:
        """The conditions over columns of the sub-query by its alias, and what these columns are."""
        own, found = self.columns_of(inner), []
        columns: dict[str, exp.Expr] = {}
        for condition in conditions:
            made = condition.copy()
            for column in list(_columns(made)):
                if not self._is_around(column, own):
                    text = column.sql()
                    name = next((name for name, known in columns.items() if known.sql() == text), f"c{len(columns)}")
                    columns[name] = column.copy()
                    named = placed_as(own_column(alias, name), column)
                    if column is made:
                        made = named
                    else:
                        column.replace(named)
            found.append(made)
        return found, columns

    def sources_of(self, column: exp.Column) -> list[str]:
        """The sources around, in lower case, that have a column."""
        if column.table:
            return [column.table.lower()]
        name = column.name.lower()
        return [alias.lower() for alias, names in self.around.items() if name in {each.lower() for each in names}]

    def _is_around(self, column: exp.Column, own: Columns) -> bool:
        """Whether a name in a sub-query is one of the query around: its own sources come first."""
        inside, around = ({alias.lower() for alias in columns} for columns in (own, self.around))
        if column.table:
            return column.table.lower() not in inside and column.table.lower() in around
        names = {name.lower() for columns in own.values() for name in columns} | set(EDGES)
        return column.name.lower() not in names and any(
            column.name.lower() == name.lower() for columns in self.around.values() for name in columns
        )

    def alias(self) -> str:
        """A name for the next join, which no user can write."""
        return f"{OWN}{self.first + len(self.joins)}"


def _columns(node: exp.Expr) -> Iterable[exp.Column]:
    return node.find_all(exp.Column)


def name_outputs(query: exp.Select, outputs: Mapping[str, exp.Expr]) -> None:
    """Let a query have these columns, by these names."""
    query.set("expressions", [exp.alias_(part.copy(), name, quoted=True) for name, part in outputs.items()])


def own_column(alias: str, name: str) -> exp.Column:
    """A column of a sub-query, by the name of its join."""
    return exp.column(exp.to_identifier(name, quoted=True), table=alias)


def check_columns(query: exp.Select, wanted: int, place: exp.Expr, scope: Scope) -> None:
    """Refuse a sub-query that has another number of columns than is compared with, which may be none."""
    stars = any(isinstance(node, exp.Star) or node.is_star for node in query.selects)
    if wanted and (len(query.selects) != wanted or stars):
        has = "*" if stars else f"{len(query.selects)} columns"
        raise error_at(place, f"the sub-query has {has}, and {wanted} can be compared with", scope.text)


def refuse_unequal(condition: exp.Expr, scope: Scope) -> None:
    """The value of a sub-query is looked up, so that what it shares with the query around has to be equal."""
    if not isinstance(condition, exp.EQ | exp.NullSafeEQ):
        message = "the value of a sub-query is found by equalities with the query around it, and this is none"
        raise error_at(condition, message, scope.text, "JOIN the stream with that condition, and GROUP BY")
