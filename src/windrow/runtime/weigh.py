"""How many events a batch brought to a shard, and which groups had most of them: where keys are uneven, it is seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from windrow.plan.nodes.spaces import AnySpace
from windrow.runtime.keys import encode_keys
from windrow.runtime.slice.rows import ROW
from windrow.runtime.slice.sessions import EVENTS

HEAVIEST = 3
"""So many groups a shard tells of in each batch."""

LOOKED_AT = 10_000
"""So many entries of a batch are looked at for whose they are: those with most events, which a heavy group has. To look
at all would cost a tenth of the batch where groups are many."""

LONGEST = 60
"""So many characters of a group's keys are told."""


@dataclass(slots=True)
class Weight:
    """`events` of a batch, and how many of them each group has, by what its keys are called.

    Several spaces may hold the same events. So a shard has as many as the one that was sent most; and of spaces with
    the same keys, the first tells of its groups.
    """

    events: int = 0
    groups: Counter[str] = field(default_factory=Counter)
    by_space: dict[str, int] = field(default_factory=dict)
    _weighed: set[tuple[str, ...]] = field(default_factory=set)

    def add(self, space: AnySpace, entries: Sequence[pa.RecordBatch]) -> None:
        """Weigh what came for a space; the times of rows that other shards hold are no entries."""
        own = [batch for batch in entries if f"{space.partials[0].name}.n" in batch.schema.names]
        if not own:
            return
        counts = np.concatenate([_counts(space, batch) for batch in own])
        self.events = max(self.events, int(counts.sum()))
        self.by_space[space.name] = int(counts.sum())
        names = tuple(key.sql.replace("`", "") for key in space.keys)
        if not names or names in self._weighed:
            return
        self._weighed.add(names)
        columns = [pa.concat_arrays([batch.column(f"key_{i}") for batch in own]) for i in range(len(names))]
        if len(counts) > LOOKED_AT:
            most = np.sort(np.argpartition(-counts, LOOKED_AT)[:LOOKED_AT])
            counts, columns = counts[most], [column.take(pa.array(most)) for column in columns]
        codes, keys = encode_keys(columns, len(counts))
        totals = np.bincount(codes, weights=counts).astype(np.int64)
        for code in np.argsort(-totals, kind="stable")[:HEAVIEST].tolist():
            values = ", ".join(f"{name} = {key[code].as_py()}" for name, key in zip(names, keys))
            self.groups[values[:LONGEST]] += int(totals[code])

    @property
    def heaviest(self) -> list[tuple[str, int]]:
        """The groups of this batch with most events, by name."""
        return heaviest(self.groups, HEAVIEST)


def heaviest(groups: Mapping[str, int], most: int) -> list[tuple[str, int]]:
    """So many groups, those with most events first; of equal ones the first by name.

    >>> heaviest({"a": 1, "c": 5, "b": 5}, 2)
    [('b', 5), ('c', 5)]
    """
    return sorted(groups.items(), key=lambda group: (-group[1], group[0]))[:most]


def _counts(space: AnySpace, batch: pa.RecordBatch) -> np.ndarray:
    """How many events each entry stands for: what was folded says it, and a row is one."""
    if ROW in batch.schema.names:
        return np.ones(batch.num_rows, np.int64)
    column = EVENTS if EVENTS in batch.schema.names else f"{space.partials[0].name}.n"
    counts: np.ndarray = batch.column(column).to_numpy().astype(np.int64)
    return counts
