"""Arguments that say nothing that could be meant are refused where they stand, never left out."""

from __future__ import annotations

import pyarrow as pa
import pytest

import windrow
from windrow.errors import QueryError, SettingsError

EVENTS = pa.table({"ts": pa.array([1, 2, 3, 30], pa.timestamp("s", tz="UTC")), "x": [None, 2.0, 7.0, 1.0]})
WINDOW = "FROM events [RANGE 5 SECONDS SLIDE 5 SECONDS]"


@pytest.mark.parametrize(
    "call",
    [
        "PERCENTILE(x, 0.5, x)",
        "APPROX_COUNT_DISTINCT(x, 'junk')",
        "MAD(x, 3)",
        "MODE(x, 0.3)",
        "MEAN(x, 3)",
        "STD(x, 3)",
        "COUNT_IF(x > 1, 2)",
        "MAD()",
        "MODE()",
        "COUNT()",
    ],
)
def test_a_wrong_number_of_arguments_is_refused(call: str):
    with pytest.raises(QueryError, match="argument"):
        windrow.replay(f"SELECT {call} AS n {WINDOW}", events=EVENTS)


@pytest.mark.parametrize("lateness", ["-10 seconds", 5, None])
def test_a_lateness_is_a_length_of_time(lateness: str):
    with pytest.raises((SettingsError, QueryError), match=r"less than nothing|not a length of time"):
        windrow.replay(f"SELECT COUNT(*) AS n {WINDOW}", events=EVENTS, lateness=lateness)


@pytest.mark.parametrize("rows", [-1, 0, 1.5, "a"])
def test_batches_have_rows(rows: int):
    with pytest.raises(SettingsError, match="whole number from 1"):
        windrow.replay(f"SELECT COUNT(*) AS n {WINDOW}", events=EVENTS, batch_rows=rows)


def test_weights_are_finite():
    levels = "FROM events [RANGES 6 SECONDS, 2 SECONDS SLIDES 2 SECONDS, 2 SECONDS AGING (1, 1e400)]"
    with pytest.raises(QueryError, match="expected a weight"):
        windrow.replay(f"SELECT COUNT(*) AS n {levels}", events=EVENTS)
