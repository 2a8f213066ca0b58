"""What the steps of a plan over changes must hold in memory: an estimate, and what is certain by measured figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from windrow.compile.figures import Figures
from windrow.plan.nodes.aggregates import OF_ONE_ROW
from windrow.plan.nodes.changes import (
    ClusterGroup,
    Distinct,
    Expire,
    Group,
    Node,
    Project,
    Ranked,
    Scan,
    SetNode,
    Stamp,
    Union,
    leave_in_order,
)
from windrow.plan.nodes.joins import Join

WORD, SLOT_BYTES = 8, 24
"""Of a row whose values are in blocks: each number beside it, and its hash with its place in the index."""

LEAST_BYTES = 40
"""Of a row of a join, at least: how often, key, next, its end, and its slot."""


@dataclass(frozen=True, slots=True)
class Held:
    """What a step holds over all shards: bytes if all rows differ, and at least; None where that is only assumed.

    `rows` are those that the smaller side of a join has at least, where each is compared with all of the other side.
    """

    what: str
    size: float
    least: float | None = None
    rows: float | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """How many rows are there at a time where each event is one, and how many at least, by what was measured."""

    most: float
    least: float | None


def held_by(root: Node, figures: Figures) -> Iterator[Held]:
    """Each part that a plan holds in memory; of what nobody can say how much it is, nothing."""
    for node in nodes_of(root):
        match node:
            case Join():
                yield from _held_by_join(node, figures)
            case Distinct() | SetNode() if not (isinstance(node, Union) and node.all):
                known = [rows.most for child in node.children if (rows := rows_of(child, figures)) is not None]
                if known:
                    words = 4  # how often on both sides and in the answer, and since when
                    what = type(node).__name__.upper()
                    yield Held(f"the different rows of {what}", sum(known) * (words * WORD + SLOT_BYTES))
            case ClusterGroup(child=child, clusters=clusters) if clusters is not None:
                rows = rows_of(child, figures)
                if rows is not None:
                    size = (len(clusters.texts) + 8) * WORD + SLOT_BYTES
                    yield Held(f"the points of {clusters}", rows.most * size)
            case Group(measures=measures):
                rows = rows_of(node.child, figures)
                for partial in dict.fromkeys(measure.aggregate.partial for measure in measures):
                    few = partial.kind in OF_ONE_ROW and leave_in_order(node.child)
                    if rows is not None and partial.user is None and not (partial.reversible or few):
                        yield Held(f"the values of {partial}", rows.most * (3 * WORD + SLOT_BYTES))
            case Ranked(child=child) | Stamp(child=child):
                rows = rows_of(child, figures)
                if rows is not None:
                    yield Held(f"the rows of {type(node).__name__.lower()}", rows.most * (3 * WORD + SLOT_BYTES))


def _held_by_join(node: Join, figures: Figures) -> Iterator[Held]:
    waits = (None, None) if node.between is None else (node.between.left_waits_us, node.between.right_waits_us)
    words = 4 if node.between is None else 6  # how often, key, next and its end; its instants
    met: list[float | None] = []
    for place, (name, side) in enumerate((("left", node.left), ("right", node.right))):
        keys = [pair[place] for i, pair in enumerate(node.on) if i not in node.null_safe]
        keys += [] if node.between is None else [node.between.left if place == 0 else node.between.right]
        rows = rows_of(side, figures, waits[place], keys)
        if rows is not None:
            plain = node.kind in ("inner", "left", "right", "full") and rows.least is not None
            least = rows.least if plain else None
            size = None if least is None else least * LEAST_BYTES
            met.append(least)
            both = [count for count in met if count is not None]
            smaller = min(both) if len(both) == 2 and not node.on else None
            what = f"the {name} side of the {node.kind} join"
            yield Held(what, rows.most * (words * WORD + SLOT_BYTES), size, smaller)


def rows_of(
    node: Node, figures: Figures, waits_us: int | None = None, keys: Sequence[str] | None = None
) -> Rows | None:
    """The rows that are there at a time, those that wait for others no longer than `waits_us`; None: nobody can say.

    Those whose `keys` have a NULL may be left out. At least so many are there as events come and pass, as measured.
    """
    match node:
        case Scan(range_us=range_us):
            known = [us for us in (range_us, waits_us) if us is not None]
            if not known:
                return None
            rate, measured = figures.rate_of(node.stream)
            rows = rate * min(known) / 1e6
            texts = {node.texts[place] for place in map(node.names.index, keys or ()) if node.texts}
            texts |= set() if node.where is None else {node.where}
            shares = [figures.share(node.stream, text) for text in texts]
            if not measured or None in shares or (keys and not node.texts):
                return Rows(rows, None)
            passing = 1.0 - sum(1.0 - share for share in shares if share is not None)
            return Rows(rows, rows * max(passing, 0.0))
        case Expire(child=child):
            return rows_of(child, figures, waits_us, keys)
        case Project(child=child, outputs=outputs):
            read = {output.name: output.sql.strip("`") for output in outputs}
            named = [read[key] for key in keys or ()]
            plain = all(name in child.names for name in named)
            found = rows_of(child, figures, waits_us, named if plain else None)
            return found if plain or found is None else Rows(found.most, None)
        case Join() | Group():
            return None
    each = [rows_of(child, figures, waits_us) for child in node.children]
    if None in each or not each:
        return None
    every = isinstance(node, Union) and node.all
    least = [rows.least for rows in each if rows is not None and rows.least is not None and every and not keys]
    most = sum(rows.most for rows in each if rows is not None)
    return Rows(most, sum(least) if len(least) == len(each) else None)


def nodes_of(node: Node) -> Iterator[Node]:
    """A plan and all its parts, those that are equal once."""
    found: dict[Node, None] = {}
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found[one] = None
            waiting += reversed(one.children)
    return iter(found)
