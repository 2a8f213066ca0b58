"""What has left a window leaves no trace in its answers, however often it slides."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from windows.folds import TOTAL
from windrow.kernels import Rows, identity
from windrow.storage.blocks import MemoryBlocks
from windrow.windows.entries import Entries
from windrow.windows.log import PaneLog
from windrow.windows.running import Subtract

from .core import SECOND, Core, events_of, plan_of, rows_of

GUESTS = np.array([1e17, -1e17, 1e300, -1e300, 8e15, math.nan, math.inf, -math.inf])
UNIT = 2**20


class Walk:
    """A value each second: small ones, whose sums and squares are exact in integers, and now and then a guest."""

    def __init__(self, length: int, guests: int, seed: int = 5) -> None:
        random = np.random.default_rng(seed)
        whole = random.integers(-UNIT, UNIT, length)
        self.values = whole / UNIT
        places = random.integers(0, length, guests)
        self.values[places] = random.choice(GUESTS, guests)
        guest = np.zeros(length, np.int64)
        guest[places] = 1
        self._totals = [np.concatenate([[0], np.cumsum(column)]) for column in (guest, whole, whole**2)]

    def over(self, starts: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For the values from each of `starts` to `stops`: how many guests, the sum, and the sample variance."""
        guests, sums, squares = (total[stops] - total[starts] for total in self._totals)
        n = stops - starts
        with np.errstate(invalid="ignore", divide="ignore"):
            variances = (n * squares - sums**2) / (n * (n - 1)) / UNIT**2
        return guests, sums / UNIT, variances


def slide(length: int, reach: int, guests: int) -> None:
    """Answer every window through the shard, some hundred slides a batch, and judge those without a guest."""
    text = f"SELECT SUM(x) AS a, AVG(x) AS b, VAR_SAMP(x) AS c, STDDEV_SAMP(x) AS d FROM ticks [RANGE {reach} SECONDS SLIDE 1 SECOND]"
    walk = Walk(length, guests)
    events = events_of(np.arange(length) * SECOND, x=pa.array(walk.values))
    core, answers = Core(plan_of([text], events.schema), reopen="adopt"), []
    assert core.plan.spaces[0].folds[0].maintenance == ("subtract", "subtract", "tree")
    for start in range(0, length, 5_000):
        for outcome in core.step(events.slice(start, 5_000)):
            answers += [batch for _, batch in outcome.results]
    found = pa.Table.from_batches(answers)
    ends = found["window_end"].cast(pa.int64()).to_numpy() // SECOND
    assert ends.tolist() == list(range(1, length))
    inside, sums, variances = walk.over(np.maximum(ends - reach, 0), ends)
    calm = (inside == 0) & (ends > 1)
    assert calm.sum() > length // 20
    assert (inside > 0).sum() > length // 20
    n = np.minimum(ends, reach)
    wanted = [sums, sums / n, variances, np.sqrt(variances)]
    for i, values in enumerate(wanted):
        np.testing.assert_allclose(found[f"agg_{i}"].to_numpy()[calm], values[calm], rtol=1e-9, atol=1e-12)


def test_thousands_of_slides_leave_sums_and_variances_right():
    slide(3_000, 100, guests=60)


@pytest.mark.slow
def test_a_hundred_thousand_slides_leave_sums_and_variances_right():
    slide(100_000, 600, guests=300)


def test_a_million_panes_enter_and_leave_and_the_sum_is_right():
    """The shard's own fold and log, in strides of some hundred panes."""
    length, reach, stride = 1_000_000, 600, 437
    walk = Walk(length, guests=1_500)
    log = PaneLog("panes", {"total": TOTAL.kernel}, MemoryBlocks())
    fold = Subtract(log, "fold", MemoryBlocks())
    none = np.zeros(1, np.int64)
    judged, stop = 0, 0
    for start in range(0, length, 50_000):
        panes = np.arange(start, start + 50_000)
        fields = identity(TOTAL.kernel, len(panes))
        TOTAL.kernel.lift(fields, panes - start, Rows(pa.array(walk.values[panes]), panes))
        log.add(Entries(panes, np.zeros(len(panes), np.int64), (fields,)))
        while stop + stride <= panes[-1]:
            stop += stride
            first = max(stop - reach, 0)
            (total,) = TOTAL.lowered(fold.answer(range(stop - reach, stop), 1)[0])
            guests, sums, _ = walk.over(none + first, none + stop)
            if not guests[0]:
                assert total == pytest.approx(sums[0], rel=1e-9, abs=1e-12)
                judged += 1
        fold.drop(stop - reach)
        log.drop(stop - reach)
    assert judged > 500


@pytest.mark.one_in(3)
@pytest.mark.parametrize("guest", GUESTS.tolist(), ids=str)
def test_a_window_forgets_a_guest_within_one_slide_of_its_leaving(guest):
    text = "SELECT SUM(x) AS a, AVG(x) AS b, VAR_POP(x) AS c FROM ticks [RANGE 20 SECONDS SLIDE 1 SECOND]"
    values = [0.1, 0.2, guest, *(0.001 * i for i in range(60)), 0.0]
    events = events_of(np.arange(len(values)) * SECOND, x=pa.array(values))
    core = Core(plan_of([text], events.schema), reopen="fresh")
    rows = {
        row["window_end"] // SECOND: row for i in range(len(values)) for row in rows_of(core.step(events.slice(i, 1)))
    }
    for end in range(23, len(values)):
        inside = list(map(Fraction, values[end - 20 : end]))
        mean = sum(inside) / 20
        assert rows[end]["agg_0"] == pytest.approx(float(sum(inside)), rel=1e-12)
        assert rows[end]["agg_1"] == pytest.approx(float(mean), rel=1e-12)
        assert rows[end]["agg_2"] == pytest.approx(float(sum((x - mean) ** 2 for x in inside) / 20), rel=1e-9)
    assert math.isnan(guest) == math.isnan(rows[10]["agg_0"])
    assert math.isfinite(guest) or not math.isfinite(rows[10]["agg_0"])


def test_sums_of_integers_are_exact_and_those_that_overflow_are_null_and_counted():
    most = 2**63 - 1
    values = [most, most, -most, 5, most, 1, 2, 3, 4, 5, 6, 0]
    events = events_of(np.arange(len(values)) * SECOND, x=pa.array(values, pa.int64()))
    core = Core(
        plan_of(["SELECT SUM(x) AS a FROM ticks [RANGE 4 SECONDS SLIDE 1 SECOND]"], events.schema), reopen="fresh"
    )
    assert core.plan.spaces[0].folds[0].maintenance == ("subtract", "subtract")
    found, failed = [], []
    for i in range(len(values)):
        outcomes = core.step(events.slice(i, 1))
        found += [row["agg_0"] for row in rows_of(outcomes)]
        failed += [outcome.failed for outcome in outcomes]
    wanted = [sum(values[max(0, end - 4) : end]) for end in range(1, len(values))]
    assert found == [total if -most - 1 <= total <= most else None for total in wanted]
    assert failed == [0, *(int(not -most - 1 <= total <= most) for total in wanted)]
    assert sum(failed) == 5
