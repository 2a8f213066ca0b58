"""What a stage sends to the shards of the next."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import pyarrow as pa

from windrow.operators.changes import Changes
from windrow.operators.packed import packed, row_column
from windrow.plan.nodes.regrouped import EVERYWHERE, LeafKey, Regrouped
from windrow.runtime.outcome import Outcome
from windrow.runtime.payload import ANSWERS, CLOCK, FLUSH, LEFT_OUT, NEWEST, Payload
from windrow.runtime.slice.scans import ROWS, by_shard
from windrow.storage.columns import encode_batch


def passed_on(payloads: Sequence[Payload], outcome: Outcome, shard: int, tells: Collection[str]) -> list[Payload]:
    """What the same shard of the next stage has to know as well.

    The clocks, that the input has ended, who was rejected, and the answers of queries that are for readers, or for
    streams of later stages: those of which it `tells`.
    """
    known = [payload for payload in payloads if payload.name == FLUSH]
    earlier = [payload for payload in payloads if payload.name in (CLOCK, NEWEST)]
    known += [replace(payload, shard=shard) for payload in earlier if payload.stream not in outcome.clocks]
    for stream, (clock, newest) in outcome.clocks.items():
        known += [Payload(shard, shard, 0, clock, CLOCK, b"", stream=stream)] if clock is not None else []
        known += [Payload(shard, shard, 0, newest, NEWEST, b"", stream=stream)] if newest is not None else []
    told = [(LEFT_OUT, batch) for batch in outcome.rejected if batch.num_rows]
    told += [(ANSWERS + query, batch) for query, batch in outcome.results if query in tells]
    return known + [
        Payload(shard, shard, part, None, name, encode_batch(batch)) for part, (name, batch) in enumerate(told)
    ]


def regrouped(
    parts: Sequence[tuple[str, Changes]], keys: Sequence[LeafKey], shard: int, shards: Sequence[int]
) -> list[Payload]:
    """The changes of the parts of `shard`, by name, to the shards of the next stage, whose keys are `keys`."""
    changed = dict(parts)
    sent: list[Payload] = []
    for number, key in enumerate(keys):
        leaf = key.leaf
        if not isinstance(leaf, Regrouped) or leaf.part not in changed or not len(changed[leaf.part]):
            continue
        rows = pa.record_batch(packed(changed[leaf.part]))
        columns = [name if (name,) == EVERYWHERE else row_column(leaf.names.index(name)) for name in key.columns]
        for to, part in by_shard(rows, columns, shards):
            body = encode_batch(part)
            sent.append(Payload(to, shard, len(sent) + 1, None, f"{ROWS}{number}", body))
    return sent
