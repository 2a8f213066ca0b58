"""What a shard says that it has in memory is what it has: its objects are followed, and their buffers are measured."""

from __future__ import annotations

import gc
import sys
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from runtime.test_rows_in_blocks import BEGIN, SECOND, replayed
from windrow.storage.blocks import MemoryBlocks

LIMITS, BESIDE = [2_000_000, 20_000_000], 80_000
"""Beside what is counted there are objects that do not grow with rows."""

ELSEWHERE = ("windrow.plan", "windrow.language", "windrow.compile", "numba", "logging")
QUERIES = {
    "totals without bound": "SELECT id, SUM(v) AS s FROM a [RANGE UNBOUNDED SLIDE 20 SECONDS] GROUP BY id",
    "sums that forget": "SELECT id, SUM(v) AS s FROM a [RANGE 50 SECONDS SLIDE 20 SECONDS] GROUP BY id",
    "from until": "SELECT COLLECT_LIST(v) AS l FROM a [FROM id % 4000 = 0 UNTIL id % 4000 = 3999]",
    "sessions": "SELECT k, MEDIAN(v) AS m FROM a [PARTITION BY k SESSION 5 SECONDS] GROUP BY k",
    "medians": "SELECT k, MEDIAN(v) AS m FROM a [RANGE 80 SECONDS SLIDE 10 SECONDS] GROUP BY k",
    "rows by key": "SELECT k, SUM(v) AS s FROM a [PARTITION BY k ROWS 900 SLIDE 90] GROUP BY k",
    "no slide": "SELECT k, SUM(v) AS s, COUNT(*) AS n FROM a [RANGE 80 SECONDS] GROUP BY k EMIT LAST EVERY 9 SECONDS",
    "no slide, all values": "SELECT k, STDDEV(v) AS s FROM a [RANGE 20 SECONDS] GROUP BY k EMIT LAST EVERY 9 SECONDS",
    "different": "SELECT DISTINCT id, s FROM a [RANGE 60 SECONDS] EMIT LAST EVERY 9 SECONDS",
    "join": "SELECT x.id FROM a [RANGE 30 SECONDS] x JOIN b [RANGE 30 SECONDS] y ON x.id = y.id EMIT LAST EVERY 9 SECONDS",
    "rows": "SELECT id, s FROM a [RANGE 50 SECONDS] EMIT LAST EVERY 50 SECONDS",
    "clusters": "SELECT c, COUNT(*) AS n FROM a [RANGE 20 SECONDS SLIDE 5 SECONDS]"
    " CLUSTER BY v, id AS c USING C_BIRCH(200)",
}


def events(rows: int, seed: int) -> pa.Table:
    random = np.random.default_rng(seed)
    return pa.table(
        {
            "ts": pa.array(np.arange(rows) * 100 * SECOND // rows + BEGIN).cast(pa.timestamp("us", "UTC")),
            "id": np.arange(rows),
            "k": random.integers(0, 20, rows),
            "v": random.random(rows) * 1000,
            "s": [f"a text that tells rows apart, number {number}" for number in range(rows)],
        }
    )


def in_memory(root: Any) -> int:
    """The bytes of all that an object refers to, each buffer once, but for plans, code and the store."""
    seen: dict[int, Any] = {}
    buffers: dict[tuple[str, int], int] = {}
    plain, waiting = 0, [root]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type | ModuleType | FunctionType | BuiltinFunctionType | MemoryBlocks):
            continue
        seen[id(one)] = one
        if (type(one).__module__ or "").startswith(ELSEWHERE):
            continue
        if isinstance(one, np.ndarray):
            whole = one
            while isinstance(whole.base, np.ndarray):
                whole = whole.base
            buffers["numpy", whole.__array_interface__["data"][0]] = whole.nbytes
            waiting += one.ravel().tolist() if one.dtype == object else []
            waiting += [whole.base] if isinstance(whole.base, pa.Buffer | pa.Array) else []
        elif isinstance(one, pa.RecordBatch | pa.Table):
            waiting += one.columns
        elif isinstance(one, pa.ChunkedArray):
            waiting += one.chunks
        elif isinstance(one, pa.Array):
            buffers.update({("arrow", part.address): part.size for part in one.buffers() if part is not None})
        elif not isinstance(one, pa.Buffer):
            plain += sys.getsizeof(one, 0)
            waiting += [] if isinstance(one, str | int | float | bytes) else gc.get_referents(one)
    return plain + sum(buffers.values())


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", QUERIES)
def test_a_shard_has_in_memory_what_it_says(name: str, limit: int):
    given = {"a": events(20_000, 1), "b": events(20_000, 2)}
    text = QUERIES[name]
    made = replayed({"q": text}, given if " b " in text else {"a": given["a"]}, limit)
    said, most = [], 0
    for number, batch in enumerate(made.batches(1000)):
        made.step(batch)
        said.append(made.shard.bytes_in_memory)
        if number % 5 == 4:
            found = in_memory(made.shard)
            assert found <= 1.01 * said[-1] + BESIDE, number
            most = max(most, found)
    assert max(said) <= limit and most > 20_000
