"""By what the rows of a plan over changes can be spread over shards, so that rows that meet are in the same one."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from windrow.language import parse_expression
from windrow.plan.nodes.changes import Apply, Distinct, Group, Node, Project, Ranked, Scan, SetNode, Union
from windrow.plan.nodes.distributed import SHARD, distributing
from windrow.plan.nodes.each_grouping import EachGrouping
from windrow.plan.nodes.joins import Join
from windrow.plan.nodes.regrouped import EVERYWHERE, Leaf, Regrouped, leaves_in

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


def answer_key(plan: Node, *, told_once: bool = False) -> Keys | None:
    """A key of `plan` that equal rows of its answer share, so that what comes and goes in an instant meets.

    Where rows are `told_once`, none goes, and the events of a stream that is distributed stay where they were sent.

    >>> import pyarrow as pa
    >>> from windrow.plan.nodes.changes import Column, Computed
    >>> sales = Scan("sales", (Column("item", pa.int64()), Column("store", pa.int64())), 60)
    >>> answer_key(Project(Distinct(sales), (Computed("store", "store", pa.int64()),))) == {sales: ("store",)}
    True
    """
    if told_once and distributing(plan) is not None:
        return next(_ways(plan), None)
    return next(_by_any(plan, plan.names), None)


def part_key(plan: Node) -> Keys | None:
    """A key of what a stage sends on: all columns of its rows that spread it together, where `answer_key` has one.

    Values of one column may be few, and all of them in one shard.

    >>> import pyarrow as pa
    >>> from windrow.plan.nodes.changes import Column
    >>> a, b = (Scan(name, tuple(Column(f"{name}{i}", pa.int64()) for i in range(3)), 60) for name in "ab")
    >>> plan = Join(a, b, (("a0", "b0"), ("a1", "b1")))
    >>> answer_key(plan) == {a: ("a0",), b: ("b0",)}, part_key(plan) == {a: ("a0", "a1"), b: ("b0", "b1")}
    (True, True)
    """
    one = answer_key(plan)
    if distributing(plan) is not None:
        return one
    together: tuple[str, ...] = ()
    for name in plan.names if one is not None else ():
        alone, more = _by(plan, (name,)), _by(plan, (*together, name))
        if alone is not None and more is not None and all(len(set(key)) == len(key) for key in more.values()):
            together = (*together, name)
    return _by(plan, together) if len(together) > 1 else one


def _ways(plan: Node) -> Iterator[Keys]:
    """The ways to spread a plan whose own rows may be anywhere."""
    match plan:
        case Scan(by=str(by)):
            yield {plan: (by,)}
        case Scan(read=read) | Regrouped(read=read):
            yield {plan: tuple(column.name for column in read)}
        case Apply(keys=keys) | Group(keys=keys) | Ranked(partition=keys):
            yield from _by_any(plan, keys)
        case Join(on=()):
            for whole, spread in _sent_to_all(plan):
                yield from (_both(keys, whole) for keys in _ways(spread) if _both(keys, whole) is not None)  # type: ignore[misc]
        case Join(on=on):
            for pairs in dict.fromkeys([on, *((pair,) for pair in on)]):
                found = _by_pairs(plan, pairs)
                if found is not None:
                    yield found
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
        case Scan(by=str(by)) if by in key:
            return {plan: (by,)}
        case Scan() | Regrouped():
            return {plan: key}
        case Project(child=child, outputs=outputs):
            read = {output.name: _column(output.sql) for output in outputs}
            below = tuple(read[name] or "" for name in key)
            return None if "" in below else _by(child, below)
        case EachGrouping(child=child):
            below = tuple(plan.read_from(name) or "" for name in key)
            return None if "" in below else _by(child, below)
        case Apply(keys=keys) if SHARD in keys and SHARD not in key:
            return None  # it is where the user wants it
        case Apply(child=child, keys=keys) | Group(child=child, keys=keys) | Ranked(child=child, partition=keys):
            return _by(child, key) if set(key) <= set(keys) else None
        case Join(on=()):
            ways = (
                _both(_by(spread, key), whole) for whole, spread in _sent_to_all(plan) if set(key) <= set(spread.names)
            )
            return next((way for way in ways if way is not None), None)
        case Join(on=on, kind=kind):
            # a row without a partner has NULL in the columns of the other side, and is where its own key is
            pairs = {} if kind in ("right", "full") else {mine: (mine, theirs) for mine, theirs in on}
            if kind in ("inner", "right"):
                pairs |= {theirs: (mine, theirs) for mine, theirs in on}
            return _by_pairs(plan, tuple(pairs[name] for name in key)) if all(name in pairs for name in key) else None
        case SetNode(left=left, right=right):
            places = [left.names.index(name) for name in key]
            return _both(_by(left, key), _by(right, tuple(right.names[place] for place in places)))
        case _:
            child = plan.children[0]
            return _by(child, key) if set(key) <= set(child.names) else None


def _by_pairs(join: Join, pairs: tuple[tuple[str, str], ...]) -> Keys | None:
    """Both sides of a join by columns that are equal in a pair."""
    mine, theirs = (tuple(pair[side] for pair in pairs) for side in (0, 1))
    return _both(_by(join.left, mine), _by(join.right, theirs))


def _sent_to_all(join: Join) -> Iterator[tuple[Keys, Node]]:
    """The ways to spread a join without an equality: one side is in every shard as a whole, the other one anyhow.

    The smaller side first, as far as a plan tells. A side whose rows may come without a partner is not in every
    shard, since all of them would tell such a row.
    """
    sides = [(join.right, join.left)] if join.kind in ("inner", "left", "semi", "anti") else []
    sides += [(join.left, join.right)] if join.kind in ("inner", "right") else []
    for whole, spread in sorted(sides, key=lambda both: _size(both[0])):
        yield {leaf: EVERYWHERE for leaf in leaves_in(whole)}, spread


def _size(plan: Node) -> tuple[bool, bool, int]:
    """How large a side may be: a group of all rows is small, and a short window smaller than a long one."""
    leaves = leaves_in(plan)
    ranges = [leaf.range_us for leaf in leaves if isinstance(leaf, Scan)]
    return (
        not (isinstance(plan, Group) and not plan.keys),
        None in ranges or len(ranges) < len(leaves),
        max((reach or 0 for reach in ranges), default=0),
    )


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
