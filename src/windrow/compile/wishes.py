"""What users ask for beside their queries: by name, and with the memory and the shards that there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import pyarrow as pa

from windrow.compile.keep_rows import Keeping
from windrow.plan.memory import DEFAULT_BYTES
from windrow.plan.nodes.wanted import NOTHING, Wanted

Tables = Callable[[str], pa.Table]
"""Reads a table that does not change, by its name."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What users ask for beside their queries, and how many shards there are to ask it of.

    Without `shards` everything runs in one process, and no plan is cut into stages. `wanted` is what was asked for by
    name, of all queries; partials have `room_bytes` before rows are kept instead.
    """

    memory_bytes: int = DEFAULT_BYTES
    wanted: Wanted = NOTHING
    room_bytes: float = inf
    shards: int | None = None
    in_one: int | None = None
    """How many shards DISTRIBUTE BY may name where all of them run in one process."""

    @property
    def keeping(self) -> Keeping:
        """How it is decided what panes keep."""
        return Keeping(self.wanted.get("keep"), self.room_bytes)
