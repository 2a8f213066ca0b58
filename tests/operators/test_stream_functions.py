"""Functions that remember give what a plain loop over the events of each key gives, whatever the batches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow
from windrow.errors import FunctionError, QueryError, SettingsError
from windrow.kernels.state_codec import StateCodec
from windrow.local.replay import Replay
from windrow.operators.function_states import ObjectStates
from windrow.runtime.shard import Shard
from windrow.storage.blocks import MemoryBlocks

SECOND = 1_000_000
LATENESS = "30 seconds"


class Rises:
    """Where x rises above all that the key had, with how many events that took."""

    returns = "x BIGINT, n BIGINT"

    def init(self) -> dict[str, Any]:
        return {"most": None, "n": 0}

    def step(self, state: dict[str, Any], event: Any) -> Iterator[tuple[int, int]]:
        state["n"] += 1
        if event.x is not None and (state["most"] is None or event.x > state["most"]):
            state["most"] = event.x
            yield (event.x, state["n"])


class RisesAtOnce:
    """The same, told of many events at once."""

    returns = "x BIGINT, n BIGINT"

    def init(self) -> dict[str, Any]:
        return {"most": np.array([-1, 0]), "n": np.int64(0)}

    def step_many(self, states: Any, keys: np.ndarray, events: pa.RecordBatch) -> Any:
        rows = []
        for place, (key, x) in enumerate(zip(keys, events["x"].to_pylist())):
            states["n"][key] += 1
            if x is not None and x > states["most"][key, 0]:
                states["most"][key, 0] = x
                rows.append((place, x, int(states["n"][key])))
        if not rows:
            return None
        where, found, count = zip(*reversed(rows))  # in any order
        return np.array(where), {"n": pa.array(count), "x": list(found)}


class Silence:
    """Tells when a key has been silent for five seconds, how many events it had, and forgets it."""

    returns = "n INT, since TIMESTAMP"

    def init(self) -> list[int]:
        return [0, 0, False]

    def step(self, state: list[int], event: Any) -> None:
        state[0] += 1
        state[1] = event.time_us

    def wake(self, state: list[int]) -> int | None:
        return state[1] + 5 * SECOND

    def on_clock(self, state: list[int], time_us: int) -> dict[str, Any]:
        assert time_us == state[1] + 5 * SECOND
        state[2] = True
        return {"since": np.datetime64(state[1], "us").item(), "n": state[0]}

    def done(self, state: list[int]) -> bool:
        return bool(state[2])


Events = list[tuple[int, str | None, int | None]]
EVENTS = st.lists(
    st.tuples(st.integers(0, 25), st.sampled_from(["a", "b", None]), st.none() | st.integers(0, 9)), max_size=30
)


def table_of(events: Events) -> pa.Table:
    times = pa.array([time * SECOND for time, _, _ in events], pa.int64()).cast(pa.timestamp("us", tz="UTC"))
    keys, values = pa.array([key for _, key, _ in events], pa.string()), pa.array([x for *_, x in events], pa.int64())
    return pa.table({"ts": times, "k": keys, "x": values})


def in_order(events: Events) -> Events:
    return sorted(events, key=lambda event: event[0])


def rises_of(events: Events) -> list[tuple[Any, ...]]:
    most: dict[str | None, int] = {}
    count: dict[str | None, int] = {}
    found = []
    for time, key, x in in_order(events):
        count[key] = count.get(key, 0) + 1
        if x is not None and x > most.get(key, -1):
            most[key] = x
            found.append((time, key, x, count[key]))
    return found


def silences_of(events: Events) -> list[tuple[Any, ...]]:
    """Of each key the runs whose end is at least five seconds before the last event of all."""
    found = []
    for key in dict.fromkeys(key for _, key, _ in events):
        own = [time for time, k, _ in in_order(events) if k == key]
        last = max(time for time, _, _ in events)
        runs: list[list[int]] = []
        for time in own:
            if runs and time < runs[-1][-1] + 5:
                runs[-1].append(time)
            else:
                runs.append([time])
        found += [(run[-1] + 5, key, len(run), run[-1]) for run in runs if run[-1] + 5 <= last]
    return sorted(found, key=lambda row: row[0])


def replayed(text: str, events: Events, sizes: list[int], functions: dict[str, type]) -> list[dict[str, Any]]:
    """All rows of a query; after each batch the shard is opened anew from what it has saved."""
    replay = Replay(text, s=table_of([]), functions=functions, lateness=LATENESS)
    batches, rows = [*np.split(np.arange(len(events)), np.cumsum(sizes))], []
    for batch in batches:
        outcome = replay.work_off({"s": table_of([events[i] for i in batch])})[0]
        rows += [row for table in outcome.values() for row in table.to_pylist()]
        replay.shard = Shard(replay.plan, replay.blocks, replay.shard.save())
    last = replay.run_all(flush=True)
    return rows + last["query"].to_pylist()


def seconds(instant: Any) -> int:
    return int(instant.timestamp())


@given(EVENTS, st.lists(st.integers(0, 12), max_size=4))
def test_rows_are_those_of_a_loop_whatever_the_batches(events: Events, sizes: list[int]) -> None:
    for function in (Rises, RisesAtOnce):
        rows = replayed("SELECT * FROM rises(TABLE s PARTITION BY k)", events, sizes, {"rises": function})
        told = [(seconds(row["time"]), row["k"], row["x"], row["n"]) for row in rows]
        assert told == rises_of(events)


@given(EVENTS, st.lists(st.integers(0, 12), max_size=4))
def test_keys_are_woken_at_their_time(events: Events, sizes: list[int]) -> None:
    rows = replayed("SELECT * FROM silence(s PARTITION BY k)", events, sizes, {"silence": Silence})
    told = [(seconds(row["time"]), row["k"], row["n"], seconds(row["since"])) for row in rows]
    assert told == sorted(told, key=lambda row: row[0])
    assert sorted(told, key=repr) == sorted(silences_of(events), key=repr)


def test_without_keys_all_events_are_told_to_one_state() -> None:
    events: Events = [(1, "a", 1), (2, "b", 3), (3, "a", 2), (4, None, 5)]
    rows = windrow.replay("SELECT x, n FROM rises(s)", s=table_of(events), functions={"rises": Rises}, flush=True)
    assert rows["n"].to_pylist() == [1, 2, 4]


def test_rows_are_events_of_a_stream() -> None:
    """Windows, other functions and plain queries read them; and a function may be told the answers of windows."""
    events: Events = [(t, "ab"[t % 2], (t * 7) % 11) for t in range(20)]
    queries = {
        "window": "SELECT k, COUNT(*) AS n FROM rises(s PARTITION BY k) [RANGE 10 SECONDS SLIDE 10 SECONDS] GROUP BY k",
        "named": "SELECT SUM(x) AS x FROM rises [RANGE 20 SECONDS SLIDE 20 SECONDS]",
        "again": "SELECT r.x, n FROM rises(TABLE rises PARTITION BY k) AS r WHERE n > 1",
        "answers": """SELECT * FROM rises(TABLE (SELECT k, SUM(x) AS x FROM s [RANGE 5 SECONDS SLIDE 5 SECONDS]
                      GROUP BY k) PARTITION BY k)""",
        "below": "SELECT * FROM rises(TABLE (SELECT k, -x + 10 AS x FROM s WHERE x > 2) PARTITION BY k)",
        "joined": "SELECT r.k, name FROM rises(s PARTITION BY k) AS r JOIN names ON names.k = r.k",
    }
    found = windrow.replay(
        queries,
        s=table_of(events),
        tables={"names": pa.table({"k": ["a"], "name": ["ann"]})},
        derived={"rises": "SELECT * FROM rises(TABLE s PARTITION BY k)"},
        functions={"rises": Rises},
        batch_rows=7,
        flush=True,
    )
    rises = rises_of(events)
    counted = {(t // 10 * 10 + 10, k): sum((r[0] // 10, r[1]) == (t // 10, k) for r in rises) for t, k, *_ in rises}
    window = {(seconds(row["window_end"]), row["k"]): row["n"] for row in found["window"].to_pylist()}
    assert window == counted
    assert found["named"]["x"].to_pylist() == [sum(x for _, _, x, _ in rises)]
    again = rises_of([(t, k, x) for t, k, x, _ in rises])
    assert [(row["x"], row["n"]) for row in found["again"].to_pylist()] == [(x, n) for *_, x, n in again if n > 1]
    below = rises_of([(t, k, 10 - x) for t, k, x in events if x is not None and x > 2])
    assert [(row["k"], row["x"], row["n"]) for row in found["below"].to_pylist()] == [row[1:] for row in below]
    assert found["joined"].num_rows == sum(k == "a" for _, k, *_ in rises)
    sums: dict[tuple[int, str], int] = {}
    for t, k, x in events:
        sums[t // 5 * 5 + 5, k or ""] = sums.get((t // 5 * 5 + 5, k or ""), 0) + (x or 0)
    told = rises_of([(end, k, x) for (end, k), x in sums.items()])
    found_rows = sorted((row["k"], row["x"], row["n"]) for row in found["answers"].to_pylist())
    assert found_rows == sorted((k, x, n) for _, k, x, n in told)


def test_keys_that_are_done_are_forgotten() -> None:
    count = 9000
    table = pa.table(
        {
            "ts": pa.array(np.arange(count) * SECOND).cast(pa.timestamp("us", tz="UTC")),
            "k": pa.array([f"key {i}" for i in range(count)]),
            "x": pa.array(np.arange(count)),
        }
    )
    replay = Replay("SELECT * FROM silence(s PARTITION BY k)", s=table, functions={"silence": Silence})
    rows = replay.run(batch_rows=1000, flush=True)
    assert rows["n"].to_pylist() == [1] * (count - 5)
    assert sum(len(block) for block in replay.blocks._blocks.values()) < 100_000


def test_keys_that_come_and_go_leave_no_weight_behind() -> None:
    """What they take counts against the memory of a worker: a key that is forgotten takes nothing."""
    states = ObjectStates(StateCodec("function", object(), FunctionError), "states", MemoryBlocks(), None)
    seen = []
    for version in range(1, 5):
        states.get(0)
        states.put(0, [1, 2, 3])
        states.save(version, 1)
        seen.append(states.nbytes)
        states.put(0, None)
        assert states.nbytes == 0
    assert len(set(seen)) == 1 and seen[0] > 0


class Brittle:
    """Fails with a negative x, after it has changed its state."""

    returns = "x BIGINT, n BIGINT"

    def init(self) -> dict[str, Any]:
        return {"n": 0, "sum": []}

    def step(self, state: dict[str, Any], event: Any) -> tuple[int, int]:
        state["n"] += 1
        state["sum"].append(event.x)
        if event.x < 0:
            raise ValueError("below 0")
        return (sum(state["sum"]), state["n"])


def test_an_event_that_a_step_fails_with_is_rejected_or_stops() -> None:
    events: Events = [(t, "ab"[t % 2], x) for t, x in enumerate([1, 2, -3, 4, 5, -6, -7, 8, 9])]

    class Rejecting(Brittle):
        errors = "reject"

    replay = Replay("SELECT * FROM brittle(s PARTITION BY k)", s=table_of([]), functions={"brittle": Rejecting})
    found, outcome = replay.work_off({"s": table_of([*events, (99, "a", 0)])})
    told = [(row["k"], row["x"], row["n"]) for row in found["query"].to_pylist()]
    assert told == [("a", 1, 1), ("b", 2, 1), ("b", 6, 2), ("a", 6, 2), ("b", 14, 3), ("a", 15, 3)]
    assert outcome.refused == 3
    failed = r"stream function 'brittle': step failed: ValueError: below 0; the event is of .*, and errors='reject'"
    with pytest.raises(FunctionError, match=failed):
        windrow.replay("SELECT * FROM brittle(s)", s=table_of(events), functions={"brittle": Brittle}, flush=True)


def made(**methods: Any) -> type:
    return type("Made", (), {"returns": "x BIGINT", "init": lambda self: {"n": 0}, **methods})


GIVEN = [
    ("y INT", [1, 2.0, None, np.int64(4), Decimal(5)], [1, 2, None, 4, 5]),
    ("y DOUBLE", [1, 2.5, 2**60 + 1, Decimal("0.5"), np.float32(3)], [1.0, 2.5, float(2**60), 0.5, 3.0]),
    ("y STRING", ["a", None, np.str_("b")], ["a", None, "b"]),
    ("y BOOLEAN", [True, np.bool_(False), None], [True, False, None]),
    ("y DECIMAL(5, 2)", [1, Decimal("2.5"), 0.25], [Decimal("1.00"), Decimal("2.50"), Decimal("0.25")]),
    ("y DATE", [date(2024, 2, 29), None], [date(2024, 2, 29), None]),
    ("y TIMESTAMP_NTZ", [5, datetime(2024, 1, 1)], [datetime(1970, 1, 1, 0, 0, 0, 5), datetime(2024, 1, 1)]),
    ("y ARRAY<INT>", [[1, 2.0], [], None], [[1, 2], [], None]),
    ("y STRUCT<a: INT, b: STRING>", [{"a": 1, "b": "x"}, None], [{"a": 1, "b": "x"}, None]),
    ("y MAP<STRING, INT>", [{"a": 1}, [("b", 2)]], [[("a", 1)], [("b", 2)]]),
]


@pytest.mark.parametrize(("returns", "values", "kept"), GIVEN)
@pytest.mark.parametrize("batch_rows", [1, 9])
def test_values_are_what_was_declared_whatever_others_a_batch_has(
    returns: str, values: list[Any], kept: list[Any], batch_rows: int
) -> None:
    function = made(returns=returns, step=lambda self, state, event: (values[event.x],))
    events: Events = [(place, "a", place) for place in range(len(values))]
    settings: dict[str, Any] = {"s": table_of(events), "functions": {"f": function}, "flush": True}
    found = windrow.replay("SELECT y FROM f(s)", batch_rows=batch_rows, **settings)
    assert found["y"].to_pylist() == kept
    named = windrow.replay(
        "SELECT y FROM f(TABLE (SELECT y, 0 AS x FROM named))".replace("f(", "again("),
        **settings
        | {"functions": {"f": function, "again": made(returns=returns, step=lambda self, state, event: (event.y,))}},
        derived={"named": "SELECT * FROM f(s)"},
    )
    assert named["y"].to_pylist() == kept, "and are told so"


@pytest.mark.parametrize(
    ("returns", "value"),
    [
        ("y INT", 1.5), ("y INT", "5"), ("y INT", 2**31), ("y BIGINT", float("nan")), ("y BOOLEAN", 7), ("y STRING", 5),
        ("y TINYINT", 300), ("y DOUBLE", "1"), ("y DECIMAL(5, 2)", Decimal("1.239")), ("y ARRAY<INT>", [1.5]),
        ("y ARRAY<INT>", ["1"]), ("y STRUCT<a: INT>", {"b": 1}), ("y DATE", "2024-01-01"), ("y BINARY", "text"),
    ],
)  # fmt: skip
def test_no_value_is_cut_to_what_was_declared(returns: str, value: Any) -> None:
    function = made(returns=returns, step=lambda self, state, event: (value if event.x == 2 else None,))
    events: Events = [(place, "a", place) for place in range(4)]
    message = f"stream function 'f': what it gives for 'y' is no .*: {re.escape(repr(value))}$"
    with pytest.raises(FunctionError, match=message):
        windrow.replay("SELECT y FROM f(s)", s=table_of(events), functions={"f": function}, flush=True)


def test_columns_have_their_names_also_where_python_has_other_plans_for_them() -> None:
    names = ["class", "_y", "names", "count", "_fields"]
    events = pa.table(
        {"ts": pa.array([1], pa.timestamp("s", tz="UTC")), **{name: [place] for place, name in enumerate(names)}}
    )
    function = made(
        returns="x ARRAY<INT>", step=lambda self, state, event: ([getattr(event, name) for name in names[:-1]],)
    )
    found = windrow.replay("SELECT x FROM f(s)", s=events, functions={"f": function}, flush=True)
    assert found["x"].to_pylist() == [[0, 1, 2, 3]]


def test_what_is_no_row_stops_the_query_also_where_events_are_rejected() -> None:
    function = made(step=lambda self, state, event: (1, 2), errors="reject")
    with pytest.raises(FunctionError, match=r"\(1, 2\) is no row of x"):
        windrow.replay("SELECT * FROM f(s)", s=table_of([(1, "a", 1)]), functions={"f": function}, flush=True)


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (lambda self, state, event: 7, r"7 is no row of x: give \(x,\), a list of such rows, or None"),
        (lambda self, state, event: "row", "'row' is no row of x"),
        (lambda self, state, event: (1, 2), r"\(1, 2\) is no row of x"),
        (lambda self, state, event: event.xx, "no attribute 'xx'; events have .*x.*time_us; the event is of"),
    ],
)
def test_what_a_step_cannot_give_is_told(step: Any, why: str) -> None:
    with pytest.raises(FunctionError, match=why):
        windrow.replay("SELECT * FROM f(s)", s=table_of([(1, "a", 2)]), functions={"f": made(step=step)}, flush=True)


def restarted(first: type, second: type) -> list[int]:
    """What the second class gives, which goes on from the states of the first after three events of a key."""
    text, settings = "SELECT x FROM f(TABLE s PARTITION BY k)", {"s": table_of([])}
    before = Replay(text, functions={"f": first}, **settings)
    before.work_off({"s": table_of([(second, "a", 1) for second in range(4)])})
    after = Replay(text, functions={"f": second}, blocks=before.blocks, **settings)
    after.shard = Shard(after.plan, before.blocks, before.shard.save())
    return list(after.run_all(flush=True)["query"]["x"].to_pylist())


def counts(**methods: Any) -> type:
    def step(self: Any, state: dict[str, Any], event: Any) -> tuple[int]:
        state["n"] += 1
        return (state["n"],)

    return made(**{"step": step} | methods)


def counts_at_once(**init: Any) -> type:
    def step_many(self: Any, states: Any, keys: np.ndarray, events: pa.RecordBatch) -> Any:
        states["n"] += np.bincount(keys, minlength=len(states["n"])).astype(states["n"].dtype)
        return np.array([len(keys) - 1]), [
            states["n"][keys[-1:]].astype(np.int64) + states.get("m", np.zeros(1))[:1].astype(np.int64)
        ]

    return made(init=lambda self: init, step_many=step_many)


def test_states_outlive_changes_of_their_class() -> None:
    """Who adds errors='reject' after a failure goes on with the states that there are."""
    quiet = {"wake": lambda self, state: None, "on_clock": lambda self, state, time_us: None}
    for changed in (counts(), counts(errors="reject"), counts(**quiet), counts(done=lambda self, state: False)):
        assert restarted(counts(), changed) == [4]
        assert restarted(changed, counts()) == [4]
    assert restarted(counts_at_once(n=0), counts_at_once(n=0, m=7)) == [4 + 7], "what init has now begins as it says"
    assert restarted(counts_at_once(n=0, m=7), counts_at_once(n=0)) == [4]
    assert restarted(counts_at_once(n=0), counts_at_once(n=0.0)) == [4]


@pytest.mark.parametrize(
    ("first", "second", "stored"),
    [
        (counts(), counts_at_once(n=0), "what step changes"),
        (counts_at_once(n=0), counts(), "the columns of step_many"),
        (counts_at_once(n=0, a=np.zeros(3)), counts_at_once(n=0, a=np.zeros(2)), "fixed_size_list<.*>.3. for 'a'"),
        (counts_at_once(n=0, a=np.zeros(3)), counts_at_once(n=0, a=0.0), "fixed_size_list<.*>.3. for 'a'"),
        (counts_at_once(n=0.5), counts_at_once(n=0), "double for 'n'"),
    ],
)
def test_a_class_that_cannot_go_on_with_the_states_there_are_is_told(first: type, second: type, stored: str) -> None:
    message = (
        f"stream function 'f': its states are stored as {stored}, and the class is another now: under another name"
    )
    with pytest.raises(FunctionError, match=message):
        restarted(first, second)


def gives(rows: Any) -> type:
    return made(step=lambda self, state, event: rows)


def gives_many(given: Any) -> type:
    return made(step_many=lambda self, states, keys, events: given)


def puts(**columns: Any) -> type:
    return made(step_many=lambda self, states, keys, events: states.update(columns))


def test_columns_of_states_may_be_put_in_the_place_of_others() -> None:
    def step_many(self: Any, states: Any, keys: np.ndarray, events: pa.RecordBatch) -> Any:
        states["n"] = states["n"] + np.bincount(keys, minlength=len(states["n"]))
        return np.arange(len(keys)), [states["n"][keys]]

    events: Events = [(second, "ab"[second % 2], 1) for second in range(6)]
    counted = made(step_many=step_many)
    found = windrow.replay(
        "SELECT * FROM f(TABLE s PARTITION BY k)",
        s=table_of(events),
        functions={"f": counted},
        batch_rows=2,
        flush=True,
    )
    assert found["x"].to_pylist() == [1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (gives((1, 2)), r"\(1, 2\) is no row of x"),
        (gives(["text"]), "'text' is no row of x"),
        (gives({"y": 1}), "{'y': 1} is no row of x"),
        (puts(m=np.zeros(1)), "its states are n, and step_many makes n, m of them"),
        (puts(n=np.zeros(3, np.int64)), r"puts int64\[3\] in the place of n, which is int64\[1\]"),
        (puts(n=np.zeros(1)), r"puts float64\[1\] in the place of n, which is int64\[1\]"),
        (gives(("text",)), "what it gives for 'x' is no int64"),
        (gives([(1,), ({},)]), "what it gives for 'x' is no int64"),
        (gives_many([1]), "None, or a pair"),
        (gives_many(([0], [])), "a value of x for each of its places"),
        (gives_many(([0, 0], {"x": [1]})), "a value of x for each of its places"),
        (gives_many(([0], {"y": [1]})), "a value of x for each of its places"),
        (gives_many(([7], [[1]])), "a place beyond its 1 events"),
        (gives_many((["a"], [[1]])), "are places of events"),
        (made(init=lambda self: None, step=print), "init gives None"),
        (made(init=lambda self: 1 / 0, step=print), "init failed: ZeroDivisionError"),
        (
            made(step=lambda self, s, e: None, wake=lambda self, s: 0, on_clock=print),
            "wake gives 0, which is not after",
        ),
        (made(step=lambda self, s, e: None, done=lambda self, s: 1 / 0), "done failed"),
    ],
)
def test_what_a_function_may_not_give(function: type, message: str) -> None:
    events: Events = [(1, "a", 1), (2, "b", 2)]
    with pytest.raises(FunctionError, match=message):
        windrow.replay("SELECT * FROM f(s)", s=table_of(events), functions={"f": function}, flush=True)


@pytest.mark.parametrize(
    ("name", "function", "error", "message"),
    [
        ("a b", Rises, SettingsError, "cannot be called"),
        ("tumble", Rises, SettingsError, "cannot be called"),
        ("f", Rises(), SettingsError, "is no class"),
        ("f", made(), SettingsError, "needs init, and either step or step_many"),
        ("f", made(step=print, step_many=print), SettingsError, "either step or step_many"),
        ("f", made(step=print, wake=print), SettingsError, "has wake and no on_clock"),
        ("f", made(step_many=print, errors="reject"), SettingsError, "that goes with step"),
        ("f", made(step=print, errors="ignore"), SettingsError, "none of 'stop' and 'reject'"),
        ("f", made(step=print, returns=None), SettingsError, "does not say what it returns"),
        ("f", made(step=print, returns="x y z"), SettingsError, "are no columns"),
        ("f", made(step=print, returns="x INT, X INT"), SettingsError, "are no columns"),
        ("f", made(step=print, returns="time TIMESTAMP"), SettingsError, "every row has already"),
        ("f", made(step=print, init=lambda self: object()), FunctionError, "cannot be stored"),
        ("f", made(step_many=print, init=lambda self: {"x": "text"}), FunctionError, "is no number"),
        ("f", made(step_many=print, init=lambda self: [1]), FunctionError, "needs a dict of numbers"),
    ],
)
def test_what_is_no_function(name: str, function: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        windrow.replay("SELECT * FROM f(s)", s=table_of([]), functions={name: function})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT * FROM risen(s PARTITION BY k)", "did you mean rises"),
        ("SELECT * FROM rises(t PARTITION BY k)", "unknown stream 't'"),
        ("SELECT * FROM rises(s PARTITION BY kk)", "did you mean k"),
        ("SELECT * FROM rises(s PARTITION BY k || 'x')", "has columns"),
        ("SELECT * FROM rises(s PARTITION BY x)", "also a column of PARTITION BY"),
        ("SELECT * FROM rises(s PARTITION BY k ORDER BY ts)", "in order of their time"),
        ("SELECT * FROM rises(TABLE (SELECT * FROM s [RANGE 1 MINUTE]) PARTITION BY k)", "what changes"),
        ("SELECT COUNT(*) AS n FROM rises(s PARTITION BY k)", "needs a window"),
        ("SELECT y FROM rises(s PARTITION BY k)", "unknown column 'y'"),
        ("SELECT * FROM rises(s PARTITION BY k) EMIT DELETES", "never takes a row back"),
        ("SELECT * FROM f(TABLE hits(TABLE t PARTITION BY k) PARTITION BY k)", r"TABLE \(SELECT \* FROM hits\("),
    ],
)
def test_what_no_call_can_be(text: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        windrow.replay(text, s=table_of([]), functions={"rises": Rises})


def test_a_state_that_becomes_what_cannot_be_stored_is_told_by_the_name_of_its_function() -> None:
    class Opens:
        returns = "n BIGINT"

        def init(self) -> dict[str, Any]:
            return {"kept": 0}

        def step(self, state: dict[str, Any], event: Any) -> None:
            state["kept"] = open  # what a checkpoint cannot keep

    events = pa.table({"ts": pa.array([1], pa.timestamp("s", tz="UTC")), "k": ["a"]})
    with pytest.raises(FunctionError, match=r"stream function 'opens'.*cannot be stored"):
        windrow.replay("SELECT n FROM opens(TABLE s PARTITION BY k)", s=events, functions={"opens": Opens}, flush=True)
