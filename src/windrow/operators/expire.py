"""W-Expire, by time probing, negative tuples or the next input: sends a row again, negated, when its time is over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windrow.operators.changes import NEVER, Changes, merged
from windrow.operators.first_of_panes import FirstOfPanes
from windrow.operators.pending_changes import HoldsPending
from windrow.operators.repository import SharedWindow
from windrow.plan.instants import BEFORE_ALL
from windrow.plan.nodes.changes import Expire
from windrow.storage.blocks import Blocks, Snapshot


class ExpireRows(HoldsPending):
    """Keeps all rows whose time is not over and sends each again with the opposite weight at its end.

    Hammad et al. (2003), section 3.2: t- has the minTS of t, and maxTS = t.minTS + |w|. Above it nothing expires by
    itself: `until` is NEVER, except that a renewing DISTINCT is told (`tells`). A `-` that came in between is kept like
    any other change; its opposite cancels that of the row it took away, so nothing has to be looked for. Rows of a
    stream are in a repository that is `shared` with windows of other ranges. Where only a ranking reads them, rows that
    it will never tell are left out (`first`).
    """

    def __init__(
        self,
        node: Expire,
        family: str,
        blocks: Blocks,
        snapshot: Snapshot | None = None,
        tells: bool = False,
        shared: SharedWindow | None = None,
        first: FirstOfPanes | None = None,
    ) -> None:
        super().__init__(node.types, family, blocks, snapshot)
        self._tells, self._shared, self._first = tells, shared, first
        self._by_input = node.place == "input"
        self.reached: int = (snapshot or {}).get("reached", BEFORE_ALL)
        """The time of the newest row that came to it."""

    @property
    def next_due(self) -> int | None:
        """The next instant at which a row expires."""
        dues = [self._waiting.next_due, None if self._shared is None else self._shared.next_due]
        return min((due for due in dues if due is not None), default=None)

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        (changes,) = inputs
        if len(changes):
            self.reached = max(self.reached, int(changes.times[-1]))
            changes = changes if self._first is None else self._first.of(changes)
        if self._shared is None:
            self._waiting.add(*_ending(changes))
        else:
            self._shared.add(changes)
        overs = list(zip(*self._waiting.take_runs(clock)))
        if self._shared is not None:
            overs += [(over, over.until) for over in self._shared.take(clock)]
        parts = []
        for over, ends in overs:
            until = over.until if self._tells else np.full(len(over), NEVER)
            parts.append(Changes(ends, over.since, until, -over.weights, over.columns))
        if not self._tells:
            never = np.full(len(changes), NEVER)
            changes = Changes(changes.times, changes.since, never, changes.weights, changes.columns)
        return merged([*parts, changes])

    def snapshot(self) -> Snapshot:
        waiting = self._waiting.snapshot()
        return waiting | {"reached": self.reached} if self._by_input else waiting


def _ending(changes: Changes) -> tuple[Changes, np.ndarray]:
    """The changes that will expire, and when."""
    ending = changes.until != NEVER
    kept = changes.keep(ending) if len(changes) else changes
    return kept, kept.until
