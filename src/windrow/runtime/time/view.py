"""What one maintenance sees of the panes of a space."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from windrow.kernels import Kernel
from windrow.plan.instants import BEFORE_ALL
from windrow.plan.nodes.aggregates import Partial
from windrow.runtime.time.kept_partials import KeptPartials, fields_in
from windrow.windows.entries import Entries
from windrow.windows.log import PaneLog


@dataclass(frozen=True, slots=True)
class StateView:
    """A log as one maintenance sees it: with its own partials only, be they kept or made of the rows that are."""

    log: PaneLog
    members: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]
    kernels: tuple[Kernel, ...]
    whole_from: int = BEFORE_ALL

    @classmethod
    def of(
        cls, log: PaneLog, kept: KeptPartials, partials: tuple[Partial, ...], whole_from: int = BEFORE_ALL
    ) -> StateView:
        members = tuple(kept.places(partial) for partial in partials)
        names = tuple(partial.name for partial in partials)
        return cls(log, members, names, tuple(map(kept.kernel, partials)), whole_from)

    def between(self, first: int, stop: int) -> Entries:
        return self._seen(self.log.between(first, stop))

    def reaches(self, first: int) -> bool:
        return self.whole_from <= first and self.log.reaches(first)

    def parts(self, first: int, stop: int) -> Iterator[Entries]:
        return map(self._seen, self.log.parts(first, stop))

    def count(self, first: int, stop: int) -> int:
        return self.log.count(first, stop)

    def _seen(self, entries: Entries) -> Entries:
        own = (fields_in(entries.partials, places, kernel) for places, kernel in zip(self.members, self.kernels))
        return Entries(entries.panes, entries.slots, tuple(own))
