"""Take duplicates out before a join or a union rather than after it."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from windrow.language import parse_expression
from windrow.plan.nodes.changes import Computed, Distinct, Group, Node, Project, Select, SetNode, Union
from windrow.plan.nodes.joins import Join


def push_distinct(plan: Node) -> Node:
    """Push every DISTINCT down through inner joins and UNION ALL, and drop it where rows are distinct already.

    A W-DISTINCT lets a value pass at most once a window (Hammad et al., 2003, section 4.1), so a join above it has less
    to do. The pairs of distinct rows are those of all rows; the DISTINCT above stays where a projection follows.

    >>> import pyarrow as pa
    >>> from windrow.plan.nodes.changes import Column, Scan
    >>> a, b = (Scan(name, (Column(name, pa.int64()),), 60) for name in "ab")
    >>> push_distinct(Distinct(Join(a, b, (("a", "b"),)))) == Join(Distinct(a), Distinct(b), (("a", "b"),))
    True
    """
    if isinstance(plan, Distinct):
        return _distinct(plan.child)
    return plan.with_children([push_distinct(child) for child in plan.children])


def _distinct(child: Node) -> Node:
    """DISTINCT over `child`, which has not been optimized yet."""
    match child:
        case Join(kind="inner", left=left, right=right):
            return child.with_children([_distinct(left), _distinct(right)])
        case Project(child=Join(kind="inner") as join, outputs=outputs):
            needed = _read([output.sql for output in outputs] + [join.residual or "TRUE"])
            needed |= {name for pair in join.on for name in pair}
            if join.between is not None:
                needed |= {join.between.left, join.between.right}
            sides = [_distinct(_narrowed(side, needed)) for side in join.children]
            return Distinct(Project(join.with_children(sides), outputs))
        case Union(left=left, right=right, all=True):
            return Union(_plain(left), _plain(right))
        case Distinct():
            return _distinct(child.child)
    optimized = push_distinct(child)
    return optimized if _has_no_duplicates(optimized) else Distinct(optimized)


def _plain(node: Node) -> Node:
    """A side of a UNION, which takes duplicates out itself."""
    return _plain(node.child) if isinstance(node, Distinct) else push_distinct(node)


def _has_no_duplicates(node: Node) -> bool:
    match node:
        case Distinct() | Group():
            return True
        case Select(child=child):
            return _has_no_duplicates(child)
        case SetNode(all=every):
            return not every
    return False


def _narrowed(side: Node, needed: set[str]) -> Node:
    """Only the columns that somebody above reads."""
    kept = [column for column in side.columns if column.name in needed]
    if len(kept) == len(side.columns):
        return side
    return Project(side, tuple(Computed(column.name, column.name, column.type) for column in kept))


def _read(texts: Iterable[str]) -> set[str]:
    """The columns that row expressions name."""
    trees = (parse_expression(text) for text in texts)
    return {column.name for tree in trees for column in tree.find_all(exp.Column)}
