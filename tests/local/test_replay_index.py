"""An index in replay finds what the window holds as of each batch: against a pass over all events."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windrow import Replay
from windrow.errors import QueryError, SettingsError
from windrow.indexes.choose import STRUCTURES

SECOND = 1_000_000
EVENTS = st.lists(
    st.tuples(
        st.integers(0, 60),
        st.none() | st.integers(-3, 300),
        st.sampled_from(["", "b", "a word of more than eight", "a word of more than nine", None]),
        st.integers(0, 9),
    ),
    min_size=1,
    max_size=40,
)


def table(events: list[tuple[Any, ...]]) -> pa.Table:
    times, keys, names, values = zip(*events)
    stamps = pa.array([time * SECOND for time in times], pa.timestamp("us", tz="UTC"))
    return pa.table({"ts": stamps, "k": pa.array(keys, pa.int32()), "name": pa.array(names, pa.string()), "v": values})


@settings(deadline=None)
@given(
    events=EVENTS,
    order=st.sampled_from(["k, name", "name, k"]),
    lateness=st.sampled_from([0, 5, 100]),
    batch_rows=st.integers(1, 20),
    structure=st.sampled_from([name for name in STRUCTURES if name != "hash"]),
)
def test_what_is_found_is_what_the_window_holds(
    events: list[tuple[Any, ...]], order: str, lateness: int, batch_rows: int, structure: str
) -> None:
    stream = table(events)
    text = f"CREATE INDEX found ON s [RANGE 20 SECONDS SLIDE 7 SECONDS] ({order}) INCLUDE (v)"
    replay = Replay(text, s=stream, lateness=f"{lateness} seconds", structure=structure)
    clock, timely = None, []
    for start in range(0, len(events), batch_rows):
        batch = events[start : start + batch_rows]
        timely += [event for event in batch if clock is None or event[0] >= clock]
        newest = max(event[0] for event in batch) - lateness
        clock = newest if clock is None else max(clock, newest)
        replay.step(stream.slice(start, batch_rows))
        held = [event for event in timely if clock - 20 <= event[0] < clock]
        rows = replay.scan("found")
        assert sorted(rows["v"].to_pylist()) == sorted(event[3] for event in held)
        first, second = order.split(", ")
        keys = [(rank(row[first]), rank(row[second])) for row in rows.to_pylist()]
        assert keys == sorted(keys)
        for _, k, name, _ in held[:3]:
            own = [event for event in held if event[1:3] == (k, name)]
            assert sorted(replay.lookup("found", k=k, name=name)["v"].to_pylist()) == sorted(event[3] for event in own)
        lead = {"k": (0, 240)} if first == "k" else {"name": ("a word of more than nine", "b")}
        (low, high), place = next(iter(lead.values())), 1 if first == "k" else 2
        within = [event[3] for event in held if event[place] is not None and low <= event[place] <= high]
        assert sorted(replay.scan("found", **lead)["v"].to_pylist()) == sorted(within)


def rank(value: Any) -> tuple[bool, Any]:
    return (value is not None, value if not isinstance(value, str) else value.encode())


@pytest.mark.parametrize(
    "question",
    [
        "SELECT COUNT(*) AS n, SUM(v) AS total, AVG(v) AS mean FROM found WHERE k = 1",
        "SELECT COUNT(*) AS n, MAX(v) AS most FROM found WHERE k = 99",
        "SELECT name, MIN(v) AS least FROM found WHERE k BETWEEN 1 AND 2 AND v > 3 GROUP BY name",
        "SELECT k, v FROM found WHERE 2 <= k AND name = 'b'",
        "SELECT k, v FROM found WHERE k = 99",
        "SELECT COUNT(v) AS n FROM found",
    ],
)
def test_sql_over_an_index_is_answered_as_by_duckdb(question: str) -> None:
    events = [(i, i % 4, "ab"[i % 2], i % 7) for i in range(30)]
    replay = Replay("CREATE INDEX found ON s [RANGE 20 SECONDS SLIDE 5 SECONDS] (k, name) INCLUDE (v)", s=table(events))
    replay.run()
    found = replay.scan("found")
    assert found.num_rows == 20
    expected = duckdb.connect().from_arrow(found).query("found", question).to_arrow_table().to_pylist()
    answered = replay.ask(question).to_pylist()
    plain = [
        {name: int(value) if isinstance(value, Decimal) else value for name, value in row.items()} for row in expected
    ]
    assert sorted(map(str, answered)) == sorted(map(str, plain))


def test_what_cannot_be_asked_is_told() -> None:
    stream = table([(1, 1, "b", 1), (5, 2, "b", 2)])
    replay = Replay("CREATE INDEX found ON s [RANGE 20 SECONDS SLIDE 5 SECONDS] (k, name) INCLUDE (v)", s=stream)
    assert replay.scan("found").num_rows == 0 and replay.ask("SELECT COUNT(*) AS n FROM found")["n"].to_pylist() == [0]
    replay.run()
    for key, why in (
        ({"k": 1}, "needs its whole key, and name is missing\nhint: if a range is meant, scan\\('found', k=1\\)"),
        ({"k": 1, "name": "b", "v": 2}, "'v' is in it, but not in its key"),
        ({"k": 1, "name": ("a", "b")}, "name is a range"),
        (
            {"k": "one", "name": "b"},
            "k is int32, and 'one' is no such value\nhint: the key of 'found' is k int32, name string",
        ),
        ({"k": True, "name": "b"}, "k is int32, and True is no such value"),
        ({"k": 2**40, "name": "b"}, "no such value"),
    ):
        with pytest.raises(SettingsError, match=why):
            replay.lookup("found", **key)
    for key, why in (
        ({"name": "b"}, "k is missing before name"),
        (
            {"k": (1, 2), "name": "b"},
            "only the last column that is named may be a range, and k is not .*\nhint: leave out",
        ),
        ({"k": (1, 2, 3)}, "is no range"),
    ):
        with pytest.raises(SettingsError, match=why):
            replay.scan("found", **key)
    for text, why in (
        ("SELECT 1 FROM other", "there is no index 'other'"),
        ("SELECT 1 FROM found [RANGE 5 SECONDS]", "has its window already"),
    ):
        with pytest.raises(QueryError, match=why):
            replay.ask(text)
    with pytest.raises(SettingsError, match="'v' is no aggregate"):
        replay.aggregate("found", "v", k=1)
    with pytest.raises(SettingsError, match="replays a query"):
        Replay("SELECT COUNT(*) AS n FROM s [RANGE 5 SECONDS SLIDE 5 SECONDS]", s=stream).scan("found")
    for text, why in (
        ("CREATE INDEX i ON s [RANGE 5 SECONDS] (k)", "a time window with a slide"),
        ("CREATE INDEX i ON s [RANGE 5 SECONDS SLIDE 6 SECONDS] (k)", "longer than the window"),
        ("CREATE INDEX i ON s [RANGE 5 SECONDS SLIDE 5 SECONDS] (nmae)", "did you mean name"),
        ("CREATE INDEX i ON s [RANGE 5 SECONDS SLIDE 5 SECONDS] (k) INCLUDE (k)", "only once"),
    ):
        with pytest.raises(QueryError, match=why):
            Replay(text, s=stream)
    with pytest.raises(QueryError, match=r"unknown stream 't'(.|\n)*hint: 't' is a table, and does not change"):
        Replay("CREATE INDEX i ON t [RANGE 5 SECONDS SLIDE 5 SECONDS] (k)", s=stream, tables={"t": stream})
    nested = stream.append_column("list", pa.array([[1], [2]]))
    with pytest.raises(QueryError, match="has no order"):
        Replay("CREATE INDEX i ON s [RANGE 5 SECONDS SLIDE 5 SECONDS] (list)", s=nested)
