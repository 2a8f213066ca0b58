"""Summaries of a batch merged on their way, so that no shard gets those of all map tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from windrow.clustering import kernel_of
from windrow.kernels import Kernel
from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.nodes.spaces import Space
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.payload import Payload
from windrow.storage.columns import decode, encode
from windrow.windows.entries import Entries, fields_of, joined, reduced, to_columns

FAN_IN = 8
"""At most so many summaries of a pane come to whoever merges them, once those of map tasks have been merged."""


def levels_of(shards: int) -> list[int]:
    """How many merge at each level of the tree, until no more are left than the shard that holds all takes.

    >>> levels_of(1), levels_of(8), levels_of(9), levels_of(200)
    ([], [8], [9, 2], [200, 25, 4])
    """
    levels = [shards] if shards > 1 else []
    while levels and levels[-1] > FAN_IN:
        levels.append(-(-levels[-1] // FAN_IN))
    return levels


def way_of(task: int, levels: Sequence[int]) -> int:
    """Who merges the summary of a map task at the last of `levels`; whoever merges some has the first one's number.

    >>> [way_of(task, [9, 2]) for task in (0, 1, 8, 9, 17)]
    [0, 1, 0, 0, 0]
    """
    for width in levels:
        task %= width
    return task


def merges_early(space: Space) -> bool:
    """Whether entries are merged on their way: clusterings without groups, of which one shard holds all."""
    return not space.keys and any(isinstance(partial, ClusterPartial) for partial in space.partials)


class Premerge:
    """Takes some map tasks' payloads of a batch, and gives as many summaries of each pane as if they were one task."""

    def __init__(self, plan: StagePlan) -> None:
        user = dict(plan.user_code)
        self._kernels = {
            space.name: {partial.name: kernel_of(partial, user) for partial in space.partials}
            for stream in plan.streams
            for space in stream.time_spaces
            if merges_early(space)
        }

    def merged(self, payloads: Sequence[Payload]) -> list[Payload]:
        """The same payloads, but of each space that is merged early only one."""
        given = sorted(payloads, key=lambda payload: (payload.task, payload.part))
        together: dict[tuple[int, str], list[Payload]] = {}
        for payload in given:
            if payload.name in self._kernels:
                together.setdefault((payload.shard, payload.name), []).append(payload)
        others = [payload for payload in given if payload.name not in self._kernels]
        return [*others, *(self._one(own) if len(own) > 1 else own[0] for own in together.values())]

    def _one(self, payloads: Sequence[Payload]) -> Payload:
        kernels = self._kernels[payloads[0].name]
        parts = [_entries(kernels, decode(payload.body)) for payload in payloads]
        once = reduced(list(kernels.values()), joined(parts))
        columns = to_columns(kernels, once)
        del columns["slot"]  # there is one group
        probes = [payload.probe for payload in payloads if payload.probe is not None]
        return replace(payloads[0], probe=max(probes, default=None), body=encode(columns))


def _entries(kernels: Mapping[str, Kernel], batch: pa.RecordBatch) -> Entries:
    panes = batch.column("pane").to_numpy()
    partials = tuple(fields_of(kernel, name, batch) for name, kernel in kernels.items())
    return Entries(panes, np.zeros(len(panes), np.int64), partials)
