"""Where the partials of a space are found among those that its panes keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from windrow.clustering import kernel_of
from windrow.kernels import Fields, Kernel, Rows, identity
from windrow.kernels.collected import PIECES, Collected, all_rows
from windrow.plan.nodes.aggregates import Partial
from windrow.runtime.time.kept_ways import stored


class KeptPartials:
    """For each partial that windows ask for: its place among the columns that panes keep, and its kernel."""

    def __init__(self, ways: Mapping[Partial, tuple[Partial, ...]], user: Mapping[str, type]) -> None:
        order = {partial: i for i, partial in enumerate(stored(ways))}
        self._places = {partial: tuple(order[way] for way in kept) for partial, kept in ways.items()}
        self._kernels = {partial: kernel_of(partial, user) for partial in ways}

    def places(self, partial: Partial) -> tuple[int, ...]:
        """Where it is among the columns: in one, or after a change of mind in two, the older first."""
        return self._places[partial]

    def fields(self, columns: Sequence[Fields], partial: Partial) -> Fields:
        """A partial of each entry, of which panes keep `columns`."""
        return fields_in(columns, self._places[partial], self._kernels[partial])

    def kernel(self, partial: Partial) -> Kernel:
        return self._kernels[partial]


def fields_in(columns: Sequence[Fields], places: Sequence[int], kernel: Kernel) -> Fields:
    """The partials of `kernel` that are in the columns at `places`: of each entry, what all of them hold together."""
    first, *more = (made_of(columns[place], kernel) for place in places)
    if not more:
        return first
    whole = {name: column.copy() for name, column in first.items()}
    for newer in more:
        kernel.combine(whole, np.arange(len(next(iter(newer.values())))), newer)
    return whole


def made_of(kept: Fields, kernel: Kernel) -> Fields:
    """The partials of `kernel`, made of the rows where rows are what is kept."""
    if PIECES not in kept or isinstance(kernel, Collected):
        return kept
    made = identity(kernel, len(kept[PIECES]))
    lengths, times, values = all_rows(kept[PIECES])
    if values is not None:
        kernel.lift(made, np.repeat(np.arange(len(lengths)), lengths), Rows(values, times))
    return made
