"""Whether the panes of a space keep partials or rows: both estimated, from measured or assumed figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import pyarrow as pa

from windrow.compile.figures import Figures
from windrow.compile.rows_or_partials import Choice, Workload, choose_rows_or_partials
from windrow.errors import SettingsError
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.kept import FROM_VALUES, PARTIALS, ROWS, other_way
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.spaces import Space

ENTRY_BYTES = 16
"""The pane and the group of an entry, or of a row."""

PARTIAL_BYTES = {"count": 8, "integer_sum": 24, "float_sum": 40, "decimal_sum": 32, "moments": 40, "min": 9, "max": 9}
PARTIAL_BYTES |= {"truth": 24, "distinct_sketch": 4096, "digest": 1024}
OTHER_BYTES = 32
VALUE_BYTES = 24
"""A text or another value of no fixed width is taken to have so many."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """How it is decided what panes keep: as the user says, or else by what both take, as far as that was measured.

    As long as partials fit into `room_bytes`, they are kept: they are quicker to fold. A plan that runs does not change
    with every measurement: it is made when a job starts, or when queries come and go.
    """

    override: str | None = None
    room_bytes: float = inf

    def __post_init__(self) -> None:
        if self.override not in (None, ROWS, PARTIALS):
            raise SettingsError(f"keep={self.override!r} is neither 'rows' nor 'partials'")

    def decided(self, space: Space, figures: Figures | None = None, queries: Sequence[QueryPlan] = ()) -> Space:
        """The space, which keeps what was chosen; what is asked for by one of its `queries` goes before all else."""
        choice = self.choice(space, figures or Figures())
        if choice is None:
            return space
        others = tuple(one for one, wish in asked_ways(queries).items() if wish != choice.chosen and one in space.asked)
        return replace(space, keeps=choice.chosen, kept_otherwise=others)

    def choice(self, space: Space, figures: Figures) -> Choice | None:
        """Both estimates and the choice; None where there is none to make."""
        work = workload(space, figures)
        if work is None:
            return None
        return choose_rows_or_partials(work, self.override, self.room_bytes, str(figures.of(space)))

    def lines(self, space: Space, figures: Figures) -> list[str]:
        """What is said of it: the estimates, and whether measured figures would lead elsewhere."""
        choice = self.choice(space, figures)
        if choice is None:
            return []
        lines = [str(replace(choice, chosen=space.keeps))]
        if space.kept_otherwise:
            names = ", ".join(map(str, space.kept_otherwise))
            lines.append(f"as queries ask for it, {other_way(space.keeps)} of {names}")
        if choice.chosen != space.keeps:
            lines.append(f"{choice.chosen} would take less by now, and are kept from the next start on, or with")
            lines.append(f"Session(keep={choice.chosen!r}); no window is lost by it")
        return lines


def asked_ways(queries: Sequence[QueryPlan]) -> dict[Partial, str]:
    """By partial that can be kept in two ways, which of them a query has asked for by itself."""
    found: dict[Partial, tuple[str, str]] = {}
    for query in queries:
        wish = query.choose.get("keep")
        for partial in query.partials:
            if wish is not None and partial.kind in FROM_VALUES:
                other, known = found.setdefault(partial, (query.name, wish))
                if known != wish:
                    raise SettingsError(
                        f"queries {other!r} and {query.name!r} share {partial} of the same rows and keys, and ask for"
                        f" {known} and {wish}: panes keep one of them for both"
                    )
    return {partial: wish for partial, (_, wish) in found.items()}


PARTIALS_FIRST = Keeping()
"""Nobody has said anything, and there is no limit: partials."""


def workload(space: Space, figures: Figures) -> Workload | None:
    """What is asked of the longest window of a space; None if windows have no bound, or nothing is made of values."""
    partials = tuple(dict.fromkeys(partial for fold in space.folds for partial in fold.partials))
    made = [partial for partial in partials if partial.kind in FROM_VALUES]
    if space.unbounded or not made:
        return None
    known = figures.of(space)
    range_us = max(window.range_us or 0 for window in space.windows)
    slide_us = range_us / space.by_age.panes_in(range_us)
    groups = known.groups if space.keys else 1.0
    partial_bytes = ENTRY_BYTES / len(made) + sum(PARTIAL_BYTES.get(p.kind, OTHER_BYTES) for p in made) / len(made)
    columns = {(partial.argument, partial.filter): partial for partial in made}
    widths = ((figures.width(space.stream, partial.argument), value_bytes(partial)) for partial in columns.values())
    row_bytes = ENTRY_BYTES + sum(8 + (assumed if seen is None else seen) for seen, assumed in widths)
    return Workload(
        range_us=range_us,
        slide_us=round(slide_us) or 1,
        rate=known.rate,
        aggregates=len(made),
        groups=groups,
        groups_a_slide=min(groups, known.groups_a_pane or known.rate * slide_us / 1e6),
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
