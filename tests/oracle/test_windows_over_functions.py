"""Windows over what is chosen of the rows of functions that remember, beside a plain loop and DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples

from .at_instants import Drawn
from .at_instants import results as rows_of
from .judge import TIME, canonical
from .test_within_windows import KINDS, Kind, streams, wanted


class Sums:
    """Of each event with an x, how many there were of its key, and the x of the one before."""

    returns = "n BIGINT, x DOUBLE"

    def init(self) -> dict[str, Any]:
        return {"n": 0, "x": None}

    def step(self, state: dict[str, Any], event: Any) -> Iterator[tuple[int, float | None]]:
        before, state["x"] = state["x"], event.x
        if event.x is not None:
            state["n"] += 1
            yield state["n"], before


class Slides(Kind):
    def held(self, rows, until):
        for end in range(2, until + 12, 2):
            yield end, (end - 6, end), [row for time, row, _ in rows if end - 6 <= time < end]


OVER = {
    "slides": Slides("[RANGE 6 MICROSECONDS SLIDE 2 MICROSECONDS]"),
    **{kind: KINDS[kind] for kind in ("cumulate", "calendar", "levels", "sessions", "sessions by key", "rows by key")},
    "pairs by key": KINDS["pairs by key"],
}
"""Windows to which it makes no difference in which order events of one instant come, or those of several keys."""

FUNCTION = "sums(TABLE a PARTITION BY k)"
CHOSEN = {
    "columns": f"(SELECT k, n, x FROM {FUNCTION}) AS e",
    "rows": f"(SELECT x, k, n FROM {FUNCTION} AS f WHERE n > 1) AS e",
    "rows of rows": f"(SELECT f.k, n, f.x FROM (SELECT * FROM {FUNCTION} WHERE n > 1) AS f) AS e",
    "a name": "named AS e",
}
QUERIES = {
    "groups": "SELECT k, COUNT(*) AS c, SUM(n) AS s, MAX(x) AS m FROM {a} GROUP BY k",
    "all": "SELECT COUNT(*) AS c, SUM(n) AS s FROM {a} HAVING COUNT(*) > 1",
    "events": "SELECT e.k, e.x FROM {a} WHERE n < 4",
    "numbered": "SELECT k, n FROM {a} QUALIFY RANK() OVER (PARTITION BY k ORDER BY n DESC) = 1",
}


def stepped(events: pa.Table, least: int) -> pa.Table:
    """The rows of the function, by a loop over the events in order of time; those of n from `least` on."""
    states: dict[object, dict] = {}
    found = []
    rows = events.append_column("us", events["ts"].cast(pa.int64())).to_pylist()
    for row in sorted(rows, key=lambda row: row["us"]):
        state = states.setdefault(row["k"], {"n": 0, "x": None})
        before, state["x"] = state["x"], row["x"]
        if row["x"] is not None:
            state["n"] += 1
            found.append((row["us"], row["k"], before, state["n"]))
    columns = list(zip(*[row for row in found if row[-1] >= least])) or [()] * 4
    types = (pa.int64(), pa.string(), pa.float64(), pa.int64())
    arrays = [pa.array(column, type) for column, type in zip(columns, types)]
    return pa.table([arrays[0].cast(TIME), *arrays[1:]], ["ts", "k", "x", "n"])


@pytest.mark.one_in(8)
@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("chosen", CHOSEN)
@pytest.mark.parametrize("kind", OVER)
@settings(max_examples=examples(6), deadline=None)
@given(st.data())
def test_a_window_is_over_what_is_chosen_of_the_rows_of_a_function(kind, chosen, query, data: st.DataObject):
    window, drawn = OVER[kind], data.draw(streams(OVER[kind]))
    drawn = Drawn({"a": drawn.tables["a"]}, drawn.batch_rows, drawn.restarts)
    source, name = CHOSEN[chosen].rsplit(" AS ", 1)
    text = QUERIES[query].format(a=f"{source} {window.text} AS {name}")
    if chosen == "a name":
        text = f"WITH named AS (SELECT k, n, x FROM {FUNCTION}) {text}"
    told = list(rows_of(text, drawn, functions={"sums": Sums}))
    rows = stepped(drawn.tables["a"], 2 if "rows" in chosen else 1)
    expected = {}
    if rows.num_rows:
        expected = wanted(
            QUERIES[query].replace("{a}", "{a} AS e"), window, Drawn({"a": rows}, None, False), {"a": "a"}
        )
    found: dict[tuple, int] = {}
    for row in told:
        values = tuple(map(canonical, row.values()))
        found[values] = found.get(values, 0) + 1
    assert found == expected
