"""Plans over changes as text: what runs, how rows expire, by what they are spread, and why."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from windrow.compile.choose_expiry import CANDIDATES, expiry_cost
from windrow.compile.explain_held import held_lines
from windrow.compile.figures import Figures
from windrow.compile.place_expiry import place_expiry
from windrow.language import duration_sql
from windrow.plan.expiry import Expiry
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.changes import (
    Apply,
    ClusterGroup,
    Distinct,
    Expire,
    Group,
    Node,
    Project,
    Ranked,
    Scan,
    Select,
    SetNode,
    Stamp,
)
from windrow.plan.nodes.distributed import SHARD, TO_ALL
from windrow.plan.nodes.each_grouping import EachGrouping
from windrow.plan.nodes.emission import FINAL
from windrow.plan.nodes.joins import Between, Join, TableJoin
from windrow.plan.nodes.regrouped import EVERYWHERE, Leaf, LeafKey, Regrouped, StageEnd
from windrow.plan.nodes.stage import StagePlan
from windrow.plan.window_names import window_text as name_of_window

_PLACES = {"scan": "in the scan", "apart": "by itself", "operator": "by the operator above"}
_PLACES["input"] = "by the operator above, when the next row comes to it"


def explain_changes(
    plan: StagePlan, shards: int, ways: Mapping[str, str] = MappingProxyType({}), figures: Figures | None = None
) -> str:
    """The text of all queries over changes that read the same streams, of which `figures` are known.

    `ways` are how rows come from their files.
    """
    queries = [query for stage in plan.stages for query in stage.changing if not isinstance(query.root, StageEnd)]
    names = ", ".join(dict.fromkeys(name for query in queries for name in query.streams))
    lines = [f"streams {names}: one scan of each; the clock is that of the one that is furthest behind"]
    lines += [f"  {stream.stream}: {ways[stream.stream]}" for stream in plan.stages[0].read if stream.stream in ways]
    for stream in plan.stages[0].streams:
        if stream.ahead_us is not None:
            limit = duration_sql(stream.ahead_us)
            lines.append(f"  events of {stream.stream} more than {limit} ahead of their batch are rejected")
    roots: dict[str, Node] = {}
    for number, stage in enumerate(plan.stages, 1):
        if plan.before is not None:
            lines.append(f"  stage {number} of {len(plan.stages)}")
        lines += [line for key in stage.keys for line in _spread(key, shards)]
        roots |= {part.name: part.root for part in stage.changing}
    for query in queries:
        whole = _whole(query.root, roots)
        held = held_lines(whole, figures or Figures(), plan.memory_bytes, shards)
        lines += _query(query, whole, held)
    return "\n".join(lines)


def _spread(key: LeafKey, shards: int) -> list[str]:
    leaf = key.leaf
    by = ", ".join(_text(leaf, name) for name in key.columns if key.columns != EVERYWHERE)
    to = f"spread over {shards} shards by {by}" if by else "all in one shard"
    if key.columns == (SHARD,):
        to = f"sent to the shards that DISTRIBUTE BY says: {by}" if by != f"'{TO_ALL}'" else "sent to all shards"
    if key.columns == EVERYWHERE:
        to = "all in each shard, for a join without an equality"
    if isinstance(leaf, Regrouped):
        return [f"  changes of {leaf.part[:6]}: {to}"]
    return [f"  rows of {leaf.stream}: {to}", *([] if leaf.where is None else [f"    where {leaf.where}"])]


def _text(leaf: Leaf, column: str) -> str:
    """What the user wrote for a column of a scan."""
    return leaf.texts[leaf.names.index(column)] if isinstance(leaf, Scan) else column


def _whole(node: Node, parts: Mapping[str, Node]) -> Node:
    """The plan with what its earlier stages do, in their places."""
    if isinstance(node, Regrouped):
        return StageEnd(_whole(parts[node.part].children[0], parts), node.part)
    return node.with_children([_whole(child, parts) for child in node.children])


def _query(query: ChangePlan, whole: Node, held: list[str]) -> list[str]:
    told = "each change at its own instant"
    if query.slide_us is not None:
        told = f"at each slide of {duration_sql(query.slide_us)}"
    if query.within is not None:
        told = f"for each window of {name_of_window(query.within)}, over its rows or groups"
    if query.every_us is not None:
        told = f"what is left of them at each multiple of {duration_sql(query.every_us)}"
    told += ", when a condition begins to hold" if query.hidden else ""
    lines = [f"  query {query.name}: EMIT {query.emit}, {told}"]
    if query.emit == FINAL:
        return [*lines, "    each row once, when nothing that comes later can change it", *_tree(whole, "    ")]
    plain = _without_expiry(whole)
    costs = ", ".join(f"{way.value} {expiry_cost(plain, way)}" for way in CANDIDATES)
    runs = next(way.value for way in (*CANDIDATES, *Expiry) if place_expiry(plain, way) == _without_parts(whole))
    told = ", as asked for" if query.choose.get("expiry") == runs else ""
    lines.append(f"    expiry: {runs}{told}; about so many steps an event: {costs}")
    lines += [f"    {line}" for line in held]
    return lines + _tree(whole, "    ")


def _without_parts(node: Node) -> Node:
    if isinstance(node, StageEnd):
        return _without_parts(node.child)
    return node.with_children([_without_parts(child) for child in node.children])


def _without_expiry(node: Node) -> Node:
    if isinstance(node, (Expire, StageEnd)):
        return _without_expiry(node.child)
    plain = node.with_children([_without_expiry(child) for child in node.children])
    return Distinct(plain.child) if isinstance(plain, Distinct) else plain


def _tree(node: Node, indent: str) -> list[str]:
    return [indent + _line(node), *(line for child in node.children for line in _tree(child, indent + "  "))]


def _line(node: Node) -> str:
    match node:
        case Scan(stream=stream, range_us=range_us):
            return f"scan {stream}, " + ("for ever" if range_us is None else f"each row for {duration_sql(range_us)}")
        case StageEnd(query=name):
            return f"regroup: the changes of {name[:6]} go to the shards of the next stage"
        case Expire(place=place):
            return f"expire {_PLACES[place]}"
        case Select(predicate=predicate):
            return f"select {predicate}"
        case Project(outputs=outputs):
            return "project " + ", ".join(f"{output.name} = {output.sql}" for output in outputs)
        case EachGrouping(keys=keys, sets=sets):
            each = (f"({', '.join(keys[place] for place in chosen)})" for chosen in sets)
            return f"each row once for every grouping: {', '.join(each)}"
        case Apply(function=function, keys=keys):
            by = f" of each ({', '.join(keys)})" if keys else ""
            rejects = ", which leaves out the events that it fails with" if node.rejects else ""
            return f"function {function}: told the events{by} in order of time{rejects}"
        case ClusterGroup(keys=keys, clusters=clusters):
            how = "points come and go" if clusters is not None and clusters.reversible else "points are merged again"
            return f"{clusters}" + (f", by ({', '.join(keys)})" if keys else "") + f": {how}"
        case Group(keys=keys, measures=measures):
            kept = ", ".join(f"{m.name} = {m.aggregate.answer} of {m.aggregate.partial}" for m in measures)
            return f"group by ({', '.join(keys)}): {kept}"
        case Join(on=on, kind=kind, residual=residual) | TableJoin(on=on, kind=kind, residual=residual):
            table = f" with {_static(node)}" if isinstance(node, TableJoin) else ""
            further = "" if residual is None else f" and {residual}"
            safe = ["<=>" if i in node.null_safe else "=" for i in range(len(on))]
            equal = ", ".join(f"{left} {sign} {right}" for sign, (left, right) in zip(safe, on)) or "nothing"
            near = _near(node.between) if isinstance(node, Join) and node.between is not None else ""
            last = ", rows without a partner last" if isinstance(node, Join) and node.final else ""
            return f"{kind} join{table} on {equal}{near}{further}{last}"
        case Ranked(partition=partition, order=order, limit=limit):
            by = ", ".join(f"{key.column}{' desc' if key.descending else ''}" for key in order)
            first = "all" if limit is None else f"the first {limit}"
            of = f" of each ({', '.join(partition)})" if partition else ""
            return f"{node.function}: {first}{of} by {by}"
        case Stamp(slide_us=slide_us, edges=edges):
            return f"at each slide of {duration_sql(slide_us)}: {', '.join(edge.name for edge in edges)}"
        case SetNode(all=every):
            return f"{type(node).__name__.lower()}{' all' if every else ''}"
    return type(node).__name__.lower()


def _static(node: TableJoin) -> str:
    if node.made is None:
        return f"table {node.table.partition(':')[2]}"
    return f"the answer of a query over {', '.join(node.made.tables)}"


def _near(between: Between) -> str:
    """Which instants meet, and until when rows wait for others."""
    bounds = [(between.low_us, "from"), (between.high_us, "to")]
    told = [f"{word} {'-' if us < 0 else ''}{duration_sql(abs(us))}" for us, word in bounds if us is not None]
    waits = (between.left_waits_us, between.right_waits_us)
    kept = [f"{side} for {duration_sql(us)}" for side, us in zip(("left", "right"), waits) if us is not None]
    leaves = f"; rows wait: {', '.join(kept)}" if kept else ""
    return f" and {between.left} - {between.right} {' '.join(told)}{leaves}"
