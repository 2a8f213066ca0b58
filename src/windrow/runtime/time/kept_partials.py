"""Where the partials of a space are found among those that its panes keep."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from windrow.clustering import kernel_of
from windrow.kernels import Fields, Kernel, Rows, identity
from windrow.kernels.collected import PIECES, Collected, all_rows
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.kept import kept_as
from windrow.plan.nodes.spaces import Space


class KeptPartials:
    """For each partial that windows ask for: its place among the columns that panes keep, and its kernel."""

    def __init__(self, space: Space, user: Mapping[str, type]) -> None:
        order = {partial: i for i, partial in enumerate(space.partials)}
        asked = dict.fromkeys(partial for fold in space.folds for partial in fold.partials)
        self._places = {partial: order[kept_as(partial, space.keeps)] for partial in asked}
        self._kernels = {partial: kernel_of(partial, user) for partial in asked}

    def place(self, partial: Partial) -> int:
        return self._places[partial]

    def kernel(self, partial: Partial) -> Kernel:
        return self._kernels[partial]


def made_of(kept: Fields, kernel: Kernel) -> Fields:
    """The partials of `kernel`, made of the rows where rows are what is kept."""
    if PIECES not in kept or isinstance(kernel, Collected):
        return kept
    made = identity(kernel, len(kept[PIECES]))
    lengths, times, values = all_rows(kept[PIECES])
    if values is not None:
        kernel.lift(made, np.repeat(np.arange(len(lengths)), lengths), Rows(values, times))
    return made
