"""A stream joined with tables stays a stream: its rows have more columns, and there may be more or fewer of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from windrow.errors import QueryError
from windrow.language import error_at, expression_sql, parse_expression
from windrow.plan.bind.bound import BoundAnswers, BoundRows, Scope
from windrow.plan.bind.calls import calls_in
from windrow.plan.bind.check_from import above, check_aliases, join_kind
from windrow.plan.bind.column_aliases import renamed
from windrow.plan.bind.joins import all_of, conjuncts_of
from windrow.plan.bind.names import placed_as, substituted, unknown_name
from windrow.plan.bind.qualified import Qualified
from windrow.plan.bind.refuse import not_yet
from windrow.plan.bind.refuse_time_functions import refuse_spark_windows
from windrow.plan.bind.typing import checked_condition, checked_type, type_name
from windrow.plan.bind.using_columns import named_naturally
from windrow.plan.bind.widen import cast_to, wider
from windrow.plan.nodes.joined_rows import JoinedRows, KeyPair, TableStep
from windrow.plan.nodes.stream_plan import texts_in


def join_tables(tree: exp.Select, written: exp.Select, source: BoundRows, scope: Scope) -> tuple[exp.Select, BoundRows]:
    """The rows of `source` with those of the tables that `tree` joins, and `tree` as a SELECT over all their columns.

    `tree` begins with a stream. As it was `written` it may begin with a table: then all are inner joins, and the
    conditions of ON are those of whichever join they can be asked of first.
    """
    turned_round = tree is not written
    tables = [scope.catalog.tables[join.this.name] for join in tree.args["joins"]]
    tree = named_naturally(tree, [list(source.columns), *(table.names for table in tables)], scope.text)
    joins: list[exp.Join] = tree.args["joins"]
    check_aliases([tree.args["from_"].this, *(join.this for join in joins)], scope)
    binder = _Joins(tree, source, scope)
    where = written.args.get("where")
    binder.waiting = [] if where is None else conjuncts_of(where.this)
    if turned_round:
        given = [join.args["on"] for join in written.args["joins"] if join.args.get("on") is not None]
        binder.pool = [conjunct for condition in given for conjunct in conjuncts_of(condition)]
    for number, join in enumerate(joins, start=1):
        binder.join(number, join)
    rest = None if not binder.waiting else exp.Where(this=all_of(binder.waiting))
    turned = tree.copy()
    turned.set("where", rest)
    return binder.names.over_one(turned), binder.rows()


class _Joins:
    """Binds one join after the other. `waiting` are the conditions of WHERE, `pool` those of ON for any join."""

    def __init__(self, tree: exp.Select, source: BoundRows, scope: Scope) -> None:
        self._source, self._scope = source, scope
        self._schema = source.stream.schema
        self._steps = [] if source.rows is None else list(source.rows.steps)
        self.waiting: list[exp.Expr] = []
        self.pool: list[exp.Expr] = []
        named: list[tuple[str, Mapping[str, exp.Expr]]] = [(tree.args["from_"].this.alias_or_name, source.columns)]
        self._prefixes = []
        for join in tree.args["joins"]:
            own = scope.catalog.tables[join.this.name]
            prefix = self._prefix(join.this.name)
            self._prefixes.append(prefix)
            fields = [pa.field(f"{prefix}.{field.name}", field.type) for field in own]
            self._schema = pa.schema([*self._schema, *fields])
            columns = {name: exp.column(exp.to_identifier(f"{prefix}.{name}", quoted=True)) for name in own.names}
            named.append((join.this.alias_or_name, renamed(columns, join.this, scope.text)))
        self.names = Qualified(named, scope.text)

    def rows(self) -> BoundRows:
        stream = replace(self._source.stream, schema=self._schema)
        rows = JoinedRows(tuple(self._steps))
        return replace(self._source, stream=stream, columns=self.names.columns, rows=rows)

    def join(self, number: int, join: exp.Join) -> None:
        """Bind join `number`; what is equal is what it is by."""
        kind = join_kind(join, self._scope)
        own = [] if join.args.get("on") is None or self.pool else conjuncts_of(join.args["on"])
        own += [self._equal(name, number) for name in join.args.get("using") or []]
        ready = [conjunct for conjunct in self.pool if max(self.names.of(conjunct), default=0) <= number]
        self.pool = [conjunct for conjunct in self.pool if conjunct not in ready]
        pairs, residual = [], []
        for conjunct in [*own, *ready]:
            self._check(conjunct, number)
            pair = self._pair(conjunct, number)
            if pair is not None:
                pairs.append(pair)
            else:
                residual.append(self._condition(conjunct))
        if not pairs and kind == "inner":  # FROM s, t WHERE s.k = t.k
            found = {id(conjunct): self._pair(conjunct, number) for conjunct in self.waiting}
            pairs = [pair for pair in found.values() if pair is not None]
            self.waiting = [conjunct for conjunct in self.waiting if found[id(conjunct)] is None]
        if not pairs:
            message = "a join needs an equality between both sides: without one every row would meet every other"
            raise error_at(join, message, self._scope.text, "... JOIN t ON s.key = t.key")
        on = tuple(sorted(set(pairs), key=lambda pair: (pair.left, pair.right)))
        conditions = tuple(sorted(set(residual)))
        self._steps.append(TableStep(join.this.name, self._prefixes[number - 1], kind, on, conditions))  # type: ignore[arg-type]

    def _check(self, conjunct: exp.Expr, number: int) -> None:
        refuse_spark_windows(conjunct, self._scope.text)
        for node in conjunct.find_all(exp.Window, exp.Query):
            raise not_yet(node, "OVER" if isinstance(node, exp.Window) else "a sub-query in ON", self._scope.text)
        for call in calls_in(conjunct, self._scope):
            raise error_at(call, "an aggregate in ON", self._scope.text, "conditions on aggregates go into HAVING")
        if max(self.names.of(conjunct), default=0) > number:
            raise error_at(conjunct, "ON names a table that is joined later", self._scope.text)

    def _pair(self, conjunct: exp.Expr, number: int) -> KeyPair | None:
        """The two sides of an equality between table `number` and what is before it."""
        if not isinstance(conjunct, exp.EQ) or calls_in(conjunct, self._scope):
            return None
        resolved = [self.names.resolved(side) for side in (conjunct.left, conjunct.right)]
        if any(column.table for side in resolved for column in side.find_all(exp.Column)):
            return None
        sides = [self._sources(side) for side in (conjunct.left, conjunct.right)]
        if sides[0] == {number}:
            resolved, sides = resolved[::-1], sides[::-1]
        if sides[1] != {number} or not sides[0] or max(sides[0]) >= number:
            return None
        left, right = (self._meant(side) for side in resolved)
        types = self._type(left), checked_type(right, self._schema, above(self._scope))
        both = _meeting(*types)
        if both is None:
            message = f"a join of {type_name(types[0])} with {type_name(types[1])}"
            raise error_at(conjunct, message, self._scope.text, "CAST one side to the type of the other")
        cast = [side if type == both else cast_to(side, both) for side, type in zip((left, right), types)]
        return KeyPair(expression_sql(cast[0]), expression_sql(cast[1]), both)

    def _sources(self, side: exp.Expr) -> set[int]:
        """The sources that one side of an equality of WHERE reads; none if it names what is no column of theirs."""
        try:
            return self.names.of(side)
        except QueryError:
            return set()

    def _condition(self, conjunct: exp.Expr) -> str:
        meant = self._meant(self.names.resolved(conjunct))
        own = self._is_of_stream(meant)
        return checked_condition(meant, self._schema, self._scope if own else above(self._scope))

    def _meant(self, resolved: exp.Expr) -> exp.Expr:
        return substituted(resolved, self.names.columns, self._scope.text)

    def _type(self, meant: exp.Expr) -> pa.DataType:
        own = self._is_of_stream(meant)
        return checked_type(meant, self._schema, self._scope if own else above(self._scope))

    def _is_of_stream(self, meant: exp.Expr) -> bool:
        """Whether it reads events alone: then the engine evaluates it, before the join."""
        mine = [*self._prefixes, *(step.name for step in self._steps)]
        names = (column.parts[0].name for column in meant.find_all(exp.Column))
        return not any(name.startswith(f"{prefix}.") for name in names for prefix in mine)

    def _equal(self, name: exp.Expr, number: int) -> exp.Expr:
        """USING (name): equal to the column of that name before, and the same column from then on."""
        first = self.names.before(name.name, number)
        if first is None or not self.names.has(number, name.name):
            known = self.names.names_in(number) if first is not None else self.names.names_in(*range(number))
            raise unknown_name("column", name.name, known, name, self._scope.text)
        aliases = self.names.aliases
        left, right = (exp.column(name.name, table=aliases[place]) for place in (first, number))
        self.names.merge(name.name, number)
        return placed_as(exp.EQ(this=placed_as(left, name), expression=placed_as(right, name)), name)

    def _prefix(self, table: str) -> str:
        """What the names of a table's columns begin with, such that no column of another source begins so."""
        taken = [name.lower() for name in self._schema.names]
        names = (table if number == 1 else f"{table}_{number}" for number in range(1, len(taken) + 2))
        return next(name for name in names if not any(other.startswith(f"{name.lower()}.") for other in taken))


