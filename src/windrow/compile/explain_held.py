"""What a plan over changes must hold in memory, with an estimate, and what of it is in blocks."""

from __future__ import annotations

from collections.abc import Iterator

from windrow.compile.keep_rows import Figures
from windrow.plan.memory import size_text
from windrow.plan.nodes.changes import ClusterGroup, Distinct, Expire, Group, Node, Ranked, Scan, SetNode, Stamp, Union
from windrow.plan.nodes.joins import Join

WORD, SLOT_BYTES = 8, 24
"""Of a row whose values are in blocks: each number beside it, and its hash with its place in the index."""


def held_lines(root: Node, figures: Figures) -> list[str]:
    """A line for the rows that are in blocks, and one for each step with an index over them in memory, most first."""
    lines = []
    if any(isinstance(node, Expire) for node in _nodes(root)):
        lines.append("rows until they expire: in blocks under the memory limit, the newest and the oldest in memory")
    held = sorted(_held(root, figures), key=lambda part: -part[1])
    at = f"{figures.rate:,.0f} events/s"
    over = "over all shards, rows in blocks where memory ends"
    lines += [f"in memory: the index of {what}, about {size_text(size)} at {at} {over}" for what, size in held]
    return lines


def _held(root: Node, figures: Figures) -> Iterator[tuple[str, float]]:
    """What each step holds in memory, and how much if all rows differ."""
    for node in _nodes(root):
        match node:
            case Join(left=left, right=right):
                for name, side in (("left", left), ("right", right)):
                    rows = _rows(side, figures)
                    if rows is not None:
                        words = 4 if node.between is None else 6  # how often, key, next and its end; its instants
                        yield f"the {name} side of the {node.kind} join", rows * (words * WORD + SLOT_BYTES)
            case Distinct() | SetNode() if not (isinstance(node, Union) and node.all):
                known = [count for child in node.children if (count := _rows(child, figures)) is not None]
                if known:
                    words = 4  # how often on both sides and in the answer, and since when
                    what = type(node).__name__.upper()
                    yield f"the different rows of {what}", sum(known) * (words * WORD + SLOT_BYTES)
            case ClusterGroup(child=child, clusters=clusters) if clusters is not None:
                rows = _rows(child, figures)
                if rows is not None:
                    yield f"the points of {clusters}", rows * ((len(clusters.texts) + 8) * WORD + SLOT_BYTES)
            case Group(measures=measures):
                rows = _rows(node.child, figures)
                partials = dict.fromkeys(measure.aggregate.partial for measure in measures)
                for partial in partials if rows is not None else ():
                    if partial.user is None and not partial.reversible:
                        assert rows is not None
                        yield f"the values of {partial}", rows * (3 * WORD + SLOT_BYTES)
            case Ranked(child=child) | Stamp(child=child):
                rows = _rows(child, figures)
                if rows is not None:
                    yield f"the rows of {type(node).__name__.lower()}", rows * (3 * WORD + SLOT_BYTES)


def _rows(node: Node, figures: Figures) -> float | None:
    """How many rows there are at a time where each event is one; None where nobody can say."""
    if isinstance(node, Scan):
        return None if node.range_us is None else figures.rate * node.range_us / 1e6
    if isinstance(node, Join | Group):
        return None
    found = [_rows(child, figures) for child in node.children]
    return None if None in found or not found else sum(rows for rows in found if rows is not None)


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _nodes(child)
