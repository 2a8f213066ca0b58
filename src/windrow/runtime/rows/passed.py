"""Windows that were due, also those that hold nothing: who is told changes must know that an answer is empty now."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.plan.windows.row_window import CountWindow


@dataclass(frozen=True, slots=True)
class Passed:
    """Windows that were due: of the keys in slots `owners`, or of all rows; else as answers have it.

    `window` tells which it is where several share panes.
    """

    owners: np.ndarray | None
    ends: np.ndarray
    rows: np.ndarray | None = None
    instants: np.ndarray | None = None
    window: CountWindow | None = None

    def __len__(self) -> int:
        return len(self.ends)


class Passing:
    """A space that can tell which windows have passed. `passed` is None where nobody asks."""

    passed: list[Passed] | None = None

    def keys_of(self, windows: Passed) -> list[pa.Array]:
        """By what the rows of each of `windows` are counted apart."""
        return []

    def _pass(self, windows: Passed) -> None:
        if self.passed is not None and len(windows):
            self.passed.append(windows)
