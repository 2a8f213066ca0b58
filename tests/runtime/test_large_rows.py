"""Rows that are larger than a block of state: they are kept whole, and a limit that they exceed is named."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

import windrow
from windrow.errors import MemoryLimitError
from windrow.windows.log import BLOCK_BYTES

from .core import SECOND, Core, events_of, plan_of

TEXTS = [letter * (BLOCK_BYTES + number) for number, letter in enumerate("bdace")]
WINDOW = "[RANGE 2 SECONDS SLIDE 1 SECOND]"
ANSWERS = {
    f"SELECT MAX(s) AS a FROM ticks {WINDOW}": max,
    f"SELECT LAST(s) AS a FROM ticks {WINDOW}": lambda texts: texts[-1],
    f"SELECT COLLECT_LIST(s) AS a FROM ticks {WINDOW}": list,
    "SELECT k, MIN(s) AS a FROM ticks [PARTITION BY k ROWS 2 SLIDE 1] GROUP BY k": min,
    "SELECT LAST(s) AS a FROM ticks [ROWS 2 SLIDE 1]": lambda texts: texts[-1],
}


def events() -> pa.Table:
    """One row a second."""
    return events_of([number * SECOND for number in range(len(TEXTS))], k=pa.array([1] * len(TEXTS)), s=pa.array(TEXTS))


@pytest.mark.parametrize("text", ANSWERS)
def test_a_row_larger_than_a_block_is_answered(text):
    found = windrow.replay(text, ticks=events(), batch_rows=1)["a"].to_pylist()
    windows = [TEXTS[max(0, last - 1) : last + 1] for last in range(len(TEXTS))]
    assert [answer in map(ANSWERS[text], windows) for answer in found] == [True] * len(found)
    assert found[1:3] == [ANSWERS[text](window) for window in windows[1:3]]


def test_rows_that_exceed_the_limit_are_refused_with_their_size():
    made = plan_of(["SELECT COLLECT_LIST(s) AS a FROM ticks [RANGE UNBOUNDED SLIDE 1 SECOND]"], events().schema)
    core = Core(replace(made, memory_bytes=2 * BLOCK_BYTES))
    with pytest.raises(MemoryLimitError, match=r"q0 hold \d\.\d MB in the memory of a shard, and the limit is 2\.1 MB"):
        for number in range(len(TEXTS)):
            core.step(events().slice(number, 1))
