"""Which groups are of one shard, where state is cut into several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.plan.nodes.spaces import AnySpace
from windrow.runtime.keys import encode_keys, spread


@dataclass(frozen=True, slots=True)
class Share:
    """The share of shard `number`, counted from 0, of `shards`: what map tasks send there from now on.

    Keys are spread by their hash modulo the number of shards. So where this number is multiplied, all groups of a new
    shard were in one old one: a shard is split, and nothing has to be put together.

    >>> [Share(number, 4).has([pa.array(["a", "b", "c", None])], 4).tolist() for number in (1, 3)]
    [[False, True, False, False], [True, False, True, False]]
    """

    number: int
    shards: int

    def has(self, keys: Sequence[pa.Array], rows: int) -> np.ndarray:
        """Which of some rows, with at least one key each, are of it."""
        codes, distinct = encode_keys(keys, rows)
        mine: np.ndarray = (spread(distinct, self.shards) == self.number)[codes]
        return mine

    def holds(self, space: AnySpace) -> bool:
        """Whether groups of `space` may be here: one without keys is in one shard as a whole."""
        return bool(space.spread_by) or int(space.place, 16) % self.shards == self.number
