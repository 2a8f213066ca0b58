"""Answers that differ by rounding alone are no changes: variances and regressions, against fractions, in any cut."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples

from .judge import TIME, plain_rows

ASKED = (
    "VAR_SAMP(y) AS var, STDDEV_POP(y) AS dev, COVAR_POP(y, x) AS cov, REGR_SLOPE(y, x) AS slope,"
    " REGR_INTERCEPT(y, x) AS line, CORR(y, x) AS corr, COUNT(*) AS n"
)
NAMES = ("var", "dev", "cov", "slope", "line", "corr", "n")
Row = tuple[int, float, float]


def table(rows: list[Row]) -> pa.Table:
    times, ys, xs = zip(*rows)
    return pa.table({"ts": pa.array(times, pa.int64()).cast(TIME), "y": list(ys), "x": list(xs)})


def exact(rows: list[Row]) -> tuple[Fraction, ...]:
    """What all answers are drawn from, without rounding."""
    n = len(rows)
    ys, xs = ([Fraction(row[i]) for row in rows] for i in (1, 2))
    y, x = sum(ys, Fraction()) / n, sum(xs, Fraction()) / n
    moments = [
        [(a - mean) * (b - other) for a, b in zip(one, two)]
        for one, mean, two, other in ((ys, y, ys, y), (xs, x, xs, x), (ys, y, xs, x))
    ]
    return Fraction(n), y, x, *(sum(products, Fraction()) for products in moments)


numbers = st.sampled_from([0.1, 0.7, 1.3, 2.9, 1e-3, 1e3 / 7, -5.5, 12345.678])


@settings(max_examples=examples(8), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 40), numbers, numbers), min_size=2, max_size=20),
    st.sampled_from([None, 1, 2, 3, 7]),
    st.sampled_from(["[RANGE 9 MICROSECONDS]", "[RANGE 9 MICROSECONDS SLIDE 1 MICROSECOND]"]),
)
@example([(time, 0.1 * (time % 3), 0.3 * (time % 3)) for time in range(24)], 2, "[RANGE 9 MICROSECONDS]")
def test_a_change_is_told_only_where_the_answer_without_rounding_changes(rows: list[Row], batch, window: str):
    rows = sorted(rows)
    slides = "SLIDE" in window
    text = f"SELECT {ASKED} FROM ticks {window}" + (" EMIT CHANGES" if slides else "")
    told = plain_rows(windrow.replay(text, ticks=table(rows), batch_rows=batch, flush=True))
    held: Counter = Counter()
    before: tuple[Fraction, ...] | None = None
    for instant in range(60):
        low, high = (instant - 9, instant) if slides else (instant - 8, instant + 1)
        inside = [row for row in rows if low <= row[0] < high]
        now = exact(inside) if inside else None
        due = [row for row in told if row["time"] == instant]
        assert not (due and now == before)
        for row in due:
            values = tuple(repr(row[name]) for name in NAMES)
            held[values] += 1 if row["op"] == "+" else -1
        assert all(count in (0, 1) for count in held.values())  # what goes is what came, bit for bit
        shown = [values for values, count in held.items() if count]
        assert len(shown) == (now is not None) or (slides and instant > rows[-1][0] + 9)
        if now is not None:
            n, _, _, yy, _, _ = now
            assert int(shown[0][-1]) == n
            assert float(shown[0][1]) == pytest.approx(float(yy / n) ** 0.5, rel=1e-9, abs=1e-9)
        before = now


@settings(max_examples=examples(25), deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 20), st.floats(-1e9, 1e9).filter(lambda x: not 0 < abs(x) < 1e-6)),
        min_size=1,
        max_size=25,
    ),
    st.sampled_from([None, 1, 2, 5]),
    st.sampled_from(["", " SLIDE 1 MICROSECOND", " SLIDE 3 MICROSECONDS"]),
)
def test_sums_and_means_are_rounded_once_in_any_cut(events: list[tuple[int, float]], batch, slide: str):
    rows = sorted((time, value, 0.0) for time, value in events)
    text = f"SELECT SUM(y) AS total, AVG(y) AS mean FROM ticks [RANGE 9 MICROSECONDS{slide}]"
    for row in plain_rows(windrow.replay(text, ticks=table(rows), batch_rows=batch, flush=True)):
        if row.get("op") != "-":
            low, high = (row["window_start"], row["window_end"]) if slide else (row["time"] - 8, row["time"] + 1)
            inside = [Fraction(value) for time, value, _ in rows if low <= time < high]
            assert row["total"] == float(sum(inside))
            assert row["mean"] == float(sum(inside)) / len(inside)


@pytest.mark.parametrize("values", [(1.5, 1.5 - 2**-40), (1e6, 1e6 + 2**-20)])
def test_what_rounding_cannot_explain_is_told(values: tuple[float, float]):
    rows = [(0, 0.0, 1.0), (1, values[0], 2.0), (10, values[1], 2.0), (10, 0.0, 1.0), (30, 0.0, 0.0)]
    told = plain_rows(
        windrow.replay("SELECT REGR_SLOPE(y, x) AS s FROM ticks [RANGE 9 MICROSECONDS]", ticks=table(rows))
    )
    assert [row["s"] for row in told if row["op"] == "+" and row["s"] is not None] == list(values)
