"""Figures 4 to 13 of Paper I as tables to paste and as one picture, from what `windrow bench index` has measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from windrow.indexes.choose import STRUCTURES

if TYPE_CHECKING:
    from .index import Dropped, Measurement

LRB, RANDOM = "Linear Road", "random"
FLAT_BYTES = 8
"""A key and a value of 32 bits each, without an index: the paper's flat array."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What a figure shows of each structure against how many keys it holds."""

    number: int
    keys: str
    shows: str
    title: str
    structures: tuple[str, ...] = tuple(STRUCTURES)

    def lines(self, found: Sequence[Measurement]) -> Iterator[tuple[str, list[tuple[int, float]]]]:
        """For each structure the sizes and what was measured there."""
        for structure in self.structures:
            own = [line for line in found if (line.keys, line.structure) == (self.keys, structure)]
            shown = [(line.size, getattr(line, self.shows)) for line in own if getattr(line, self.shows) is not None]
            if shown:
                yield structure, shown


FIGURES = (
    Figure(4, LRB, "insert_ns", "insertion, ns a key"),
    Figure(5, RANDOM, "insert_ns", "insertion, ns a key"),
    Figure(6, LRB, "find_ns", "look-up of one key, ns"),
    Figure(7, RANDOM, "find_ns", "look-up of one key, ns"),
    Figure(8, LRB, "bytes", "bytes a pair"),
    Figure(9, LRB, "bytes", "bytes a pair, trees", ("b+ tree", "csb+ tree")),
    Figure(10, RANDOM, "bytes", "bytes a pair"),
    Figure(11, LRB, "q2_us", "Q2, a segment, µs"),
    Figure(12, RANDOM, "range_ns", "a range of 10 %, ns an entry"),
)


def figure_tables(found: Sequence[Measurement], dropped: Sequence[Dropped]) -> Iterator[str]:
    """A table of Markdown for each figure: a row a structure, a column a size."""
    for figure in FIGURES:
        lines = dict(figure.lines(found))
        heads = [f"{size / 1e6:g} M" for size, _ in next(iter(lines.values()))]
        rows = [[structure, *(_told(value) for _, value in shown)] for structure, shown in lines.items()]
        yield _table([f"Figure {figure.number}: {figure.title}, {figure.keys} keys", *heads], rows)
    sizes = sorted({each.size for each in dropped})
    deleted = {each.size: each.delete_us for each in dropped}
    rows = [["deleted one by one", *(_told(deleted[size]) for size in sizes)]]
    for structure in STRUCTURES:
        own = {each.size: each for each in dropped if each.structure == structure}
        rows.append([f"dropped: {structure}", *(_told(own[size].drop_us) for size in sizes)])
        rows.append([f"freed: {structure}", *(_told(own[size].free_us) for size in sizes)])
    yield _table(["Figure 13: a pane gone, µs", *(f"{size / 1e6:g} M" for size in sizes)], rows)


def _told(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---", *("---:" for _ in heads[1:])], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def plot_figures(found: Sequence[Measurement], dropped: Sequence[Dropped], path: Path) -> None:
    """All ten in one picture."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    picture, axes = plt.subplots(2, 5, figsize=(24, 9))
    for axis, figure in zip(axes.flat, FIGURES):
        for structure, shown in figure.lines(found):
            axis.plot([size / 1e6 for size, _ in shown], [value for _, value in shown], marker="o", label=structure)
        _finish(axis, figure)
    axis, sizes = axes.flat[-1], sorted({each.size for each in dropped})
    deletes = {each.size: each.delete_us for each in dropped}
    axis.plot([size / 1e6 for size in sizes], [deletes[size] for size in sizes], marker="o", label="deleted one by one")
    for structure in STRUCTURES:
        drops = [each.drop_us for each in dropped if each.structure == structure]
        axis.plot([size / 1e6 for size in sizes], drops, marker=".", label=f"dropped: {structure}")
    axis.set(title="Figure 13: a pane gone, µs", xlabel="million keys", yscale="log")
    axis.legend(fontsize=7)
    picture.tight_layout()
    picture.savefig(path, dpi=80)
    plt.close(picture)


def _finish(axis: Any, figure: Figure) -> None:
    if figure.shows == "bytes":
        axis.axhline(FLAT_BYTES, color="black", linewidth=1, linestyle=":", label="flat array")
        axis.set_ylim(0, None)
    elif figure.shows != "find_ns":
        axis.set_yscale("log")
    else:
        axis.set_ylim(0, None)
    axis.set(title=f"Figure {figure.number}: {figure.title}, {figure.keys} keys", xlabel="million keys")
    axis.legend(fontsize=7)
