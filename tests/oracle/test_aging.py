"""AGING to the last bit: weighted sums of what each level holds alone, against fractions of the events themselves."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples

INF, NAN = math.inf, math.nan
FLOATS = [1.0, 0.1, -2.25, 1e16, -1e16, 2.0**53, 7e25, INF, -INF, NAN, 0.0]
WHOLE = [1, -3, 2**53, 2**53 + 1, -(2**60), 2**61, 0]
DECIMALS = [Decimal("0.01"), Decimal("-12345678901234567.89"), Decimal("12345678901234567.90"), Decimal("99.99")]
KINDS = {
    "DOUBLE": (pa.float64(), st.none() | st.sampled_from(FLOATS) | st.integers(-8000, 8000).map(lambda n: n / 8)),
    "BIGINT": (pa.int64(), st.none() | st.sampled_from(WHOLE) | st.integers(-9, 9)),
    "DECIMAL": (pa.decimal128(20, 2), st.none() | st.sampled_from(DECIMALS)),
}
Number = float | Fraction | None
PAIRS = [(2, 1), (6, 2), (12, 4)]  # reach and slide of each level, in seconds or rows
WEIGHTS = st.tuples(*[st.sampled_from([0.0, 1.0, 0.5, 0.1, 3.0])] * 3)


def weighed(own: list[list], weights: tuple[float, ...]) -> tuple[Fraction, Number, Number, Fraction]:
    """COUNT, SUM and AVG over the values that each level holds alone, and how large what was summed is."""
    count = total = size = Fraction(0)
    odd = 0.0
    for values, weight in zip(own, weights):
        if not weight:
            continue
        count += len(values) * Fraction(weight)
        odd += sum(weight * value for value in values if not math.isfinite(value))
        finite = [Fraction(value) for value in values if math.isfinite(value)]
        total += sum(finite) * Fraction(weight)
        size += sum(map(abs, finite)) * abs(Fraction(weight))
    if not any(own):
        return count, None, None, size
    mean = None if not count else odd / float(count) if odd else total / count
    return count, odd or total, mean, size


def agrees(found: float | None, exact: Number, size: Fraction) -> bool:
    if found is None or exact is None:
        return found is exact
    if isinstance(exact, float):
        return found == exact or (math.isnan(found) and math.isnan(exact))
    return abs(Fraction(found) - exact) <= abs(exact) / 2**51 + size / 2**100


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [False, True], ids=["in time", "in rows"])
@settings(max_examples=examples(10), deadline=None)
@given(data=st.data())
def test_each_level_is_weighed_by_its_own_stretch_before_anything_is_rounded(kind, rows, data):
    type, values = KINDS[kind]
    seconds = sorted(data.draw(st.lists(st.integers(0, 30), min_size=1, max_size=20)))
    held = data.draw(st.lists(values, min_size=len(seconds), max_size=len(seconds)))
    weights = data.draw(WEIGHTS)
    ranges, slides = (reversed(lengths) for lengths in zip(*PAIRS))
    unit = "" if rows else " SECONDS"
    levels = f"{'ROWS' if rows else 'RANGES'} {', '.join(f'{n}{unit}' for n in ranges)}"
    levels += f" SLIDES {', '.join(f'{n}{unit}' for n in slides)} AGING ({', '.join(map(str, weights))})"
    events = pa.table({"ts": pa.array(seconds, pa.timestamp("s", tz="UTC")), "x": pa.array(held, type)})
    text = f"SELECT COUNT(x) AS n, SUM(x) AS total, AVG(x) AS mean FROM events [{levels}]"
    batch = data.draw(st.integers(1, 20))
    answers = windrow.replay(text, events=events, batch_rows=batch, flush=True).to_pylist()
    assert answers
    for row in answers:
        end = row["window_row"] if rows else int(row["window_end"].timestamp())
        places = range(1, len(seconds) + 1) if rows else seconds
        own, newer = [], end + 1 if rows else end
        for reach, _ in PAIRS[: row["level"] + 1]:
            older = end - reach + (1 if rows else 0)
            inside = [value for place, value in zip(places, held) if older <= place < newer and value is not None]
            own.append(inside)
            newer = older
        count, total, mean, size = weighed(own, weights)
        if kind == "BIGINT" and any(abs(sum(values)) >= 2**63 for values, weight in zip(own, weights) if weight):
            assert row["total"] is None and row["mean"] is None
            continue
        assert agrees(row["n"], count, Fraction(0)), row
        assert agrees(row["total"], total, size), (row, own)
        assert agrees(row["mean"], mean, size if not count else size / count), (row, own)


@pytest.mark.parametrize(
    ("values", "weights", "total"),
    [
        ([1.0, 1e16, 0.0], (0.0, 1.0), 1.0),
        ([1, 2**53, 0], (0.0, 1.0), 1.0),
        ([1.0, INF, 0.0], (0.0, 1.0), 1.0),
        ([1.0, NAN, 0.0], (0.0, 1.0), 1.0),
        ([1.0, INF, 0.0], (1.0, 0.5), INF),
        ([INF, 1.0, 0.0], (1.0, 0.0), 1.0),
        ([0.1, 1e16, 0.0], (1.0, 1.0), 1e16 + 0.1),
    ],
)
def test_what_a_finer_level_holds_leaves_no_trace_in_what_a_coarser_one_adds(values, weights, total):
    events = pa.table({"ts": pa.array([1, 7, 8], pa.timestamp("s", tz="UTC")), "x": values})
    window = f"[RANGES 8 SECONDS, 4 SECONDS SLIDES 4 SECONDS, 2 SECONDS AGING ({weights[0]}, {weights[1]})]"
    answers = windrow.replay(f"SELECT SUM(x) AS total FROM events {window}", events=events).to_pylist()
    assert [row["total"] for row in answers if row["level"] == 1][-1] == total
