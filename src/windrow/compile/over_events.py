"""OVER in order of time, with a frame: each event with what is folded of those before it, by windows that there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from windrow.compile.chosen_events import ChosenEvents, chosen_events
from windrow.compile.over_frames import EVER, check_over, frame_of, frames_in, parts_of, shift_of
from windrow.compile.over_numbers import over_numbers
from windrow.compile.over_within import over_within
from windrow.language import Query, error_at, parse_expression
from windrow.language.nodes import EACH_EVENT, EMIT, STREAM_WINDOW, Duration, Emit, RowCount, StreamWindow, Unbounded
from windrow.plan.bind.names import placed_as
from windrow.plan.bind.over_calls import RANKINGS, name_of
from windrow.plan.bind.refuse import not_yet
from windrow.plan.catalog import Catalog

_OTHERS = ("joins", "group", "having", "distinct", "order", "limit", "cluster")
"""Clauses of a query that is of more than the events of one stream."""

_AROUND = {
    "distinct": "DISTINCT",
    "group": "GROUP BY",
    "having": "HAVING",
    "order": "ORDER BY",
    "limit": "LIMIT",
    "cluster": "CLUSTER BY",
}
_WAY_OUT = (
    "a query around it, with a window: FROM (SELECT k, LAG(x) OVER (...) AS p FROM s) AS q [RANGE 1 HOUR SLIDE 1 HOUR]"
)

_OWN = "__row"
"""The alias of the events that are answered for; what is folded of others has `__over0`, ..."""


def over_events(query: Query, catalog: Catalog) -> Query:
    """The query with windows in place of OVER, where that is of the events of one stream in order of their times.

    A frame in rows is a window of the last rows of each key: the row itself is the last of it, one that LAG asks for is
    before that, and LEAD is answered when the row that it asks for has come. A frame in time is a group over a window
    of that range, joined with each event at its instant, which has all that happened up to it.
    """
    query = over_within(over_numbers(query, catalog), catalog)
    tree = query.tree
    if not isinstance(tree, exp.Select) or not any(frames_in(node) for node in parts_of(tree)):
        return query
    source = tree.args["from_"].this if tree.args.get("from_") is not None else None
    events = None if source is None else chosen_events(source, tree, catalog)
    for clause, words in _AROUND.items():
        if events is not None and tree.args.get(clause):
            what = f"{words} beside OVER in order of the events,"
            raise not_yet(next(over for node in parts_of(tree) for over in frames_in(node)), what, query.text, _WAY_OUT)
    if source is None or events is None or any(tree.args.get(clause) for clause in _OTHERS):
        return query  # which is refused where OVER is bound
    if not events.time:
        first, name = next(over for node in parts_of(tree) for over in frames_in(node)), source.alias_or_name
        message = f"OVER is in order of the events' times, and {name!r} has no column with them"
        way_out = f"TIMESTAMP BY a column of the stream, which is in the select list of {name}"
        raise error_at(first, message, query.text, way_out)
    for ranking in (over for node in parts_of(tree) for over in node.find_all(exp.Window)):
        if name_of(ranking.this) in RANKINGS:
            what = f"{name_of(ranking.this).upper()} by something else than the time, beside OVER in order of events,"
            raise not_yet(ranking, what, query.text, "two queries, the one with the number over a window")
    return replace(query, tree=_Events(query.text, tree.copy(), events).rewritten())


class _Events:
    """One SELECT over the events of a stream, or some of them, with OVER among what it asks for."""

    def __init__(self, text: str, tree: exp.Select, events: ChosenEvents) -> None:
        self._text, self._tree = text, tree
        self._name_what_is_chosen_by()
        self._overs = [over for node in parts_of(tree) for over in frames_in(node)]
        first = self._overs[0]
        self._table, self._columns, self._time = tree.args["from_"].this, events.columns, events.time
        self._keys = first.args.get("partition_by") or []
        for over in self._overs:
            check_over(over, self._time, self._keys, self._text)

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
        kinds = {frame_of(over, self._text)[0] for over in self._overs}
        if kinds == {"RANGE"}:
            return self._by_time()
        if "RANGE" in kinds:
            message = "frames in rows and in time stand in queries of their own"
            raise error_at(self._overs[0], message, self._text, "two queries, into two sinks")
        return self._by_rows()

    def _by_rows(self) -> exp.Select:
        """A window of the last rows of each key, whose last, but for those that LEAD asks for, is the row itself."""
        shifts = [shift_of(over, self._text) for over in self._overs if name_of(over.this) in ("lag", "lead")]
        back, ahead = (max([shift for name, shift in shifts if name == which] or [0]) for which in ("lag", "lead"))
        others = [over for over in self._overs if name_of(over.this) not in ("lag", "lead")]
        framed = [over for over in others if back == ahead == 0 or not _is_number(over, self._text)]
        frames = {frame_of(over, self._text)[1] for over in framed}
        endless = EVER in frames
        if len(frames) > 1 or (framed and ahead) or (framed and back > (0 if endless else max(frames))):
            message = "frames of different lengths stand in queries of their own, as does LEAD beside a frame"
            raise error_at(framed[-1], message, self._text, "the same ROWS n PRECEDING for all, LAG up to n")
        rows = max([back, *frames]) + ahead + 1
        window = StreamWindow(partition_by=[key.copy() for key in self._keys] or None, rows=True)
        window.set("ranges", [Unbounded() if endless else RowCount(this=rows)])
        window.set("slides", [RowCount(this=1)])
        made = self._tree

        def meant(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Window) and name_of(node.this) not in RANKINGS:
                name = name_of(node.this)
                if node in others and node not in framed:
                    number = exp.Sub(this=exp.column("window_row"), expression=exp.Literal.number(ahead))
                    return placed_as(exp.paren(number), node)
                if name not in ("lag", "lead"):
                    return placed_as(exp.paren(node.this.copy()), node)
                shift = shift_of(node, self._text)[1]
                function = node.this
                default = function.args.get("default")
                found = _at(function.this, ahead + (shift if name == "lag" else -shift))
                if default is None:
                    return placed_as(found, node)
                known = exp.GT(this=_many(), expression=exp.Literal.number(ahead + shift if name == "lag" else 0))
                return placed_as(exp.Case(ifs=[exp.If(this=known, true=found)], default=default.copy()), node)
            return self._own(node, lambda column: _at(column, ahead) if ahead else exp.Last(this=column))

        made.set("expressions", self._outputs(meant))
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
            aliases.setdefault(frame_of(over, self._text)[1] + 1, f"__over{len(aliases)}")
        calls: dict[int, list[exp.Expr]] = {length: [] for length in aliases}

        def meant(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Window) and name_of(node.this) not in RANKINGS:
                length = frame_of(node, self._text)[1] + 1
                if node.this not in calls[length]:
                    calls[length].append(node.this.copy())
                place = calls[length].index(node.this)
                return placed_as(exp.column(f"v{place}", table=aliases[length]), node)
            return self._own(node, lambda column: exp.column(column.this.copy(), table=_OWN), keys=True)

        outputs = self._outputs(meant)
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
        table: exp.Expr = self._table.copy()
        table.set(STREAM_WINDOW, StreamWindow(ranges=[Unbounded() if length > EVER else Duration(this=length)]))
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

    def _outputs(self, meant: Callable[[exp.Expr], exp.Expr]) -> list[exp.Expr]:
        """The select list as `meant` has it, under the names that it had."""
        outputs: list[exp.Expr] = []
        for node in self._stars_expanded():
            name = node.alias_or_name if isinstance(node, exp.Alias | exp.Column) else node.sql()
            outputs.append(placed_as(exp.alias_(_transformed(node.unalias(), meant), name, quoted=True), node))
        return outputs

    def _stars_expanded(self) -> list[exp.Expr]:
        found: list[exp.Expr] = []
        for node in self._tree.selects:
            if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
                found += [placed_as(exp.column(exp.to_identifier(name, quoted=True)), node) for name in self._columns]
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


def _is_number(over: exp.Window, text: str) -> bool:
    """Whether OVER asks how many events there are up to a row, which is the number of the row."""
    counted = isinstance(over.this, exp.Count) and isinstance(over.this.this, exp.Star)
    return counted and frame_of(over, text) == ("ROWS", EVER)


def _many() -> exp.Expr:
    return exp.Count(this=exp.Star())


def _at(node: exp.Expr, before_last: int) -> exp.Expr:
    """The value of a row of the window, counted from the last one; NULL if there is none so far back."""
    values = parse_expression("COLLECT_LIST(x) RESPECT NULLS")
    values.this.set("this", node.copy())
    place = exp.Sub(this=_many(), expression=exp.Literal.number(before_last + 1))
    index = exp.cast(exp.paren(place), "int")
    return exp.Anonymous(this="GET", expressions=[values, index])
