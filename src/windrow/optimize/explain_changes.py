"""Plans over changes as text: what runs, how rows expire, by what they are spread, and why."""

from __future__ import annotations

from windrow.language import duration_sql
from windrow.optimize.choose_expiry import CANDIDATES, expiry_cost
from windrow.plan.change_plan import ChangePlan, ChangesPlan
from windrow.plan.changes import Distinct, Expire, Group, Join, Node, Project, Scan, Select, SetNode, TableJoin

_PLACES = {"scan": "in the scan", "apart": "by itself", "operator": "by the operator above"}


def explain_changes(plan: ChangesPlan, shards: int) -> str:
    """The text of all queries that read the same streams."""
    names = ", ".join(name for name, _ in plan.streams)
    lines = [f"streams {names}: one scan of each; the clock is that of the one that is furthest behind"]
    for key in plan.keys:
        by = f"spread over {shards} shards by {_read(key.scan, key.columns)}" if key.columns else "all in one shard"
        lines.append(f"  rows of {key.scan.stream}: {by}")
        lines += [f"    where {key.scan.where}"] if key.scan.where is not None else []
    for query in plan.queries:
        lines += _query(query)
    return "\n".join(lines)


def _read(scan: Scan, columns: tuple[str, ...]) -> str:
    texts = {column.name: text for column, text in zip(scan.read, scan.texts)}
    return ", ".join(texts[name] for name in columns)


def _query(query: ChangePlan) -> list[str]:
    told = "each change at its own instant"
    if query.slide_us is not None:
        told = f"at each slide of {duration_sql(query.slide_us)}"
    lines = [f"  query {query.name}: EMIT {query.emit}, {told}"]
    plain = _without_expiry(query.root)
    costs = ", ".join(f"{way.value} {expiry_cost(plain, way)}" for way in CANDIDATES)
    lines.append(f"    expiry: about so many steps an event: {costs}; the cheapest runs")
    return lines + _tree(query.root, "    ")


def _without_expiry(node: Node) -> Node:
    if isinstance(node, Expire):
        return _without_expiry(node.child)
    plain = node.with_children([_without_expiry(child) for child in node.children])
    return Distinct(plain.child) if isinstance(plain, Distinct) else plain


def _tree(node: Node, indent: str) -> list[str]:
    return [indent + _line(node), *(line for child in node.children for line in _tree(child, indent + "  "))]


def _line(node: Node) -> str:
    match node:
        case Scan(stream=stream, range_us=range_us):
            return f"scan {stream}, " + ("for ever" if range_us is None else f"each row for {duration_sql(range_us)}")
        case Expire(place=place):
            return f"expire {_PLACES[place]}"
        case Select(predicate=predicate):
            return f"select {predicate}"
        case Project(outputs=outputs):
            return "project " + ", ".join(f"{output.name} = {output.sql}" for output in outputs)
        case Group(keys=keys, measures=measures):
            kept = ", ".join(f"{m.name} = {m.aggregate.answer} of {m.aggregate.partial}" for m in measures)
            return f"group by ({', '.join(keys)}): {kept}"
        case Join(on=on, kind=kind, residual=residual) | TableJoin(on=on, kind=kind, residual=residual):
            table = f" with table {node.table.partition(':')[2]}" if isinstance(node, TableJoin) else ""
            further = "" if residual is None else f" and {residual}"
            return f"{kind} join{table} on {', '.join(f'{left} = {right}' for left, right in on)}{further}"
        case SetNode(all=every):
            return f"{type(node).__name__.lower()}{' all' if every else ''}"
    return type(node).__name__.lower()
