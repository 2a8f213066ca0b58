"""MEDIAN and COUNT(DISTINCT) over a million rows."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pyarrow as pa

import windrow
from windrow.kernels import Rows, identity
from windrow.kernels.ordered_values import OrderedValues

from .size import Size


def ordered(size: Size) -> list[dict[str, Any]]:
    """MEDIAN of a million rows that slide by 100, and COUNT(DISTINCT) of a million rows with 100,000 values."""
    random, width, slides = np.random.default_rng(4), size.of(5_000, 1_000_000, 1_000_000), size.of(20, 100, 1000)
    values = random.normal(100, 15, width + 100 * slides)
    kernel, slot = OrderedValues(pa.float64()), np.zeros(1, np.int64)

    def pane(low: int, high: int):
        partials = identity(kernel, 1)
        kernel.lift(partials, np.zeros(high - low, np.int64), Rows(pa.array(values[low:high]), np.arange(low, high)))
        return partials

    window, found = pane(0, width), []
    kernel.combine(window, slot, pane(width, width + 100))
    kernel.remove(window, slot, pane(width, width + 100))
    kernel.lower(window, "MEDIAN", pa.float64())
    began = time.perf_counter()
    for low in range(0, 100 * slides, 100):
        kernel.combine(window, slot, pane(low + width, low + width + 100))
        kernel.remove(window, slot, pane(low, low + 100))
        found.append(kernel.lower(window, "MEDIAN", pa.float64()).values[0].as_py())
    mine = (time.perf_counter() - began) / slides
    began, repeats = time.perf_counter(), 20
    for low in range(100, 100 * repeats + 1, 100):
        median = np.median(values[low : low + width])
        assert median == found[low // 100 - 1]
    theirs = (time.perf_counter() - began) / repeats
    question = f"Order statistics of {width:,} rows"
    cases = [
        {"question": question, "aggregate": "MEDIAN, sliding by 100", "us a slide": 1e6 * mine,
         "numpy us": 1e6 * theirs, "times faster": theirs / mine, "events/s": 100 / mine}
    ]  # fmt: skip
    rows = size.of(10_000, 2_000_000, 4_000_000)
    for name, query, column in (
        ("MEDIAN, in replay", "MEDIAN(x)", random.normal(100, 15, rows)),
        ("COUNT(DISTINCT), in replay", "COUNT(DISTINCT x)", random.integers(0, 100_000, rows)),
    ):
        events = pa.table({"ts": pa.array(np.arange(rows) * 1000, pa.timestamp("us", "UTC")), "x": column})
        text = f"SELECT {query} AS a FROM events [RANGE {width // 1000} SECONDS SLIDE 1 SECOND]"
        windrow.replay(text, events=events.slice(0, 20_000))
        began = time.perf_counter()
        answers = windrow.replay(text, events=events, batch_rows=100_000)
        taken = time.perf_counter() - began
        last = column[rows - 1000 - width : rows - 1000] if answers.num_rows == rows // 1000 - 1 else column[-width:]
        expected = np.median(last) if "MEDIAN" in name else len(np.unique(last))
        assert answers["a"][-1].as_py() == expected, (answers["a"][-1], expected)
        cases.append(
            {"question": question, "aggregate": name, "us a slide": 1e6 * taken / answers.num_rows, "numpy us": None,
             "times faster": None, "events/s": rows / taken}
        )  # fmt: skip
    return cases
