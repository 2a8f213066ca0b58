"""Which windows are due of which keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from windrow.kernels import Fields, take
from windrow.plan.windows.row_window import CountWindow
from windrow.runtime.answers.windows import ANSWER_ROWS, Answers
from windrow.runtime.rows.key_counts import KeyCounts
from windrow.runtime.rows.key_runs import KeyRuns
from windrow.windows.entries import Entries


@dataclass(frozen=True, slots=True)
class KeyWindows:
    """Windows of keys: each is over the rows of the key in slot `owners` before position `highs`, until `ends`.

    `instants` tell when a window was due, where the slide is in time.
    """

    owners: np.ndarray
    highs: np.ndarray
    ends: np.ndarray
    instants: np.ndarray | None

    def __len__(self) -> int:
        return len(self.owners)

    def part(self, windows: slice | np.ndarray) -> KeyWindows:
        instants = None if self.instants is None else self.instants[windows]
        return KeyWindows(self.owners[windows], self.highs[windows], self.ends[windows], instants)

    def answers(
        self, starts: np.ndarray, windows: np.ndarray, slots: np.ndarray, partials: Sequence[Fields]
    ) -> Answers | None:
        """The answers of the groups in `slots`, each in the window at its place of `windows`; None if all are empty."""
        present = np.flatnonzero(partials[0]["n"])
        if not len(present):
            return None
        windows, of = windows[present], self.part(windows[present])
        count = int(np.count_nonzero(np.bincount(windows)))
        folded = tuple(take(fields, present) for fields in partials)
        return Answers(count, starts[windows], of.ends, slots[present], folded, of.highs, of.instants)


def due_key_windows(
    window: CountWindow, new: Entries, counts: KeyCounts, before: int | None, clock: int
) -> Iterator[KeyWindows]:
    """The windows to answer: after some of the `new` rows, or of every key at some instants.

    `counts` are those before the new rows, which are in order of time.
    """
    owners, times = new.partials[0]["owner"], new.partials[0]["time"]
    if window.slide_rows is not None:
        last = np.flatnonzero((new.panes + 1) % window.slide_rows == 0)
        for start in range(0, len(last), ANSWER_ROWS):
            some = last[start : start + ANSWER_ROWS]
            yield KeyWindows(owners[some], new.panes[some] + 1, times[some], None)
        return
    keys, runs = np.arange(len(counts.count)), KeyRuns(owners, times)
    if not len(keys) or (before is None and not len(new)):
        return
    assert window.slide_us is not None
    stop = window.last_ended(clock) + 1
    step = max(1, ANSWER_ROWS // len(keys))
    for start in range(window.last_ended(int(times[0]) if before is None else before) + 1, stop, step):
        instants = window.told(window.offset_us + np.arange(start, min(start + step, stop)) * window.slide_us)
        each, until = np.tile(keys, len(instants)), np.repeat(instants, len(keys))
        begins = runs.begins(each)
        entered = runs.bound(each, until) - begins
        highs = counts.count[each] + entered
        lasts = np.append(runs.values, 0)[begins + np.maximum(entered - 1, 0)]
        ends = np.where(entered > 0, lasts, counts.last[each])
        yield KeyWindows(each, highs, ends, until).part(highs > 0)
