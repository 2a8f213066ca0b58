"""A plan whose streams are the answers of one window: rows meet, are grouped and are compared within each window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from windrow.language import expression_sql, parse_expression
from windrow.plan.bind.change_sources import plan_column
from windrow.plan.bind.edges import END, START
from windrow.plan.catalog import Stream
from windrow.plan.nodes.changes import (
    Column,
    Computed,
    Distinct,
    Group,
    Node,
    Project,
    Ranked,
    Scan,
    Select,
    SetNode,
    Single,
    Stamp,
)
from windrow.plan.nodes.each_grouping import EachGrouping
from windrow.plan.nodes.joins import Join, TableJoin
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.result_columns import window_columns
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.session_window import SessionWindow
from windrow.plan.windows.time_window import TimeWindow

APART = "#"
"""What the names of columns begin with that tell windows apart and are in no result, as the keys of windows by key."""

AnyWindow = TimeWindow | CountWindow


def window_within(streams: Sequence[Stream]) -> AnyWindow | None:
    """The window that all `streams` have answers of, of which each tells what it is of."""
    for stream in streams:
        if stream.tells_window and isinstance(stream.made_of, QueryPlan):
            return stream.made_of.window
    return None


def within_window(plan: Node, streams: Mapping[str, Stream], window: AnyWindow) -> Node:
    """The plan with columns in front that say which window a row is of.

    All answers that end at an instant are there at that instant, and at no other. Where only one window may end at an
    instant, rows need nothing more to meet; else they meet by its level, its last row, its key.
    """
    told = next(stream.tells_window for stream in streams.values() if stream.tells_window)
    schema = next(stream.schema for stream in streams.values() if stream.tells_window)
    columns = tuple(Column(f"#{name}", schema.field(name).type) for name in told)
    keys = [name for name in told if name.startswith(APART)]
    alike = (*_told_apart_by(window), *keys)
    within = _Within(columns, tuple(f"#{name}" for name in alike), tuple(f"#{name}" for name in keys), streams)
    made = within(plan)
    leading = tuple(column for column in columns if column.name[1:] in window_columns(window))
    first = [_computed(column, column.name[1:]) for column in leading]
    return Project(made, (*first, *map(_same, plan.columns)))


def _told_apart_by(window: AnyWindow) -> tuple[str, ...]:
    """By which columns windows are told apart that end at the same instant, of each key."""
    early = () if window.every_us is None or not isinstance(window, CountWindow) else ("final",)
    counted = () if isinstance(window, SessionWindow) else ("window_row",)
    names = window_columns(window)
    return (*(name for name in (*counted, "level") if name in names), *early)


@dataclass(frozen=True, slots=True)
class _Within:
    """Gives each step the `columns` of windows beside its own; rows of the same window are `alike` in some of them."""

    columns: tuple[Column, ...]
    alike: tuple[str, ...]
    keys: tuple[str, ...]
    streams: Mapping[str, Stream]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def __call__(self, node: Node) -> Node:
        match node:
            case Scan():
                texts = [expression_sql(plan_column(name[1:])) for name in self.names]
                return replace(node, read=(*node.read, *self.columns), texts=(*node.texts, *texts))
            case Project(child=child, outputs=outputs):
                return Project(self(child), (*outputs, *map(_same, self.columns)))
            case Group(child=child, keys=keys):
                return replace(node, child=self(child), keys=(*keys, *self.names))
            case Ranked(child=child, partition=partition):
                return replace(node, child=self(child), partition=(*partition, *self.names))
            case Stamp(child=child, edges=edges):
                known = {column.name: column for column in self.columns}
                edge = [known[f"#{END if edge.before_us == 0 else START}"] for edge in edges]
                stamped = [_computed(column, edge.name) for column, edge in zip(edge, edges)]
                return Project(self(child), (*map(_same, (*child.columns, *self.columns)), *stamped))
            case SetNode(left=left, right=right):
                return replace(node, left=self._in_order(left), right=self._in_order(right))
            case Join():
                return self._joined(node)
            case Select() | Distinct() | Single() | EachGrouping() | TableJoin():
                return node.with_children([self(child) for child in node.children])
        raise TypeError(f"{type(node).__name__} within a window")

    def _in_order(self, side: Node) -> Node:
        return Project(self(side), tuple(map(_same, (*side.columns, *self.columns))))

    def _joined(self, node: Join) -> Node:
        """Pairs of one window. A row without a partner is of its own window."""
        theirs = [_computed(column, f"#right:{column.name}") for column in self.columns]
        right = Project(self(node.right), (*map(_same, node.right.columns), *theirs))
        on = (*node.on, *((name, f"#right:{name}") for name in self.alike))
        safe = [place for place, (name, _) in enumerate(on) if name in self.keys]
        pairs = replace(node, left=self(node.left), right=right, on=on, null_safe=(*node.null_safe, *safe))
        told = list(map(_same, self.columns))
        if node.kind == "right":
            told = [
                _computed(Column(other.name, other.type), column.name) for other, column in zip(theirs, self.columns)
            ]
        elif node.kind == "full":
            told = [_either(column, other.name) for column, other in zip(self.columns, theirs)]
        return Project(pairs, (*map(_same, node.columns), *told))


def _computed(column: Column, name: str) -> Computed:
    return Computed(name, expression_sql(plan_column(column.name)), column.type)


def _same(column: Column) -> Computed:
    return _computed(column, column.name)


def _either(column: Column, other: str) -> Computed:
    sides = ", ".join(expression_sql(plan_column(name)) for name in (column.name, other))
    return Computed(column.name, expression_sql(parse_expression(f"COALESCE({sides})")), column.type)