def _meeting(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """The type in which values of both are compared; None if they do not go together without a CAST.

    >>> _meeting(pa.decimal128(5, 2), pa.int32()), _meeting(pa.decimal128(5, 2), pa.float32())
    (Decimal128Type(decimal128(12, 2)), DataType(double))
    """
    both = wider(one, other)
    kinds = [type for type in (one, other) if pa.types.is_decimal(type)]
    if both is not None or not kinds:
        return both
    if any(pa.types.is_floating(type) for type in (one, other)):
        return pa.float64()
    digits = {"int8": 3, "int16": 5, "int32": 10, "int64": 20}
    exact = [(t.precision, t.scale) if pa.types.is_decimal(t) else (digits.get(str(t), 99), 0) for t in (one, other)]
    scale = max(scale for _, scale in exact)
    precision = max(precision - scale for precision, scale in exact) + scale
    return pa.decimal128(precision, scale) if precision <= 38 else None


def needs_engine(bound: BoundAnswers, scope: Scope) -> bool:
    """Whether an expression over joined rows can be evaluated by the engine alone, or comes out of another type."""
    query, schema, local = bound.query, bound.stream.schema, scope.catalog.above
    if query.rows is None or local is None:
        return False
    partials = [aggregate.partial for aggregate in query.aggregates]
    partials += [] if query.clusters is None else [query.clusters]
    for text in texts_in(query.where, query.keys, query.window, partials):
        if query.rows.is_of_stream(text):
            continue
        node = parse_expression(text)
        try:
            if local.type_of(node, schema) != scope.catalog.engine.type_of(node, schema):
                return True
        except QueryError:
            return True
    return False
