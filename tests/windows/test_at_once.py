"""Many windows that are folded at once hold the same bits as one after the other."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.kernels import Fields, Rows, identity
from windrow.plan.nodes.aggregates import Partial
from windrow.storage import chunks
from windrow.storage.blocks import MemoryBlocks
from windrow.windows import log, ranges, refold, running
from windrow.windows.entries import Entries

from .folds import COUNT, LARGEST, SUM, TRAIL, Bench, Measure

FIRST = -(1 << 62)
REALS = Measure(Partial("float_sum", "x", pa.float64()), "SUM", pa.float64())
DECIMALS = Measure(Partial("decimal_sum", "x", pa.decimal128(21, 2)), "SUM", pa.decimal128(31, 2))
TRUTHS = Measure(Partial("truth", "x", pa.bool_()), "BOOL_AND", pa.bool_())
REVERSIBLE = (COUNT, SUM, REALS, DECIMALS, TRUTHS)
ODD = [1e300, -1e300, 0.1, 1e-9, 2.0**53, float("nan"), float("inf"), -float("inf"), 3.0, -7.25]
"""Sums of floats depend on the order of their values in the last bits, and on what has left."""


def entries_of(measures: tuple[Measure, ...], rows: list[tuple[int, int, int]]) -> Entries:
    panes, slots, drawn = (np.array([row[i] for row in rows], np.int64) for i in range(3))
    partials = []
    for measure in measures:
        values = {REALS: np.array(ODD)[drawn], TRUTHS: drawn > 4}.get(measure, drawn)
        given = None if measure is COUNT else pa.array(values).cast(measure.partial.type)
        fields = identity(measure.kernel, len(rows))
        measure.kernel.lift(fields, np.arange(len(rows)), Rows(given, panes))
        partials.append(fields)
    return Entries(panes, slots, tuple(partials))


def bits(fields: Fields, window: slice) -> list[bytes | list[object]]:
    """What a window holds, told apart even where NaN would be no NaN."""
    columns = (np.ascontiguousarray(column[window]) for column in fields.values())
    return [column.tolist() if column.dtype == object else column.tobytes() for column in columns]


@pytest.mark.parametrize("way", ["subtract", "accumulate", "settle", "tree", "spans", "refold"])
@settings(max_examples=examples(60), deadline=None)
@given(
    rows=st.lists(
        st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(0, 9)), max_size=12),
        min_size=1,
        max_size=6,
    ),
    steps=st.lists(st.integers(1, 14), min_size=6, max_size=6),
    count=st.integers(1, 12),
    slide=st.sampled_from([1, 1, 2, 5, 15]),
    size=st.sampled_from([2, 9, 1 << 18]),
    reopen=st.booleans(),
)
def test_windows_folded_at_once_hold_the_bits_of_each_by_itself(way, rows, steps, count, slide, size, reopen):
    measures = {"subtract": REVERSIBLE}.get(way, (*REVERSIBLE, LARGEST, TRAIL))
    ruled = None if way in ("accumulate", "settle") else count
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log, "BLOCK_ENTRIES", 4)
        patch.setattr(chunks, "CHUNK", 4)
        patch.setattr(ranges, "SPANS", size)
        for module in (refold, running):
            patch.setattr(module, "AT_ONCE", size)
        patch.setattr(running, "MUCH", size)
        single, together = (Bench(way, measures, ruled, MemoryBlocks()) for _ in range(2))
        closed, width = 0, 1
        for batch, ahead in zip(rows, steps):
            batch = [(closed + pane, slot, value) for pane, slot, value in batch]
            width = max([width, *(slot + 1 for _, slot, _ in batch)])
            stops = [stop for stop in range(closed + 1, closed + ahead + 1) if stop % slide == 0]
            for bench in (single, together):
                if batch:
                    bench.log.add(entries_of(measures, batch))
                bench.fold.close(closed + ahead)
            windows = [range(FIRST if ruled is None else stop - count, stop) for stop in stops]
            wanted = [
                [bits(fields, slice(0, width)) for fields in single.fold.answer(panes, width)] for panes in windows
            ]
            found = together.fold.answers(windows, width) if windows else []
            for place, held in enumerate(wanted):
                own = slice(place * width, (place + 1) * width)
                assert [bits(fields, own) for fields in found] == held, f"{way} over {windows[place]}"
            closed += ahead
            for bench in (single, together):
                if ruled is not None:
                    bench.fold.drop(closed + 1 - count)
                    bench.log.drop(closed + 1 - count)
                if reopen:
                    bench.reopen(adopt=False)
