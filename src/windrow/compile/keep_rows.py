"""Whether the panes of a space keep partials or rows: both estimated, from measured or assumed figures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

import pyarrow as pa

from windrow.compile.rows_or_partials import Choice, Workload, choose_rows_or_partials
from windrow.errors import SettingsError
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.kept import FROM_VALUES, PARTIALS, ROWS
from windrow.plan.nodes.spaces import Space

ENTRY_BYTES = 16
"""The pane and the group of an entry, or of a row."""

PARTIAL_BYTES = {"count": 8, "integer_sum": 24, "float_sum": 40, "decimal_sum": 32, "moments": 40, "min": 9, "max": 9}
PARTIAL_BYTES |= {"truth": 24, "distinct_sketch": 4096, "digest": 1024}
OTHER_BYTES = 32
VALUE_BYTES = 24
"""A text or another value of no fixed width is taken to have so many."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What is known of a stream: events in a second of its own time, and groups."""

    rate: float = 1000.0
    groups: float = 100.0
    measured: bool = False

    def __str__(self) -> str:
        how = "measured" if self.measured else "assumed"
        return f"{self.rate:,.0f} events a second and {self.groups:,.0f} groups are {how}"


@dataclass(frozen=True, slots=True)
class Keeping:
    """How it is decided what panes keep: as the user says, or else by what both take.

    As long as partials fit into `room_bytes`, they are kept: they are quicker to fold. A plan that runs must not change
    with every measurement, so that it is made from assumed figures; measured ones are for `explain`.
    """

    override: str | None = None
    room_bytes: float = inf

    def __post_init__(self) -> None:
        if self.override not in (None, ROWS, PARTIALS):
            raise SettingsError(f"keep={self.override!r} is neither 'rows' nor 'partials'")

    def decided(self, space: Space) -> Space:
        """The space, which keeps what was chosen."""
        choice = self.choice(space, Figures())
        return space if choice is None else replace(space, keeps=choice.chosen)

    def choice(self, space: Space, figures: Figures) -> Choice | None:
        """Both estimates and the choice; None where there is none to make."""
        work = workload(space, figures)
        if work is None:
            return None
        return choose_rows_or_partials(work, self.override, self.room_bytes, str(figures))

    def lines(self, space: Space, figures: Figures) -> list[str]:
        """What is said of it: the estimates, and whether measured figures would have led elsewhere."""
        choice = self.choice(space, figures)
        if choice is None:
            return []
        lines = [str(replace(choice, chosen=space.keeps))]
        if choice.chosen != space.keeps:
            lines.append(f"{choice.chosen} would take less: Session(keep={choice.chosen!r}); then answers go on from")
            lines.append("the first window that is known in full")
        return lines


PARTIALS_FIRST = Keeping()
"""Nobody has said anything, and there is no limit: partials."""


def workload(space: Space, figures: Figures) -> Workload | None:
    """What is asked of the longest window of a space; None if windows have no bound, or nothing is made of values."""
    partials = tuple(dict.fromkeys(partial for fold in space.folds for partial in fold.partials))
    made = [partial for partial in partials if partial.kind in FROM_VALUES]
    if space.unbounded or not made:
        return None
    range_us = max(window.range_us or 0 for window in space.windows)
    slide_us = range_us / space.cuts.panes_in(range_us)
    groups = figures.groups if space.keys else 1.0
    partial_bytes = ENTRY_BYTES / len(made) + sum(PARTIAL_BYTES.get(p.kind, OTHER_BYTES) for p in made) / len(made)
    columns = {(partial.argument, partial.filter): partial for partial in made}
    row_bytes = ENTRY_BYTES + sum(8 + value_bytes(partial) for partial in columns.values())
    return Workload(
        range_us=range_us,
        slide_us=round(slide_us) or 1,
        rate=figures.rate,
        aggregates=len(made),
        groups=groups,
        groups_a_slide=min(groups, figures.rate * slide_us / 1e6),
        row_bytes=row_bytes,
        partial_bytes=partial_bytes,
        state_bytes=partial_bytes,
    )


def value_bytes(partial: Partial) -> int:
    """The bytes of a value; of one of no fixed width it is a guess."""
    if partial.type is None or pa.types.is_nested(partial.type):
        return VALUE_BYTES
    try:
        return -int(-partial.type.bit_width // 8)
    except ValueError:
        return VALUE_BYTES
