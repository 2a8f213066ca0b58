"""Windows by key of users' aggregates that can remove: each goes on from the one before, also from batch to batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from windrow.kernels import Field, Fields, Kernel, identity, take
from windrow.kernels.kernel import integer
from windrow.operators.group_partials import GroupPartials
from windrow.runtime.rows.key_runs import GroupRuns
from windrow.runtime.rows.row_times import Instant
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.entries import Entries


class Span(Instant):
    """From which row of its key up to which one a group's window has been folded."""

    fields: tuple[Field, ...] = (integer("low"), integer("high"))


class KeyRunning:
    """The last window of every group, folded, for the kernels at `members`, and the rows that it holds.

    A window that slides calls the user's class for the rows that came and went. Rows that are let go are taken out
    before, while they can still be read.
    """

    def __init__(
        self,
        kernels: Sequence[Kernel],
        members: Sequence[int],
        family: str,
        blocks: Blocks,
        snapshot: Snapshot | None = None,
    ) -> None:
        self.members = tuple(members)
        self._kernels = [kernels[i].running for i in self.members]
        kept = snapshot or {}
        self._span = GroupPartials(Span(), f"{family}.span", blocks, kept.get("span"))
        self._folded = [
            GroupPartials(kernel, f"{family}.{i}", blocks, kept.get(str(i)))
            for i, kernel in zip(self.members, self._kernels)
        ]
        self._width: int = kept.get("width", 0)

    def slide(self, slots: np.ndarray, lows: np.ndarray, highs: np.ndarray, rows: GroupRuns) -> list[Fields]:
        """For each of the kernels the fold of each of `slots` at low <= position < high; windows of a slot go on."""
        self._width = max(self._width, int(slots.max(initial=-1)) + 1)
        owners, place = np.unique(slots, return_inverse=True)
        span, states = self._span.of(owners), [folded.of(owners) for folded in self._folded]
        answers = [identity(kernel, len(slots)) for kernel in self._kernels]
        for i in np.lexsort((highs, slots)).tolist():
            at, low, high = int(place[i]), int(lows[i]), int(highs[i])
            was, until = int(span["low"][at]), int(span["high"][at])
            leaving = rows.places(int(slots[i]), was, min(low, until))
            entering = rows.places(int(slots[i]), max(low, until), high)
            for kernel, member, fields, told in zip(self._kernels, self.members, states, answers):
                _call(kernel.remove, fields, at, rows.part(member, leaving))
                _call(kernel.combine, fields, at, rows.part(member, entering))
                for name, column in fields.items():
                    told[name][i] = column[at]
            span["low"][at], span["high"][at] = max(low, was), max(high, until, low)
        self._put(owners, span, states)
        return answers

    def leave(self, gone: Entries, freed: np.ndarray) -> None:
        """Take out rows that nobody holds any more, and let go of the groups `freed`.

        The first partials of the rows are not of a kernel.
        """
        known = self._known(gone.slots)
        gone = gone.part(known)
        if len(gone):
            owners, place = np.unique(gone.slots, return_inverse=True)
            span, states = self._span.of(owners), [folded.of(owners) for folded in self._folded]
            inside = (gone.panes >= span["low"][place]) & (gone.panes < span["high"][place])
            order = np.flatnonzero(inside)[np.lexsort((gone.panes[inside], place[inside]))]
            for kernel, member, fields in zip(self._kernels, self.members, states):
                kernel.remove(fields, place[order], take(gone.partials[1 + member], order))
            np.maximum.at(span["low"], place, gone.panes + 1)
            span["high"] = np.maximum(span["high"], span["low"])
            self._put(owners, span, states)
        freed = freed[self._known(freed)]
        if len(freed):
            self._put(freed, identity(Span(), len(freed)), [identity(kernel, len(freed)) for kernel in self._kernels])

    def save(self, version: int) -> None:
        self._span.save(version, self._width)
        for folded in self._folded:
            folded.save(version, self._width)

    def snapshot(self) -> Snapshot:
        own = {str(i): folded.snapshot() for i, folded in zip(self.members, self._folded)}
        return {"width": self._width, "span": self._span.snapshot(), **own}

    @property
    def nbytes(self) -> int:
        return self._span.nbytes + sum(folded.nbytes for folded in self._folded)

    def _put(self, owners: np.ndarray, span: Fields, states: Sequence[Fields]) -> None:
        self._span.put(owners, span)
        for folded, fields in zip(self._folded, states):
            folded.put(owners, fields)

    def _known(self, slots: np.ndarray) -> np.ndarray:
        return slots < self._width


def _call(fold: Callable[[Fields, np.ndarray, Fields], None], fields: Fields, at: int, rows: Fields) -> None:
    count = len(next(iter(rows.values())))
    if count:
        fold(fields, np.full(count, at), rows)
