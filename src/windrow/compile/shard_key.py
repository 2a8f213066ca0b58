"""By what the rows of a plan over changes can be spread over shards, so that rows that meet are in the same one."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from windrow.language import parse_expression
from windrow.plan.nodes.changes import Distinct, Group, Join, Node, Project, Scan, SetNode, Union
from windrow.plan.nodes.regrouped import Leaf, Regrouped

Keys = dict[Leaf, tuple[str, ...]]


def shard_key(plan: Node) -> Keys | None:
    """For each leaf of `plan` the columns that tell a row's shard; None where all rows have to be in one.

    >>> import pyarrow as pa
    >>> from windrow.plan.nodes.changes import Column
    >>> a, b = (Scan(name, (Column(name, pa.int64()), Column(f"{name}2", pa.int64())), 60) for name in "ab")
    >>> shard_key(Join(a, b, (("a", "b"),))) == {a: ("a",), b: ("b",)}
    True
    >>> shard_key(Group(Join(a, b, (("a", "b"),)), ("a2",), ())) is None
    True
    """
    return next(_ways(plan), None)


def answer_key(plan: Node) -> Keys | None:
    """A key of `plan` that equal rows of its answer share, so that what comes and goes in an instant meets.

    >>> import pyarrow as pa
    >>> from windrow.plan.nodes.changes import Column, Computed
    >>> sales = Scan("sales", (Column("item", pa.int64()), Column("store", pa.int64())), 60)
    >>> answer_key(Project(Distinct(sales), (Computed("store", "store", pa.int64()),))) == {sales: ("store",)}
    True
    """
    return next(_by_any(plan, plan.names), None)


def _ways(plan: Node) -> Iterator[Keys]:
    """The ways to spread a plan whose own rows may be anywhere."""
    match plan:
        case Scan(read=read) | Regrouped(read=read):
            yield {plan: tuple(column.name for column in read)}
        case Group(keys=keys):
            yield from _by_any(plan, keys)
        case Join(on=on):
            yield from _by_any(plan, tuple(left for left, _ in on))
        case Distinct():
            yield from _by_any(plan, plan.names)
        case Union(all=True):
            for left in _ways(plan.left):
                yield from (left | right for right in _ways(plan.right) if _agree(left, right))
        case SetNode():
            yield from _by_any(plan, plan.names)
        case _:
            yield from _ways(plan.children[0])


def _by_any(plan: Node, columns: tuple[str, ...]) -> Iterator[Keys]:
    """By all of some columns, or by one of them."""
    for key in dict.fromkeys([columns, *((column,) for column in columns)]):
        found = _by(plan, key) if key else None
        if found is not None:
            yield found


def _by(plan: Node, key: tuple[str, ...]) -> Keys | None:
    """The columns of the scans that `key`, columns of `plan`, are read from, if that spreads the plan right."""
    match plan:
        case Scan() | Regrouped():
            return {plan: key}
        case Project(child=child, outputs=outputs):
            read = {output.name: _column(output.sql) for output in outputs}
            below = tuple(read[name] or "" for name in key)
            return None if "" in below else _by(child, below)
        case Group(child=child, keys=keys):
            return _by(child, key) if set(key) <= set(keys) else None
        case Join(left=left, right=right, on=on, kind=kind):
            pairs = {mine: (mine, theirs) for mine, theirs in on}
            if kind == "inner":  # a row without a partner has NULL there, and is where its own key is
                pairs |= {theirs: (mine, theirs) for mine, theirs in on}
            if not all(name in pairs for name in key):
                return None
            return _both(_by(left, tuple(pairs[n][0] for n in key)), _by(right, tuple(pairs[n][1] for n in key)))
        case SetNode(left=left, right=right):
            places = [left.names.index(name) for name in key]
            return _both(_by(left, key), _by(right, tuple(right.names[place] for place in places)))
        case _:
            child = plan.children[0]
            return _by(child, key) if set(key) <= set(child.names) else None


def _both(left: Keys | None, right: Keys | None) -> Keys | None:
    if left is None or right is None or not _agree(left, right):
        return None
    return left | right


def _agree(left: Keys, right: Keys) -> bool:
    """A leaf that both sides read is spread once."""
    return all(left[scan] == right[scan] for scan in left.keys() & right.keys())


def _column(text: str) -> str | None:
    node = parse_expression(text)
    return node.name if isinstance(node, exp.Column) else None
