"""What a stage of queries over changes sends to the shards of the next."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from windrow.operators.changes import Changes
from windrow.operators.packed import packed, row_column
from windrow.plan.nodes.change_plan import LeafKey
from windrow.plan.nodes.regrouped import Regrouped
from windrow.runtime.payload import FLUSH, Payload
from windrow.runtime.slice.changes import PROBE, ROWS, by_shard
from windrow.storage.columns import encode_batch


def passed_on(payloads: Sequence[Payload], shard: int) -> list[Payload]:
    """What the same shard of the next stage has to know as well: the clocks, and that the input has ended."""
    return [
        Payload(shard, payload.task, payload.part, payload.probe, payload.name, b"")
        for payload in payloads
        if payload.name == FLUSH or payload.name.startswith(PROBE)
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
        columns = [row_column(leaf.names.index(name)) for name in key.columns]
        for to, part in by_shard(rows, columns, shards):
            body = encode_batch(part)
            sent.append(Payload(to, shard, len(sent) + 1, None, f"{ROWS}{number}", body))
    return sent
