"""How many groups there are: counted in the first events of a chunk."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windrow.plan.nodes.groupings import plain_keys
from windrow.plan.nodes.spaces import Key, Space
from windrow.plan.windows.cuts import Cuts
from windrow.runtime.slice.chunk import Chunk

SAMPLE = 1 << 15
"""So many events are looked at: enough to see whether groups are few beside events."""


class Measured:
    """About how many entries some spaces would have if their events were folded together, seen in a chunk."""

    def __init__(self, chunk: Chunk) -> None:
        self._chunk = chunk
        self._counts: dict[frozenset[Key], int] = {}
        self._stretch = int(chunk.times.max()) - int(chunk.times.min())

    def __call__(self, spaces: Sequence[Space]) -> float:
        keys = frozenset(key for space in spaces for key in plain_keys(space.keys))
        panes = Cuts.of(window for space in spaces for window in space.windows).panes_in(self._stretch)
        kinds = len({space.where for space in spaces})  # nested or apart, predicates make about as many classes
        return min(float(self._groups(keys)) * panes * kinds, float(len(self._chunk)))

    def _groups(self, keys: frozenset[Key]) -> int:
        """How many groups `keys` make together; as many as there are events if the sample has few alike."""
        if keys not in self._counts:
            sample = min(len(self._chunk), SAMPLE)
            codes, count = np.zeros(sample, np.int64), 1
            for key in sorted(keys, key=lambda key: key.sql):
                numbers, groups = self._chunk.groups((key,))
                codes = codes * len(groups[0]) + numbers[:sample]
                codes, count = _compacted(codes)
            self._counts[keys] = count if count < sample // 4 else len(self._chunk)
        return self._counts[keys]


def _compacted(codes: np.ndarray) -> tuple[np.ndarray, int]:
    known, numbers = np.unique(codes, return_inverse=True)
    return numbers, len(known)
