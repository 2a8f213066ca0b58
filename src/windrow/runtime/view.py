"""What one maintenance sees of the panes of a space."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from windrow.kernels import Kernel
from windrow.plan.aggregates import Partial
from windrow.windows.entries import Entries
from windrow.windows.log import PaneLog


@dataclass(frozen=True, slots=True)
class View:
    """A log as one maintenance sees it: with its own partials only."""

    log: PaneLog
    members: tuple[int, ...]
    names: tuple[str, ...]
    kernels: tuple[Kernel, ...]

    @classmethod
    def of(cls, log: PaneLog, order: Mapping[Partial, int], partials: tuple[Partial, ...]) -> View:
        members = tuple(order[partial] for partial in partials)
        return cls(log, members, tuple(partial.name for partial in partials), tuple(log.kernels[i] for i in members))

    def between(self, first: int, stop: int) -> Entries:
        return self._seen(self.log.between(first, stop))

    def parts(self, first: int, stop: int) -> Iterator[Entries]:
        return map(self._seen, self.log.parts(first, stop))

    def _seen(self, entries: Entries) -> Entries:
        return Entries(entries.panes, entries.slots, tuple(entries.partials[i] for i in self.members))
