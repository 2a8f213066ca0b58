"""From syntax to a bound query: names resolved, types known, aggregates and keys told apart."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from windrow.errors import NotSupportedYet, QueryError
from windrow.language import (
    Query,
    Windrow,
    TimeWindow as WrittenWindow,
    clustering_of,
    emit_of,
    error_at,
    expression_sql,
    query_window_of,
    span_of,
    window_of,
)
from windrow.plan import calls
from windrow.plan.aggregates import Aggregate
from windrow.plan.catalog import Catalog, Stream
from windrow.plan.pipeline import Key, Ordering, Output
from windrow.plan.typing import checked_type
from windrow.plan.window import TimeWindow

WINDOW_COLUMNS = ("window_start", "window_end")


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """A windowed aggregation: keys and aggregates over a stream's rows, outputs over keys and aggregates.

    In `outputs`, `having` and `order` a key is the column `key_0`, ..., an aggregate `agg_0`, ...
    """

    stream: Stream
    window: TimeWindow
    where: str | None
    keys: tuple[Key, ...]
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    having: str | None = None
    order: tuple[Ordering, ...] = ()
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class _Rows:
    """A stream, perhaps filtered and with computed columns, before any window has been folded."""

    stream: Stream
    columns: dict[str, exp.Expr]
    where: exp.Expr | None
    window: TimeWindow | None


@dataclass(frozen=True, slots=True)
class _Answers:
    """A windowed aggregation whose outputs are columns for the query around it."""

    query: BoundQuery
    columns: dict[str, exp.Expr]


_Source = _Rows | _Answers


def bind(query: Query, catalog: Catalog) -> BoundQuery:
    """Resolve `query` against `catalog`."""
    source = _Binder(catalog, query.text).bound(query.tree, {})
    if isinstance(source, _Answers):
        return source.query
    if source.window is None:
        raise error_at(
            query.tree.args["from_"],
            f"{source.stream.name!r} is a stream and needs a window",
            query.text,
            f"FROM {source.stream.name} [RANGE 10 MINUTES SLIDE 1 MINUTE]",
        )
    raise _not_yet(query.tree.selects[0], "a windowed query without an aggregate", query.text)


class _Binder:
    def __init__(self, catalog: Catalog, text: str) -> None:
        self._catalog, self._text = catalog, text

    def bound(self, tree: exp.Expr, named: dict[str, exp.Expr]) -> _Source:
        """What a SELECT, with the sub-queries that WITH has `named`, stands for."""
        if isinstance(tree, exp.Subquery):
            return self.bound(tree.this, named)
        if not isinstance(tree, exp.Select):
            raise _not_yet(tree, type(tree).__name__.upper(), self._text)
        self._refuse_unsupported(tree)
        if tree.args.get("with_"):
            named = named | {cte.alias.lower(): cte.this for cte in tree.args["with_"].expressions}
        source = self._from(tree, named)
        is_aggregate = tree.args.get("group") or any(calls.calls_in(node, self._catalog) for node in tree.selects)
        if isinstance(source, _Answers):
            if is_aggregate:
                raise _not_yet(tree.selects[0], "an aggregate over a windowed sub-query", self._text)
            return self._refined(tree, source)
        where = tree.args.get("where")
        if where is not None:
            self._refuse_aggregates(where.this, "WHERE", "HAVING")
            condition = self._substituted(where.this, source.columns)
            calls._condition(condition, self._catalog, source.stream.schema, self._text)
            source = replace(source, where=_both(source.where, condition))
        if is_aggregate or tree.args.get("having"):
            return self._aggregated(tree, source)
        return self._projected(tree, source)

    def _refuse_unsupported(self, tree: exp.Select) -> None:
        for clause, name in (
            ("joins", "JOIN"),
            ("distinct", "DISTINCT"),
            ("laterals", "LATERAL VIEW"),
            ("qualify", "QUALIFY"),
            ("offset", "OFFSET"),
            ("pivots", "PIVOT"),
            ("hint", "a hint"),
        ):
            found = tree.args.get(clause)
            if found:
                raise _not_yet(found[0] if isinstance(found, list) else found, name, self._text)
        if clustering_of(tree) is not None:
            raise _not_yet(tree.args["cluster"], "CLUSTER BY", self._text)
        if emit_of(tree) not in (None, "SNAPSHOT"):
            raise _not_yet(tree.args["emit"], f"EMIT {emit_of(tree)}", self._text)
        for node in tree.find_all(exp.Window):
            raise _not_yet(node, "OVER", self._text)

    # FROM

    def _from(self, tree: exp.Select, named: dict[str, exp.Expr]) -> _Source:
        clause = tree.args.get("from_")
        if clause is None:
            raise error_at(tree.selects[0], "a query needs FROM and a stream", self._text)
        table = clause.this
        if isinstance(table, exp.Subquery):
            return self.bound(table.this, named)
        if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
            raise _not_yet(table, "this in FROM", self._text)
        name = table.name
        written = window_of(table) or query_window_of(tree)
        if name.lower() in named:
            inner = {key: value for key, value in named.items() if key != name.lower()}
            source = self.bound(named[name.lower()], inner)
            if written is None:
                return source
            if isinstance(source, _Answers):
                raise _not_yet(table, "a window over a windowed sub-query", self._text)
            return replace(source, window=self._window(written, table))
        if name in self._catalog.tables:
            if written is not None:
                raise error_at(
                    table,
                    f"{name!r} is a table, and a table has no window",
                    self._text,
                    f"write FROM {name} without a window, or read it with CREATE STREAM",
                )
            raise _not_yet(table, "a query over a table", self._text)
        stream = self._catalog.streams.get(name)
        if stream is None:
            raise self._unknown_stream(table, name, named)
        columns: dict[str, exp.Expr] = {
            field: exp.column(exp.to_identifier(field, quoted=True)) for field in stream.schema.names
        }
        return _Rows(stream, columns, None, None if written is None else self._window(written, table))

    def _unknown_stream(self, table: exp.Table, name: str, named: dict[str, exp.Expr]) -> QueryError:
        known = [*self._catalog.streams, *named]
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"known streams: {', '.join(known) or 'none'}"
        return error_at(table.this, f"unknown stream {name!r}", self._text, hint)

    def _window(self, written: object, table: exp.Table) -> TimeWindow:
        place = table.args.get("stream_window") or table
        if not isinstance(written, WrittenWindow):
            raise _not_yet(place, "this kind of window", self._text)
        if written.slide_us is None:
            raise _not_yet(place, "a window without SLIDE", self._text)
        if written.emit_every_us is not None:
            raise _not_yet(place, "EMIT EVERY", self._text)
        if written.about:
            raise _not_yet(place, "SLIDE ABOUT", self._text)
        if getattr(written, "aging", None):
            raise _not_yet(place, "AGING", self._text)
        return TimeWindow(written.range_us, written.slide_us, written.offset_us % written.slide_us)

    # rows to rows

    def _projected(self, tree: exp.Select, source: _Rows) -> _Rows:
        """A SELECT without aggregates: other columns of the same rows."""
        for clause in ("order", "limit"):
            if tree.args.get(clause):
                raise _not_yet(tree.args[clause], f"{clause.upper()} without an aggregate", self._text)
        columns: dict[str, exp.Expr] = {}
        for node in tree.selects:
            if isinstance(node, exp.Star):
                columns |= source.columns
            else:
                columns[_output_name(node)] = self._checked(node.unalias(), source)
        return replace(source, columns=columns)

    def _checked(self, node: exp.Expr, source: _Rows) -> exp.Expr:
        node = self._substituted(node, source.columns)
        checked_type(node, self._catalog.engine, source.stream.schema, self._text)
        return node

    def _substituted(self, node: exp.Expr, columns: dict[str, exp.Expr]) -> exp.Expr:
        """`node` with every column replaced by what it stands for; spans stay, so that errors find their place."""
        spelt = {name.lower(): name for name in columns}

        def replaced(part: exp.Expr) -> exp.Expr:
            if not isinstance(part, exp.Column):
                return part
            names = [piece.name for piece in part.parts]
            name = next((n for n in (names[0], names[-1]) if n.lower() in spelt), None)
            if name is None:
                close = difflib.get_close_matches(names[-1].lower(), spelt, n=1)
                hint = f"did you mean {spelt[close[0]]}?" if close else f"known columns: {', '.join(columns)}"
                raise error_at(part, f"unknown column {names[-1]!r}", self._text, hint)
            meant = columns[spelt[name.lower()]].copy()
            for field in names[names.index(name) + 1 :]:
                meant = exp.Dot(this=meant, expression=exp.to_identifier(field))
            span = span_of(part)
            if span is not None:
                meant.meta["span"] = span
            return meant if isinstance(meant, exp.Column | exp.Func | exp.Literal | exp.Dot) else _paren(meant)

        return node.copy().transform(replaced)

    # rows to answers

    def _aggregated(self, tree: exp.Select, source: _Rows) -> _Answers:
        if source.window is None:
            place = tree.args["from_"].this
            raise error_at(
                place,
                f"{source.stream.name!r} is a stream and needs a window",
                self._text,
                f"FROM {place.name or source.stream.name} [RANGE 10 MINUTES SLIDE 1 MINUTE]",
            )
        aliases = {node.alias.lower(): node.this for node in tree.selects if isinstance(node, exp.Alias)}
        keys = self._keys(tree, source, aliases)
        found: dict[Aggregate, int] = {}
        outputs: dict[str, exp.Expr] = {}
        for node in tree.selects:
            if isinstance(node, exp.Star):
                raise error_at(node, "* beside aggregates", self._text, "name the columns")
            name = _output_name(node)
            if name.lower() in WINDOW_COLUMNS and isinstance(node.unalias(), exp.Column):
                continue  # they lead every result anyway
            if name.lower() in {known.lower() for known in (*outputs, *WINDOW_COLUMNS)}:
                raise error_at(
                    node, f"two columns are named {name!r}", self._text, "give one of them another name with AS"
                )
            outputs[name] = self._lifted(node.unalias(), source, keys, found)
        having = tree.args.get("having")
        condition = None
        if having is not None:
            condition = self._lifted(self._unaliased(having.this, aliases, source), source, keys, found)
        order = tuple(self._ordering(term, tree, aliases, source, keys, found) for term in self._order_terms(tree))
        bound = BoundQuery(
            source.stream,
            source.window,
            None if source.where is None else expression_sql(source.where),
            tuple(keys.values()),
            tuple(found),
            tuple(Output(name, expression_sql(node)) for name, node in outputs.items()),
            None if condition is None else expression_sql(condition),
            order,
            self._limit(tree),
        )
        self._check_outputs(bound, tree, outputs, condition)
        return _Answers(bound, outputs)

    def _keys(self, tree: exp.Select, source: _Rows, aliases: dict[str, exp.Expr]) -> dict[str, Key]:
        """The grouping expressions, by their canonical text."""
        keys: dict[str, Key] = {}
        group = tree.args.get("group")
        if group is None:
            return keys
        for clause in ("cube", "rollup", "grouping_sets", "all"):
            if group.args.get(clause):
                raise _not_yet(group, clause.upper().replace("_", " "), self._text)
        for node in group.expressions:
            if isinstance(node, exp.Literal) and not node.is_string:
                place = int(node.this)
                if not 1 <= place <= len(tree.selects):
                    raise error_at(node, f"there is no column {place} to group by", self._text)
                node = tree.selects[place - 1].unalias()
            elif isinstance(node, exp.Column) and not node.table:
                columns = {name.lower() for name in source.columns}
                if node.name.lower() not in columns and node.name.lower() in aliases:
                    node = aliases[node.name.lower()]
            self._refuse_aggregates(node, "GROUP BY", "HAVING")
            meant = self._substituted(node, source.columns)
            type = checked_type(meant, self._catalog.engine, source.stream.schema, self._text)
            if pa.types.is_map(type):
                raise error_at(node, "a map cannot be grouped by", self._text)
            text = expression_sql(meant)
            keys.setdefault(text, Key(text, type))
        return keys

    def _lifted(self, node: exp.Expr, source: _Rows, keys: dict[str, Key], found: dict[Aggregate, int]) -> exp.Expr:
        """`node` over the columns that slide emits: each aggregate and each key replaced by its column."""
        texts = list(keys)

        def walk(part: exp.Expr) -> exp.Expr:
            if calls.is_call(part, self._catalog):
                meant = self._substituted(part, source.columns)
                aggregate = calls.resolve(meant, self._catalog, source.stream.schema, self._text)
                return _placed(f"agg_{found.setdefault(aggregate, len(found))}", part)
            if isinstance(part, exp.Column) and part.name.lower() in WINDOW_COLUMNS and not part.table:
                return _placed(part.name.lower(), part)
            if not isinstance(part, exp.Identifier | exp.DataType | exp.Literal | exp.Interval | exp.Var):
                columns = list(part.find_all(exp.Column))
                if all(column.name.lower() not in WINDOW_COLUMNS for column in columns) and not calls.calls_in(
                    part, self._catalog
                ):
                    text = expression_sql(self._substituted(part, source.columns)) if columns else None
                    if text in texts:
                        return _placed(f"key_{texts.index(text)}", part)
            if isinstance(part, exp.Column):
                self._substituted(part, source.columns)
                raise error_at(
                    part,
                    f"{part.name!r} is neither grouped by nor aggregated",
                    self._text,
                    f"add it to GROUP BY, or take FIRST({part.name})",
                )
            for name, value in list(part.args.items()):
                if isinstance(value, exp.Expr):
                    part.set(name, walk(value))
                elif isinstance(value, list):
                    part.set(name, [walk(item) if isinstance(item, exp.Expr) else item for item in value])
            return part

        return walk(node.copy())

    def _unaliased(self, node: exp.Expr, aliases: dict[str, exp.Expr], source: _Rows) -> exp.Expr:
        """`node` with names of the select list replaced by what they stand for, unless a column has that name."""
        columns = {name.lower() for name in source.columns}

        def replaced(part: exp.Expr) -> exp.Expr:
            if isinstance(part, exp.Column) and not part.table and part.name.lower() in aliases:
                if part.name.lower() not in columns:
                    return _paren(aliases[part.name.lower()].copy())
            return part

        return node.copy().transform(replaced)

    # answers to answers

    def _refined(self, tree: exp.Select, source: _Answers) -> _Answers:
        """A SELECT around a windowed sub-query: other columns of the same answers, fewer of them, or in order."""
        if source.query.limit is not None:
            raise _not_yet(tree.selects[0], "a query over a sub-query with LIMIT", self._text)
        visible = source.columns | {name: exp.column(name) for name in WINDOW_COLUMNS}
        outputs: dict[str, exp.Expr] = {}
        for node in tree.selects:
            if isinstance(node, exp.Star):
                outputs |= source.columns
            elif _output_name(node).lower() not in WINDOW_COLUMNS:
                outputs[_output_name(node)] = self._substituted(node.unalias(), visible)
        having = None if source.query.having is None else exp.maybe_parse(source.query.having, dialect=Windrow)
        if tree.args.get("where") is not None:
            having = _both(having, self._substituted(tree.args["where"].this, visible))
        by_alias = {name.lower(): node for name, node in outputs.items()}
        order = []
        for term in self._order_terms(tree):
            node = by_alias.get(term.this.name.lower()) if isinstance(term.this, exp.Column) else None
            order.append(_ordering(term, node if node is not None else self._substituted(term.this, visible)))
        query = replace(
            source.query,
            outputs=tuple(Output(name, expression_sql(node)) for name, node in outputs.items()),
            having=None if having is None else expression_sql(having),
            order=tuple(order) or source.query.order,
            limit=self._limit(tree),
        )
        self._check_outputs(query, tree, outputs, having)
        return _Answers(query, outputs)

    # ORDER BY, LIMIT, checks

    def _order_terms(self, tree: exp.Select) -> list[exp.Ordered]:
        order = tree.args.get("order")
        return [] if order is None else order.expressions

    def _ordering(self, term: exp.Ordered, tree: exp.Select, aliases, source: _Rows, keys, found) -> Ordering:
        node = term.this
        if isinstance(node, exp.Literal) and not node.is_string:
            if not 1 <= int(node.this) <= len(tree.selects):
                raise error_at(node, f"there is no column {node.this} to order by", self._text)
            node = tree.selects[int(node.this) - 1].unalias()
        elif isinstance(node, exp.Column) and not node.table and node.name.lower() in aliases:
            node = aliases[node.name.lower()]
        else:
            node = self._unaliased(node, aliases, source)
        return _ordering(term, self._lifted(node, source, keys, found))

    def _limit(self, tree: exp.Select) -> int | None:
        limit = tree.args.get("limit")
        if limit is None:
            return None
        if not tree.args.get("order"):
            raise error_at(
                limit, "LIMIT without ORDER BY would keep any rows", self._text, "say which: ORDER BY ... LIMIT"
            )
        if not isinstance(limit.expression, exp.Literal) or not limit.expression.this.isdigit():
            raise error_at(limit, "LIMIT needs a whole number", self._text)
        return int(limit.expression.this)

    def _refuse_aggregates(self, node: exp.Expr, clause: str, better: str) -> None:
        for call in calls.calls_in(node, self._catalog):
            raise error_at(call, f"an aggregate in {clause}", self._text, f"conditions on aggregates go into {better}")

    def _check_outputs(
        self, bound: BoundQuery, tree: exp.Select, outputs: dict[str, exp.Expr], having: exp.Expr | None
    ) -> None:
        """Every output has a type, and HAVING is a condition."""
        schema = emitted_schema(bound.keys, bound.aggregates)
        for node in outputs.values():
            checked_type(node, self._catalog.engine, schema, self._text)
        if having is not None:
            calls._condition(having, self._catalog, schema, self._text)


def emitted_schema(keys: tuple[Key, ...], aggregates: tuple[Aggregate, ...]) -> pa.Schema:
    """The columns that slide emits for these keys and aggregates."""
    time = pa.timestamp("us", tz="UTC")
    columns = [pa.field("window_start", time), pa.field("window_end", time, nullable=False)]
    columns += [pa.field(f"key_{i}", key.type) for i, key in enumerate(keys)]
    columns += [pa.field(f"agg_{i}", aggregate.type) for i, aggregate in enumerate(aggregates)]
    return pa.schema(columns)


def _ordering(term: exp.Ordered, node: exp.Expr) -> Ordering:
    descending = bool(term.args.get("desc"))
    nulls_first = term.args.get("nulls_first")
    return Ordering(expression_sql(node), descending, (not descending) if nulls_first is None else bool(nulls_first))


def _placed(name: str, like: exp.Expr) -> exp.Expr:
    column = exp.column(name)
    span = span_of(like)
    if span is not None:
        column.meta["span"] = span
    return column


def _paren(node: exp.Expr) -> exp.Expr:
    paren = exp.paren(node, copy=False)
    if "span" in node.meta:
        paren.meta["span"] = node.meta["span"]
    return paren


def _both(left: exp.Expr | None, right: exp.Expr) -> exp.Expr:
    return right if left is None else exp.And(this=_paren(left), expression=_paren(right))


def _output_name(node: exp.Expr) -> str:
    return node.alias_or_name if isinstance(node, exp.Alias | exp.Column) else expression_sql(node)


def _not_yet(node: exp.Expr, what: str, text: str) -> NotSupportedYet:
    start, end = span_of(node) or (None, None)
    return NotSupportedYet(f"{what} is not supported yet", text=text, at=start, end=end)
