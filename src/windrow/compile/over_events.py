"""OVER in order of time, with a frame: each event with what is folded of those before it, by windows that there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from windrow.language import Query, error_at, parse_expression, window_of
from windrow.language.durations import DurationError, microseconds
from windrow.language.nodes import EACH_EVENT, EMIT, STREAM_WINDOW, Duration, Emit, RowCount, StreamWindow
from windrow.plan.bind.names import placed_as
from windrow.plan.bind.refuse import not_yet
from windrow.plan.catalog import Catalog

_RANKINGS = ("row_number", "rank", "dense_rank")
_OTHERS = ("joins", "group", "having", "distinct", "order", "limit", "cluster", "with_")
"""Clauses of a query that is of more than the events of one stream."""

_OWN = "__row"
"""The alias of the events that are answered for; what is folded of others has `__over0`, ..."""


def over_events(query: Query, catalog: Catalog) -> Query:
    """The query with windows in place of OVER, where that is of the events of one stream in order of their times.

    A frame in rows is a window of the last rows of each key: the row itself is the last of it, one that LAG asks for is
    before that, and LEAD is answered when the row that it asks for has come. A frame in time is a group over a window
    of that range, joined with each event at its instant, which has all that happened up to it.
    """
    tree = query.tree
    if not isinstance(tree, exp.Select) or not any(_frames(node) for node in _parts(tree)):
        return query
    source = tree.args["from_"].this if tree.args.get("from_") is not None else None
    of_events = isinstance(source, exp.Table) and source.name in catalog.streams and window_of(source) is None
    if not of_events or any(tree.args.get(clause) for clause in _OTHERS):
        return query  # which is refused where OVER is bound
    over = _Events(query.text, tree.copy(), catalog)
    return replace(query, tree=over.rewritten())


def _parts(tree: exp.Select) -> list[exp.Expr]:
    return [node for node in (*tree.selects, tree.args.get("qualify")) if node is not None]


def _frames(node: exp.Expr) -> list[exp.Window]:
    """The OVERs that are no rankings."""
    return [over for over in node.find_all(exp.Window) if _name(over.this) not in _RANKINGS]


def _name(node: exp.Expr) -> str:
    while isinstance(node, exp.IgnoreNulls | exp.RespectNulls | exp.Filter):
        node = node.this
    name = node.sql_name() if isinstance(node, exp.Func) else ""
    return (node.name if isinstance(node, exp.Anonymous) else name).lower()


class _Events:
    """One SELECT over the events of a stream, with OVER among what it asks for."""

    def __init__(self, text: str, tree: exp.Select, catalog: Catalog) -> None:
        self._text, self._tree = text, tree
        self._name_what_is_chosen_by()
        self._overs = [over for node in _parts(tree) for over in _frames(node)]
        first = self._overs[0]
        table = tree.args["from_"].this
        stream = catalog.streams[table.name]
        assert isinstance(table, exp.Table)
        self._table, self._schema, self._time = table, stream.schema, stream.time or ""
        self._keys = first.args.get("partition_by") or []
        for over in self._overs:
            self._check(over)

    def _name_what_is_chosen_by(self) -> None:
        """Let QUALIFY have what the names of the select list stand for."""
        aliases = {node.alias.lower(): node.this for node in self._tree.selects if isinstance(node, exp.Alias)}

        def meant(node: exp.Expr) -> exp.Expr:
            known = isinstance(node, exp.Column) and not node.table and node.name.lower() in aliases
            return placed_as(aliases[node.name.lower()].copy(), node) if known else node

        qualify = self._tree.args.get("qualify")
        if qualify is not None:
            qualify.set("this", _transformed(qualify.this, meant))

    def rewritten(self) -> exp.Select:
        """The same query by windows."""
        kinds = {self._frame(over)[0] for over in self._overs}
        if kinds == {"RANGE"}:
            return self._by_time()
        if "RANGE" in kinds:
            message = "frames in rows and in time stand in queries of their own"
            raise error_at(self._overs[0], message, self._text, "two queries, into two sinks")
        return self._by_rows()

    def _check(self, over: exp.Window) -> None:
        """Refuse what is not in order of the events' times, or by other keys than the rest."""
        order = over.args.get("order")
        terms = order.expressions if order is not None else []
        one = terms[0].this if len(terms) == 1 else None
        if not isinstance(one, exp.Column) or one.name != self._time or terms[0].args.get("desc"):
            message = f"OVER with a frame is in order of the events' times, which is {self._time!r} here"
            raise error_at(over, message, self._text, f"OVER (PARTITION BY k ORDER BY {self._time} ROWS 9 PRECEDING)")
        if (over.args.get("partition_by") or []) != self._keys:
            raise error_at(over, "all OVER of a query have the same PARTITION BY", self._text, "two queries")
        for key in self._keys:
            if not isinstance(key, exp.Column):
                raise not_yet(key, "PARTITION BY of more than columns", self._text, "PARTITION BY k")

    def _frame(self, over: exp.Window) -> tuple[str, int]:
        """Whether a frame is in rows or in time, and how many rows, or microseconds, before its own row it begins."""
        spec = over.args.get("spec")
        if _name(over.this) in ("lag", "lead"):
            if spec is not None:
                raise error_at(over, f"{_name(over.this).upper()} has no frame", self._text, "leave ROWS or RANGE out")
            return "ROWS", 0
        if spec is None:
            message = "without a frame, OVER ... ORDER BY reaches back to the first event, and never lets go"
            raise error_at(over, message, self._text, "ROWS 9 PRECEDING, or RANGE INTERVAL 1 HOUR PRECEDING")
        end = spec.args.get("end")
        start, side = spec.args.get("start"), spec.args.get("start_side")
        if (end is not None and end != "CURRENT ROW") or side == "FOLLOWING":
            message = "a frame that reaches forward would be answered when what follows has come, which may be never"
            raise error_at(over, message, self._text, "end it with CURRENT ROW; LEAD(x) is answered with the next row")
        if start == "CURRENT ROW":
            return spec.args["kind"], 0
        if not isinstance(start, exp.Expr):
            raise not_yet(over, "a frame that reaches back to the first event", self._text, "ROWS 9 PRECEDING")
        if spec.args["kind"] == "ROWS":
            if not isinstance(start, exp.Literal) or start.is_string or not start.this.isdigit():
                raise error_at(start, "a frame has a whole number of rows", self._text, "ROWS 9 PRECEDING")
            return "ROWS", int(start.this)
        if spec.args["kind"] != "RANGE" or not isinstance(start, exp.Interval):
            raise error_at(
                over, "a frame is in ROWS, or in a RANGE of time", self._text, "RANGE INTERVAL 1 HOUR PRECEDING"
            )
        try:
            return "RANGE", microseconds(start.this.name, start.args["unit"].name)
        except DurationError as error:
            raise error_at(start, error.message, self._text, error.hint) from None

    def _by_rows(self) -> exp.Select:
        """A window of the last rows of each key, whose last, but for those that LEAD asks for, is the row itself."""
        shifts = [_shift(over, self._text) for over in self._overs if _name(over.this) in ("lag", "lead")]
        back, ahead = (max([shift for name, shift in shifts if name == which] or [0]) for which in ("lag", "lead"))
        framed = [over for over in self._overs if _name(over.this) not in ("lag", "lead")]
        frames = {self._frame(over)[1] for over in framed}
        if len(frames) > 1 or (framed and ahead) or (framed and back > max(frames)):
            message = "frames of different lengths stand in queries of their own, as does LEAD beside a frame"
            raise error_at(framed[-1], message, self._text, "the same ROWS n PRECEDING for all, LAG up to n")
        rows = max([back, *frames]) + ahead + 1
        window = StreamWindow(partition_by=[key.copy() for key in self._keys] or None, rows=True)
        window.set("ranges", [RowCount(this=rows)])
        window.set("slides", [RowCount(this=1)])
        made = self._tree

        def meant(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Window) and _name(node.this) not in _RANKINGS:
                name = _name(node.this)
                if name not in ("lag", "lead"):
                    return placed_as(exp.paren(node.this.copy()), node)
                shift = _shift(node, self._text)[1]
                function = node.this
                default = function.args.get("default")
                found = _at(function.this, ahead + (shift if name == "lag" else -shift))
                if default is None:
                    return placed_as(found, node)
                known = exp.GT(this=_many(), expression=exp.Literal.number(ahead + shift if name == "lag" else 0))
                return placed_as(exp.Case(ifs=[exp.If(this=known, true=found)], default=default.copy()), node)
            return self._own(node, lambda column: _at(column, ahead) if ahead else exp.Last(this=column))

        outputs = []
        for node in self._stars_expanded():
            name = node.alias_or_name if isinstance(node, exp.Alias | exp.Column) else node.sql()
            outputs.append(placed_as(exp.alias_(_transformed(node.unalias(), meant), name, quoted=True), node))
        made.set("expressions", outputs)
        conditions: list[exp.Expr] = []
        if made.args.get("qualify") is not None:
            conditions.append(exp.paren(_transformed(made.args["qualify"].this, meant)))
            made.set("qualify", None)
        if ahead:
            conditions.append(exp.GT(this=_many(), expression=exp.Literal.number(ahead)))
        if conditions:
            made.set("having", exp.Having(this=exp.and_(*conditions, copy=False)))
        self._read(made, window)
        return made

    def _read(self, made: exp.Select, window: StreamWindow) -> None:
        """Let the query read its stream through a window; rows that WHERE leaves out are not counted."""
        table = self._table.copy()
        where = made.args.get("where")
        if where is None:
            table.set(STREAM_WINDOW, window)
            made.set("from_", exp.From(this=table))
            return
        inner = exp.select("*").from_(table).where(where.this.copy())
        alias = exp.TableAlias(this=exp.to_identifier(table.alias_or_name))
        made.set("where", None)
        source = exp.Subquery(this=inner, alias=alias)
        source.set(STREAM_WINDOW, window)
        source.meta.update(table.meta)
        made.set("from_", exp.From(this=source))

    def _by_time(self) -> exp.Select:
        """Each event, for one instant, with the groups of its key as they are at that instant."""
        emit = self._tree.args.get(EMIT)
        if emit is not None and emit.this not in ("INSERTS", "CHANGES", "FINAL"):
            raise error_at(emit, "OVER gives one answer an event, as it comes", self._text, "EMIT INSERTS")
        made, where = self._tree, self._tree.args.get("where")
        events = self._windowed(1, _OWN, where)
        keys = [key.copy() for key in self._keys]
        joins: list[exp.Expr] = []
        aliases: dict[int, str] = {}
        for over in self._overs:
            aliases.setdefault(self._frame(over)[1] + 1, f"__over{len(aliases)}")
        calls: dict[int, list[exp.Expr]] = {length: [] for length in aliases}

        def meant(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Window) and _name(node.this) not in _RANKINGS:
                length = self._frame(node)[1] + 1
                if node.this not in calls[length]:
                    calls[length].append(node.this.copy())
                place = calls[length].index(node.this)
                return placed_as(exp.column(f"v{place}", table=aliases[length]), node)
            return self._own(node, lambda column: exp.column(column.this.copy(), table=_OWN), keys=True)

        outputs = []
        for node in self._stars_expanded():
            name = node.alias_or_name if isinstance(node, exp.Alias | exp.Column) else node.sql()
            outputs.append(placed_as(exp.alias_(_transformed(node.unalias(), meant), name, quoted=True), node))
        chosen = made.args.get("qualify")
        condition = None if chosen is None else _transformed(chosen.this, meant)
        for length, alias in aliases.items():
            inner = exp.Select(expressions=[exp.alias_(key.copy(), f"k{i}") for i, key in enumerate(keys)])
            inner.args["expressions"] += [exp.alias_(call.copy(), f"v{i}") for i, call in enumerate(calls[length])]
            inner.set("from_", exp.From(this=self._windowed(length, self._table.alias_or_name, where)))
            if keys:
                inner.set("group", exp.Group(expressions=[key.copy() for key in keys]))
            source = exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier(alias)))
            same = [
                exp.NullSafeEQ(this=exp.column(key.this.copy(), table=_OWN), expression=exp.column(name, table=alias))
                for name, key in ((f"k{i}", key) for i, key in enumerate(keys))
            ]
            joins.append(exp.Join(this=source, on=exp.and_(*same, copy=False) if same else exp.true()))
        made.set("expressions", outputs)
        made.set("from_", exp.From(this=events))
        made.set("joins", joins)
        made.set("where", None if condition is None else exp.Where(this=condition))
        made.set("qualify", None)
        made.set(EMIT, placed_as(Emit(this="FINAL"), emit or self._overs[0]))
        made.args[EMIT].meta[EACH_EVENT] = True
        return made

    def _windowed(self, length: int, alias: str, where: exp.Expr | None) -> exp.Expr:
        table: exp.Table = self._table.copy()
        table.set(STREAM_WINDOW, StreamWindow(ranges=[Duration(this=length)]))
        table.set("alias", exp.TableAlias(this=exp.to_identifier(table.alias_or_name)))
        if where is None:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
            return table
        inner = exp.Select(expressions=[exp.Star()])
        inner.set("from_", exp.From(this=table))
        inner.set("where", exp.Where(this=where.this.copy()))
        return exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier(alias)))

    def _own(self, node: exp.Expr, own: Callable[[exp.Column], exp.Expr], keys: bool = False) -> exp.Expr:
        """A column of the event itself; with rows, those that windows are by stand for themselves."""
        if not isinstance(node, exp.Column):
            return node
        column = exp.column(node.this.copy())
        named = any(node.name.lower() == key.name.lower() for key in self._keys)
        return placed_as(column if named and not keys else own(column), node)

    def _stars_expanded(self) -> list[exp.Expr]:
        found: list[exp.Expr] = []
        for node in self._tree.selects:
            if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
                names = self._schema.names
                found += [placed_as(exp.column(exp.to_identifier(name, quoted=True)), node) for name in names]
            else:
                found.append(node)
        return found


