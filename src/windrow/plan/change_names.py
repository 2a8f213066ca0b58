"""The names of state over changes, declared as those in `state_names`: a text for each step of a plan."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from windrow.plan.name_parts import quoted, short, span, type_text
from windrow.plan.nodes.changes import (
    Apply,
    ClusterGroup,
    Column,
    Distinct,
    Expire,
    Group,
    Intersect,
    Minus,
    Node,
    Project,
    Ranked,
    Scan,
    Select,
    SetNode,
    Single,
    Stamp,
    Union,
)
from windrow.plan.nodes.each_grouping import EachGrouping
from windrow.plan.nodes.joins import Between, Join, TableJoin
from windrow.plan.nodes.regrouped import Regrouped, StageEnd
from windrow.plan.state_names import aggregate_text, partial_text
from windrow.plan.window_names import window_text

if TYPE_CHECKING:
    from windrow.plan.nodes.change_plan import ChangePlan

VERSIONS = {
    "scan": 1,
    "regrouped": 1,
    "part": 1,
    "expire": 1,
    "select": 1,
    "project": 1,
    "each grouping": 1,
    "apply": 1,
    "distinct": 1,
    "group": 1,
    "clusters": 1,
    "stamp": 1,
    "union": 1,
    "minus": 1,
    "intersect": 1,
    "join": 1,
    "table join": 1,
    "single": 1,
    "ranked": 1,
    "answer": 1,
}
"""The format of what each step holds. A change of bytes is the next number, and so another name."""


def node_text(node: Node) -> str:
    """What a step holds, by what it does and what comes to it. Who does the work of `expire` does not matter.

    >>> from windrow.plan.nodes.changes import Scan
    >>> import pyarrow as pa
    >>> node_text(Distinct(Scan("sales", (Column("k", pa.int64()),), 60_000_000, ("k",))))
    'distinct/1(scan/1 sales (k bigint: k) range 60 s)'
    """
    name, told = _step(node)
    inside = "; ".join(map(node_text, node.children))
    return f"{name}/{VERSIONS[name]}" + (f" {told}" if told else "") + (f"({inside})" if inside else "")


def _step(node: Node) -> tuple[str, str]:
    match node:
        case Scan():
            reach = "for ever" if node.range_us is None else f"range {span(node.range_us)}"
            texts = ", ".join(node.texts)
            told = f"{quoted(node.stream)} ({_columns(node.read)}: {texts}) {reach}"
            told = told if node.where is None else f"{told} where {node.where}"
            return "scan", told if node.by is None else f"{told} distributed by {quoted(node.by)}"
        case Regrouped():
            return "regrouped", f"{node.part} ({_columns(node.read)})"
        case StageEnd():
            return "part", f"for {node.query}" + (" spread by all columns that do" if node.spread_by_all else "")
        case Expire():
            return "expire", "by input" if node.place == "input" else ""
        case Select():
            return "select", node.predicate
        case Project():
            made = (f"{quoted(out.name)} {type_text(out.type)}: {out.sql}" for out in node.outputs)
            return "project", ", ".join(made)
        case EachGrouping():
            sets = ", ".join(f"({', '.join(quoted(node.keys[place]) for place in chosen)})" for chosen in node.sets)
            return "each grouping", f"{', '.join(map(quoted, node.keys))}: {sets}"
        case Apply():
            reads = ", ".join(f"{quoted(name)}: {quoted(column)}" for name, column in node.reads)
            by = ", ".join(map(quoted, node.keys)) or "nothing"
            return "apply", f"{quoted(node.function)} ({reads}) by {by} to ({_columns(node.returns)})"
        case Distinct():
            return "distinct", "renewing" if node.renewing else ""
        case Group():
            measured = (f"{quoted(measure.name)}: {aggregate_text(measure.aggregate)}" for measure in node.measures)
            told = f"by {', '.join(map(quoted, node.keys)) or 'nothing'}; {'; '.join(measured)}"
            if isinstance(node, ClusterGroup) and node.clusters is not None:
                return "clusters", f"{told} of {partial_text(node.clusters)}"
            return "group", f"{told}; also of no rows" if node.empty else told
        case Stamp():
            edges = ((quoted(edge.name), edge.before_us) for edge in node.edges)
            told = ", ".join(f"{name}: {'null' if before is None else span(before)}" for name, before in edges)
            return "stamp", f"every {span(node.slide_us)} offset {span(node.offset_us)} with {told}"
        case SetNode():
            return _set_operator(node), "all" if node.all else ""
        case Join():
            return "join", _joined(node)
        case Ranked():
            order = ", ".join(
                f"{quoted(key.column)}{' desc' * key.descending} nulls {'first' if key.nulls_first else 'last'}"
                for key in node.order
            )
            first = "all" if node.limit is None else f"first {node.limit}"
            by = ", ".join(map(quoted, node.partition)) or "nothing"
            named = "" if node.number is None else f" as {quoted(node.number)}"
            return "ranked", f"{node.function} {first} by {by} in order of {order}{named}"
        case Single():
            return "single", f"{quoted(node.value)} by {quoted(node.count)}"
        case TableJoin():
            told = f"{quoted(node.table)} ({_columns(node.read)}) {_joined(node)}"
            return "table join", told if node.made is None else f"{told} of {node_text(node.made.plan)}"
    raise TypeError(f"no name is declared for the state of {type(node).__name__}")


def _set_operator(node: SetNode) -> str:
    for kind, name in ((Union, "union"), (Minus, "minus"), (Intersect, "intersect")):
        if isinstance(node, kind):
            return name
    raise TypeError(f"no name is declared for the state of {type(node).__name__}")


def _joined(node: Join | TableJoin) -> str:
    pairs = ", ".join(f"{quoted(left)} = {quoted(right)}" for left, right in node.on)
    told = f"{node.kind} on {pairs or 'nothing'}" + ("" if node.residual is None else f" where {node.residual}")
    if node.null_safe:
        told += f" with null = null in {', '.join(map(str, node.null_safe))}"
    if isinstance(node, Join) and node.between is not None:
        told += f" {_between(node.between)}"
    return told + (" final" if isinstance(node, Join) and node.final else "")


def _between(between: Between) -> str:
    low, high, left, right = (
        "any" if length is None else span(length)
        for length in (between.low_us, between.high_us, between.left_waits_us, between.right_waits_us)
    )
    return f"between {quoted(between.left)} - {quoted(between.right)} from {low} to {high} waits {left}, {right}"


def _columns(columns: Iterable[Column]) -> str:
    return ", ".join(f"{quoted(column.name)} {type_text(column.type)}" for column in columns)


def node_name(node: Node, how: str = "") -> str:
    """The name of a step's state: by what it holds, and perhaps `how`, never by the query that asks for it."""
    return f"changes.{how}{short(node_text(node))}"


def part_name(part: StageEnd) -> str:
    """The name under which one stage sends what the next reads."""
    return short(node_text(part))


def asked_text(query: ChangePlan) -> str:
    """What a query over changes asks: its plan, what is sent of it, and when."""
    when = "at each change" if query.slide_us is None else f"every {span(query.slide_us)}"
    when += f" offset {span(query.offset_us)}" if query.offset_us else ""
    when += "" if query.every_us is None else f" last every {span(query.every_us)}"
    when += f" when it begins by {query.hidden}" if query.hidden else ""
    when += "" if query.within is None else f" within {window_text(query.within)}"
    return f"answer/{VERSIONS['answer']} {query.emit} {when} of {node_text(query.root)}"


def change_answer_text(query: ChangePlan) -> str:
    """All that makes the answer of a query, by which a sink that holds it knows its own."""
    return f"{quoted(query.name)}: {asked_text(query)}"
