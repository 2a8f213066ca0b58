"""The rows that a window holds, as changes: those that have come, and those that have gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.plan.nodes.emission import HAD, HAS
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.runtime.keys import encode_keys


def changed_items(query: QueryPlan, changes: pa.RecordBatch) -> pa.RecordBatch:
    """Changes whose last columns have all rows that a window holds and held, with a row for each that differs."""
    now, was = (changes.column(name) for name in ("agg_0", "was_agg_0"))
    items = pa.concat_arrays([now.flatten(), was.flatten()])
    codes = encode_keys([items], len(items))[0]
    split = len(now.flatten())
    come, gone = [], []
    for row, (new, old) in enumerate(zip(_runs(now, codes[:split], 0), _runs(was, codes[split:], split))):
        come += [(row, place) for place in _more(new, old)]
        gone += [(row, place) for place in _more(old, new)]
    told = sorted([(row, 0, place) for row, place in gone] + [(row, 1, place) for row, place in come])
    parents = pa.array([row for row, _, _ in told], pa.int64())
    has = np.array([side == 1 for _, side, _ in told], bool)
    places = np.array([place for _, _, place in told], np.int64)
    columns = {name: changes.column(name).take(parents) for name in query.emitted.names if name in changes.schema.names}
    columns |= {HAS: pa.array(has), HAD: pa.array(~has)}
    for side, mask in (("", ~has), ("was_", has)):
        taken = items.take(pa.array(places, mask=mask))
        columns |= {f"{side}item_{i}": field for i, field in enumerate(taken.flatten())}
    return pa.record_batch(
        [columns[field.name].cast(field.type) for field in query.emitted], schema=query.emitted
    )  # fmt: skip


def _runs(lists: pa.Array, codes: np.ndarray, offset: int) -> list[list[tuple[int, int]]]:
    """The items of each list: what they are, and where they stand."""
    found, at = [], 0
    for length in lists.value_lengths().fill_null(0).to_pylist():
        found.append([(int(codes[place]), offset + place) for place in range(at, at + length)])
        at += length
    return found


def _more(mine: Sequence[tuple[int, int]], theirs: Sequence[tuple[int, int]]) -> list[int]:
    """Where those of `mine` stand that `theirs` lacks, counted as often as they occur.

    >>> _more([(7, 0), (7, 1), (8, 2)], [(7, 5)])
    [1, 2]
    """
    left: Counter[Any] = Counter(code for code, _ in theirs)
    found = []
    for code, place in mine:
        if left[code]:
            left[code] -= 1
        else:
            found.append(place)
    return found