def _transformed(node: exp.Expr, meant: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """The expression with what `meant` makes of its parts; into what it has made it is not asked again."""
    made = meant(node)
    if made is not node:
        return made
    node = node.copy()
    for key, value in list(node.args.items()):
        if isinstance(value, exp.Expr):
            node.set(key, _transformed(value, meant))
        elif isinstance(value, list):
            node.set(key, [_transformed(item, meant) if isinstance(item, exp.Expr) else item for item in value])
    return node


def _shift(over: exp.Window, text: str) -> tuple[str, int]:
    """LAG or LEAD, and how many rows before or after the own one it asks for."""
    offset = over.this.args.get("offset")
    if offset is None:
        return _name(over.this), 1
    if not isinstance(offset, exp.Literal) or offset.is_string or not offset.this.isdigit():
        raise error_at(over, f"{_name(over.this).upper()} takes a whole number of rows", text, "LAG(x, 2)")
    return _name(over.this), int(offset.this)


def _many() -> exp.Expr:
    return exp.Count(this=exp.Star())


def _at(node: exp.Expr, before_last: int) -> exp.Expr:
    """The value of a row of the window, counted from the last one; NULL if there is none so far back."""
    values = parse_expression("COLLECT_LIST(x) RESPECT NULLS")
    values.this.set("this", node.copy())
    place = exp.Sub(this=_many(), expression=exp.Literal.number(before_last + 1))
    index = exp.cast(exp.paren(place), "int")
    return exp.Anonymous(this="GET", expressions=[values, index])
