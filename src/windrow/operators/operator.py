"""What an operator is: changes in, changes out, and state in blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import pyarrow as pa

from windrow.operators.changes import Changes
from windrow.storage.blocks import Snapshot

Evaluate = Callable[[str, pa.RecordBatch], pa.Array]
"""A row expression, as text, over the columns that it names."""


class Operator(Protocol):
    """One step of a plan over changes. A batch of one change is the tuple-at-a-time case of the paper.

    Every input is in increasing maxTS and goes on where the last call ended; so is the output.
    """

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        """Work off changes up to `clock`: none that is older will come, so what ended by then may expire."""

    @property
    def nbytes(self) -> int:
        """What it holds in memory, which counts against the limit."""
        ...

    def save(self, version: int) -> None:
        """Write the blocks that have changed."""

    def snapshot(self) -> Snapshot:
        """All but the blocks themselves, as plain values."""


class Stateless:
    """The part of an operator that remembers nothing."""

    nbytes = 0

    def save(self, version: int) -> None:
        pass

    def snapshot(self) -> Snapshot:
        return {}
