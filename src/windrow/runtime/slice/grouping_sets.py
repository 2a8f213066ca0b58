"""Entries of one grouping into those of several: GROUPING SETS, CUBE and ROLLUP from one fold of the events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from windrow.kernels import Kernel, concat, identity
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.groupings import plain_keys, sets_in
from windrow.plan.nodes.spaces import Key
from windrow.runtime.keys import encode_keys
from windrow.runtime.slice.entries import Lifted


def every_grouping(keys: tuple[Key, ...], of: Callable[[tuple[Key, ...]], Lifted]) -> Lifted:
    """The entries of all groupings of `keys`; `of` gives those by some of the keys."""
    plain = plain_keys(keys)
    parts = [of(tuple(plain[i] for i in chosen)) for chosen in sets_in(keys)]
    groups: list[list[pa.Array]] = [[] for _ in keys]
    owners, count = [], 0
    for number, (chosen, part) in enumerate(zip(sets_in(keys), parts)):
        own = len(part.groups[0]) if part.groups else 1
        for place, key in enumerate(plain):
            known = place in chosen and part.groups
            groups[place].append(part.groups[chosen.index(place)] if known else pa.nulls(own, key.type))
        groups[-1].append(pa.array(np.full(own, number, np.int32)))
        owners.append(part.owners + count)
        count += own
    held = [part for part in parts if len(part.starts)]
    partials = {p: concat([part.partials[p] for part in held]) for p in (held[0].partials if held else ())}
    columns = [pa.concat_arrays([_typed(part, key.type) for part in parts]) for parts, key in zip(groups, keys)]
    starts = np.concatenate([part.starts for part in parts])
    return Lifted(starts, np.concatenate(owners).astype(np.int64), keys, columns, partials)


def by_fewer_keys(fine: Lifted, keys: tuple[Key, ...], kernels: Mapping[Partial, Kernel]) -> Lifted:
    """The entries by some of the keys of `fine`, folded from its own: a phantom of the finest grouping."""
    if not len(fine.starts):
        return replace(fine, keys=keys, groups=[])
    columns = [fine.groups[fine.keys.index(key)] for key in keys]
    owners, groups = encode_keys(columns, len(fine.groups[0]) if fine.groups else 1)
    count = len(groups[0]) if groups else 1
    starts, panes = np.unique(fine.starts, return_inverse=True)
    places, slots = np.unique(panes * count + owners[fine.owners], return_inverse=True)
    folded = {}
    for partial, fields in fine.partials.items():
        folded[partial] = identity(kernels[partial], len(places))
        kernels[partial].combine(folded[partial], slots, fields)
    return Lifted(starts[places // count], places % count, keys, groups, folded)


def repeated_rows(rows: pa.RecordBatch, keys: tuple[Key, ...]) -> pa.RecordBatch:
    """Rows with `key_0`, ..., each once for every grouping of `keys`, for windows that count them."""
    sets, plain = sets_in(keys), plain_keys(keys)
    repeated = pa.Table.from_batches([rows] * len(sets)).combine_chunks().to_batches()[0]
    columns = dict(zip(repeated.schema.names, repeated.columns))
    for place in range(len(plain)):
        own = rows.column(f"key_{place}")
        parts = [own if place in chosen else pa.nulls(len(own), own.type) for chosen in sets]
        columns[f"key_{place}"] = pa.concat_arrays([_typed(part, own.type) for part in parts])
    columns[f"key_{len(plain)}"] = pa.array(np.repeat(np.arange(len(sets), dtype=np.int32), rows.num_rows))
    return pa.record_batch(columns)


def _typed(values: pa.Array, type: pa.DataType) -> pa.Array:
    return values if values.type == type else values.cast(type)
