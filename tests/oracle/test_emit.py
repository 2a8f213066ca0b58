"""EMIT CHANGES over windows that slide: what was sent so far adds up to the newest answer."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.errors import QueryError
from windrow.local.replay import Replay, replay

from .judge import plain_rows
from .streams import Stream, streams

COLUMNS = {
    "k": (pa.string(), st.sampled_from(["a", "b", "c", None])),
    "x": (pa.float64(), st.sampled_from([1.0, -0.0, 0.0, 2.5, float("nan"), None])),
}
TEXTS = (
    "SELECT k, COUNT(*) AS n, SUM(x) AS total FROM ticks {} GROUP BY k",
    "SELECT k, COUNT(*) > 1 AS many FROM ticks {} GROUP BY k HAVING COUNT(x) > 0",
    "SELECT COUNT(*) AS n, MAX(x) AS top FROM ticks {} WHERE k IS NOT NULL",
)


def rows_of(stream: Stream, text: str) -> list[dict]:
    run = Replay(text, lateness=stream.lateness, ticks=stream.events)
    tables = [table for start, size in stream.bounds for table in run.step(stream.events.slice(start, size))]
    return [row for table in tables for row in plain_rows(table)]


@given(streams(COLUMNS), st.sampled_from(TEXTS))
@settings(max_examples=examples(60), deadline=None)
def test_changes_add_up_to_each_answer(stream: Stream, text: str):
    text = text.format(stream.window)
    whole, changes = rows_of(stream, text), rows_of(stream, text + " EMIT CHANGES")
    held: list[str] = []
    ends = {row["window_end"] for row in whole} | {row["time"] for row in changes}
    for end in sorted(ends):
        now = [row for row in changes if row["time"] == end]
        for row in now:
            values = repr({name: value for name, value in row.items() if name not in ("op", "time")})
            if row["op"] == "-":
                held.remove(values)
            else:
                held.append(values)
        due = [
            {k: v for k, v in row.items() if not k.startswith("window_")} for row in whole if row["window_end"] == end
        ]
        assert sorted(held) == sorted(map(repr, due))
        sent = [(row["op"], repr({k: v for k, v in row.items() if k not in ("op", "time")})) for row in now]
        minus, plus = ({values for op, values in sent if op == sign} for sign in "-+")
        assert not minus & plus, "equal rows were sent"


@given(streams(COLUMNS, max_rows=15))
@settings(max_examples=examples(15), deadline=None)
def test_inserts_and_deletes_are_the_halves_of_changes(stream: Stream):
    text = TEXTS[0].format(stream.window)
    both = rows_of(stream, text + " EMIT CHANGES")
    for mode, sign in (("INSERTS", "+"), ("DELETES", "-")):
        half = rows_of(stream, f"{text} EMIT {mode}")
        assert sorted(map(repr, half)) == sorted(repr(row) for row in both if row["op"] == sign)


def test_what_cannot_be_told_as_changes_is_refused():
    ticks = pa.table({"ts": pa.array([0]).cast(pa.timestamp("us", tz="UTC")), "k": ["a"]})
    text = "SELECT k, COUNT(*) AS n FROM ticks [RANGE 2 SECONDS SLIDE 1 SECOND] GROUP BY k"
    with pytest.raises(QueryError, match="an order, or a limit, is one of a whole answer"):
        replay(f"{text} ORDER BY n EMIT CHANGES", ticks=ticks)
    with pytest.raises(QueryError, match="without SLIDE each row changes the answer"):
        replay("SELECT COUNT(*) AS n FROM ticks [ROWS 4] EMIT SNAPSHOT", ticks=ticks)
    with pytest.raises(QueryError, match="unknown column 'window_end'"):
        replay("SELECT window_end, COUNT(*) AS n FROM ticks [RANGE 2 SECONDS SLIDE 1 SECOND] EMIT CHANGES", ticks=ticks)
