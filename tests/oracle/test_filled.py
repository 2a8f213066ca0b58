"""FILLED_SLOPE and its kin: a value at every instant up to where the window ends, against numpy over the whole series."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.errors import QueryError

T = pa.timestamp("us", tz="UTC")
SELECTED = ", ".join(
    f"FILLED_{name}(y, ts, '{{step}} seconds') AS {name.lower()}" for name in ("SLOPE", "INTERCEPT", "R2")
)


def line(known: list[tuple[float, float | None]], until: float, step: float) -> list[float | None]:
    """Slope, intercept and R2 over every instant from the first with a value on, and before `until`, in seconds."""
    values: dict[int, list[float]] = {}
    for second, value in known:
        if value is not None:
            values.setdefault(int(second // step), []).append(value)
    if not values:
        return [None, None, None]
    instants = np.arange(min(values), int(np.ceil(until / step)))
    series, last = [], 0.0
    for instant in instants.tolist():
        last = float(np.mean(values[instant])) if instant in values else last
        series.append(last)
    if len(instants) < 2:
        return [None, None, None]
    x, y = instants * step - np.mean(instants * step), np.array(series) - np.mean(series)
    slope = float(x @ y / (x @ x))
    fit = 1.0 if not y.any() else float((x @ y) ** 2 / (x @ x) / (y @ y))
    return [slope, float(np.mean(series)) - slope * float(np.mean(instants * step)), fit]


def tells(row: dict, expected: list[float | None]) -> bool:
    found = [row["slope"], row["intercept"], row["r2"]]
    return all(a is b if a is None or b is None else a == pytest.approx(b, abs=1e-9) for a, b in zip(found, expected))


def test_silence_is_filled_to_the_end_of_the_window():
    events = pa.table({"ts": pa.array([0, 10**6, 2 * 10**6, 10**7], T), "y": [0.0, 1.0, 2.0, 9.0]})
    text = "SELECT FILLED_SLOPE(y, ts, '1 second') AS slope FROM events [RANGE 10 SECONDS SLIDE 10 SECONDS]"
    assert windrow.replay(text, events=events)["slope"].to_pylist() == [pytest.approx(0.15151515151515152)]


WINDOWS = [
    "RANGE 10 SECONDS SLIDE 5 SECONDS",
    "RANGE 7 SECONDS SLIDE 3 SECONDS",
    "RANGE UNBOUNDED SLIDE 4 SECONDS",
    "RANGE 10 SECONDS SLIDE 10 SECONDS EMIT EVERY 3 SECONDS",
    "RANGES 12 SECONDS, 4 SECONDS SLIDES 4 SECONDS, 2 SECONDS",
    "ROWS 5 SLIDE 2",
    "PARTITION BY k ROWS 3 SLIDE 1",
    "RANGE 6 SECONDS SLIDE 2 ROWS",
]


@pytest.mark.parametrize("window", WINDOWS)
@settings(max_examples=examples(8), deadline=None)
@given(data=st.data())
def test_every_instant_up_to_the_end_of_a_window_has_a_value(window, data):
    tenths = sorted(data.draw(st.sets(st.integers(0, 300), min_size=1, max_size=20)))
    count = len(tenths)
    values = data.draw(st.lists(st.none() | st.integers(-9, 9).map(float), min_size=count, max_size=count))
    keys = data.draw(st.lists(st.sampled_from("ab"), min_size=count, max_size=count))
    step = data.draw(st.sampled_from([1, 2, 0.5]))
    micros = pa.array([n * 100_000 for n in tenths], T)
    events = pa.table({"ts": micros, "y": pa.array(values, pa.float64()), "k": keys})
    by = "" if window.startswith("PARTITION") else " GROUP BY k"
    text = f"SELECT k, MIN(ts) AS first, MAX(ts) AS last, {SELECTED.format(step=step)} FROM events [{window}]{by}"
    answers = windrow.replay(text, events=events, batch_rows=data.draw(st.integers(1, count)), flush=True)
    rows = list(zip([n / 10 for n in tenths], keys, values))
    for row in answers.to_pylist():
        first, last, end = (row[name].timestamp() for name in ("first", "last", "window_end"))
        inside = [(second, value) for second, key, value in rows if key == row["k"] and first <= second <= last]
        ends = [end + 1e-6 if "ROW" in window else end]  # a window that counts rows holds its last one
        if not row.get("final", True):  # told at some multiple of 3 seconds, which the answer does not show
            ends = [n * 3.0 for n in range(12) if last < n * 3.0 < end]
        assert any(tells(row, line(inside, until, step)) for until in ends), (row, inside)


def test_a_filled_series_over_changes_is_refused_with_the_way_out():
    events = pa.table({"ts": pa.array([0, 10**6], T), "y": [0.0, 1.0]})
    with pytest.raises(QueryError, match="goes on while nothing comes") as refused:
        windrow.replay("SELECT FILLED_SLOPE(y, ts, '1 second') AS s FROM events [RANGE 10 SECONDS]", events=events)
    assert refused.value.hint
