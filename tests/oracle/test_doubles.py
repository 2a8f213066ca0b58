"""Doubles of any size, NaN and the infinities: DuckDB says which answers are not finite, fractions what the others are."""

from __future__ import annotations

import math
from fractions import Fraction

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.local.replay import Replay

from .compare import agree, expected, like, query, rows_of
from .judge import Oracle
from .streams import Stream, streams

ODD = [math.nan, math.inf, -math.inf, 1e300, -1e300, 1e200, 1e17, -1e17, 2.0**53, 8e15, -7e15, -0.0, 5e-324]
wild = st.floats(-1e6, 1e6) | st.sampled_from(ODD)
COLUMNS = {"d": (pa.float64(), st.none() | wild)}
ORDERED = [like(f"{name}(d)") for name in ("MIN", "MAX", "COUNT")]
SPREADS = ("VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP")
SUMS = ("SUM", "AVG")


def exact(name: str, values: list[float]) -> float | None:
    """The aggregate of `values`, rounded once, infinite where a double cannot hold it."""
    if len(values) < (2 if name.endswith("_SAMP") else 1):
        return None
    if not all(map(math.isfinite, values)):
        return math.nan if name not in SUMS else math.fsum(values) if _one_sided(values) else math.nan
    total = sum(map(Fraction, values))
    if name == "SUM":
        return _rounded(total)
    mean = total / len(values)
    if name == "AVG":
        return _rounded(mean)
    squares = sum((Fraction(value) - mean) ** 2 for value in values)
    variance = _rounded(squares / (len(values) - (1 if name.endswith("_SAMP") else 0)))
    return math.sqrt(variance) if name.startswith("STDDEV") else variance


def _one_sided(values: list[float]) -> bool:
    return not {math.inf, -math.inf} <= set(values)


def _rounded(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _close(name: str, found: float | None, wanted: float | None, values: list[float]) -> bool:
    """Right to 12 digits, up to what 106 bits leave of the largest of `values` in a sum, 53 bits in a deviation."""
    if found is None or wanted is None or math.isnan(found) or math.isnan(wanted):
        return repr(found) == repr(wanted)
    largest = max(map(abs, values), default=0.0) if math.isfinite(wanted) else 0.0
    slack = largest * (1e-28 if name in SUMS else 1e-15)
    if name.startswith("VAR"):
        slack = slack * slack if slack < 1e100 else 0.0
    return math.isclose(found, wanted, rel_tol=1e-12, abs_tol=slack)


@settings(max_examples=examples(60), deadline=None)
@given(streams(COLUMNS, max_rows=25))
def test_doubles_of_any_size_give_the_rounded_exact_answer(stream: Stream):
    cases = [*ORDERED, *(like(f"{name}(d)") for name in (*SUMS, *SPREADS))]
    events, verdict = stream.events, stream.judged()
    replay = Replay(query(cases, stream), lateness=stream.lateness, ticks=events)
    oracle = Oracle(events, verdict.kept)
    held = [(stream.times[row], stream.columns["d"][1][row], came) for row, came in verdict.kept.items()]
    seen = [value for _, value, _ in held if value is not None and abs(value) < 2**53]  # larger ones leave no trace
    for (start, size), ends in zip(stream.bounds, verdict.ends(stream.window, stream.times)):
        mine = rows_of(replay.step(events.slice(start, size)))
        theirs = expected(oracle, ORDERED, stream, ends)
        agree(ORDERED, mine, theirs, (), stream.window.range_us)
        for row in mine:
            low = -math.inf if row["window_start"] is None else row["window_start"]
            end = row["window_end"]
            values = [value for time, value, came in held if low <= time < end > came and value is not None]
            for i, name in enumerate((*SUMS, *SPREADS), start=len(ORDERED)):
                wanted = exact(name, values)
                assert _close(name, row[f"a{i}"], wanted, values + seen), (
                    f"{name} of {values}: {row[f'a{i}']}, not {wanted}"
                )
