"""Entries: what panes hold of groups, before anything is sent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.kernels import Fields
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.spaces import Key


@dataclass(frozen=True, slots=True)
class Lifted:
    """Entry i is what the pane that begins at `starts[i]` holds of group `owners[i]`, whose keys are in `groups`.

    Where predicates differ, an entry holds only rows that pass the same ones: those that `passes[kinds[i]]` says, in
    the order of `wheres`.
    """

    starts: np.ndarray
    owners: np.ndarray
    keys: tuple[Key, ...]
    groups: list[pa.Array]
    partials: dict[Partial, Fields]
    wheres: tuple[str | None, ...] = (None,)
    kinds: np.ndarray | None = None
    passes: np.ndarray | None = None
