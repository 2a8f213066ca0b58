"""Lists that cannot fit into memory are refused before they begin to grow."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from runtime.core import plan_of
from windrow.compile.keep_rows import Figures
from windrow.compile.refuse_large import refuse_large
from windrow.errors import MemoryLimitError

SCHEMA = pa.schema([("ts", pa.timestamp("us", "UTC")), ("k", pa.int64()), ("x", pa.float64())])
ASSUMED, MEASURED = Figures(), Figures(rate=10_000, groups=50, measured=True)


def refused(window, call="COLLECT_LIST(x)", shards=1, figures=ASSUMED, keys="", memory_bytes=10**8):
    text = f"SELECT {keys}{call} AS a FROM ticks [{window}]" + (" GROUP BY k" if keys else "")
    plan = replace(plan_of([text], SCHEMA), memory_bytes=memory_bytes)
    try:
        refuse_large(plan, shards, figures)
    except MemoryLimitError as error:
        return str(error)
    return None


def test_as_many_rows_as_the_window_says():
    assert "q0 hold 160.0 MB" in refused("ROWS 10000000 SLIDE 100")
    assert refused("ROWS 1000000 SLIDE 100") is None
    assert refused("PARTITION BY k ROWS 10000000 SLIDE 100", keys="k, ") is None  # of a key, and there may be few rows


def test_as_many_rows_as_were_measured_and_none_that_are_only_assumed():
    assert "q0 hold 576.0 MB" in refused("RANGE 1 HOUR SLIDE 1 SECOND", figures=MEASURED)
    assert refused("RANGE 1 HOUR SLIDE 1 SECOND") is None


def test_some_shard_has_its_share():
    assert refused("RANGE 1 HOUR SLIDE 1 SECOND", figures=MEASURED, keys="k, ", shards=4) is not None
    assert refused("RANGE 1 HOUR SLIDE 1 SECOND", figures=MEASURED, keys="k, ", shards=6) is None
    assert refused("RANGE 1 HOUR SLIDE 1 SECOND", figures=MEASURED, shards=6) is not None


@pytest.mark.parametrize("call", ["SUM(x)", "MEDIAN(x)", "COLLECT_LIST(x) FILTER (WHERE x > 1)"])
def test_of_others_nobody_knows_yet(call):
    assert refused("ROWS 10000000 SLIDE 100", call, figures=MEASURED) is None
