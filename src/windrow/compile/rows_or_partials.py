"""Whether a window keeps its rows or partials of its panes: by the space that each takes."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.plan.memory import size_text
from windrow.plan.nodes.kept import PARTIALS, ROWS


@dataclass(frozen=True, slots=True)
class Workload:
    """What the aggregates over one window are asked of, as measured; sizes are in bytes, the rate in rows a second.

    `aggregates` counts those that keep partials apart: N of the paper. `groups` are those of a whole window (G),
    `groups_a_slide` those of one pane (g). `state_bytes` is what a group of an aggregate takes beside the window (s and
    s'), `partial_bytes` what it takes in a pane (t_agg).
    """

    range_us: int
    slide_us: int
    rate: float
    aggregates: int
    groups: float
    groups_a_slide: float
    row_bytes: float
    partial_bytes: float
    state_bytes: float


@dataclass(frozen=True, slots=True)
class Choice:
    """Both estimates, and which way was taken and why."""

    chosen: str
    rows_bytes: float
    partials_bytes: float
    why: str

    def __str__(self) -> str:
        return (
            f"keeps {self.chosen}: rows would take {size_text(self.rows_bytes)},"
            f" partials {size_text(self.partials_bytes)}; {self.why}"
        )


def space_of_partials(work: Workload) -> float:
    """Two-level aggregation, formula 2.1 of Mendes, Bizarro, Marques 2013: N [g (s' + W t_agg / U) + G s]."""
    panes = work.range_us / work.slide_us
    a_pane = work.groups_a_slide * (work.state_bytes + panes * work.partial_bytes)
    return work.aggregates * (a_pane + work.groups * work.state_bytes)


def space_of_rows(work: Workload) -> float:
    """One window, formula 2.2: λ W t + N G s."""
    rows = work.rate * work.range_us / 1_000_000
    return rows * work.row_bytes + work.aggregates * work.groups * work.state_bytes


def choose_rows_or_partials(
    work: Workload, override: str | None = None, room_bytes: float = 0, known: str | None = None
) -> Choice:
    """The way that takes less space, unless the user has said which; partials are taken as long as they have room.

    >>> ticks = Workload(3_600_000_000, 1_000_000, 50_000, 2, 100, 100, 28, 24, 32)
    >>> print(choose_rows_or_partials(ticks))
    keeps partials: rows would take 5.0 GB, partials 17.3 MB; an estimate from 50,000 rows a second in 100 groups
    >>> choose_rows_or_partials(ticks, override="rows").chosen
    'rows'
    """
    rows, partials = space_of_rows(work), space_of_partials(work)
    why = known or f"an estimate from {work.rate:,.0f} rows a second in {work.groups:,.0f} groups"
    if override is not None:
        return Choice(override, rows, partials, f"as the option says; {why}")
    if rows < partials <= room_bytes:
        return Choice(PARTIALS, rows, partials, f"{why}; both fit into memory, and partials are quicker to fold")
    return Choice(ROWS if rows < partials else PARTIALS, rows, partials, why)
