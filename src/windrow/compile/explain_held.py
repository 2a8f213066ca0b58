"""What a plan over changes must hold in memory, with an estimate, what of it is in blocks, and whether it has room."""

from __future__ import annotations

from windrow.compile.figures import Figures
from windrow.compile.held_in_memory import held_by, nodes_of
from windrow.plan.memory import size_text
from windrow.plan.nodes.changes import Expire, Node


def held_lines(root: Node, figures: Figures, limit: int, shards: int) -> list[str]:
    """A line for the rows that are in blocks, and one for each step with an index over them in memory, most first.

    Where all of them together would be beyond the limit of a shard, it is warned of.
    """
    lines = []
    if any(isinstance(node, Expire) for node in nodes_of(root)):
        lines.append("rows until they expire: in blocks under the memory limit, the newest and the oldest in memory")
    held = sorted(held_by(root, figures), key=lambda part: -part.size)
    how = "measured" if figures.measured else "assumed"
    at = f"{figures.rate:,.0f} events/s over all shards ({how}), rows in blocks where memory ends"
    lines += [f"in memory: the index of {part.what}, about {size_text(part.size)} at {at}" for part in held]
    whole = sum(part.size for part in held)
    if whole > shards * limit:
        lines.append(
            f"warning: that is {size_text(whole / shards)} a shard where rows spread evenly, and a shard may have"
            f" {size_text(limit)}: more memory, more shards, or a shorter window"
        )
    return lines
