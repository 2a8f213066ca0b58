"""Users' aggregates over windows that slide: what they are called for is what came and went, and answers are right."""

from __future__ import annotations

from collections import Counter
from math import log2

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.errors import AggregateError
from windrow.local.replay import Replay
from windrow.runtime.shard import Shard

CALLS: Counter = Counter()


class Total:
    """Counts how often it is called."""

    returns = "BIGINT"

    def init(self):
        return 0

    def add(self, state, value):
        CALLS["add"] += 1
        return state + value

    def finish(self, state):
        return state


class Removing(Total):
    def remove(self, state, value):
        CALLS["remove"] += 1
        return state - value


class Merging(Total):
    def merge(self, state, other):
        CALLS["merge"] += 1
        return state + other


class Both(Removing):
    merge = Merging.merge


class Bag:
    """All values with how often each is there: to remove what is not there would raise."""

    returns = "STRING"

    def init(self):
        return {}

    def add(self, state, value):
        state[value] = state.get(value, 0) + 1

    def remove(self, state, value):
        state[value] -= 1
        if not state[value]:
            del state[value]

    def finish(self, state):
        return str(sorted((str(value), often) for value, often in state.items()))


ROWS = 600
SECONDS = 300
EVENTS = pa.table(
    {
        "ts": pa.array([i * SECONDS * 1_000_000 // ROWS for i in range(ROWS)], pa.timestamp("us", tz="UTC")),
        "x": [i * 7 % 23 - 9 for i in range(ROWS)],
        "k": ["ab"[i * 5 % 7 < 3] for i in range(ROWS)],
    }
)
WINDOWS = {
    "RANGE 30 SECONDS SLIDE 1 SECOND": 1,
    "RANGE 7 SECONDS SLIDE 3 SECONDS": 1,
    "RANGE 20 SECONDS SLIDE 20 SECONDS EMIT EVERY 2 SECONDS": 2,
    "RANGE UNBOUNDED SLIDE 2 SECONDS": 1,
    "RANGES 40 SECONDS, 10 SECONDS SLIDES 10 SECONDS, 1 SECOND": 2,
    "ROWS 100 SLIDE 1": 1,
    "ROWS 100 SLIDE 7": 1,
    "RANGE 10 SECONDS SLIDE 3 ROWS": 1,
    "ROWS 50 SLIDE 2 SECONDS": 1,
    "ROWS UNBOUNDED SLIDE 5": 1,
    "ROWS 100, 20 SLIDES 20, 5": 2,
    "PARTITION BY k ROWS 50 SLIDE 1": 1,
    "PARTITION BY k RANGE 10 SECONDS SLIDE 3 ROWS": 1,
    "PARTITION BY k ROWS 20 SLIDE 2 SECONDS": 1,
    "PARTITION BY k ROWS UNBOUNDED SLIDE 2": 2,
    "RANGE 10 SECONDS": 1,
}
"""Windows, and how often each holds a row: once for each level, for early answers and finals, or for both that are told
and what is kept."""


def answered(code: type, window: str, batch_rows: int) -> int:
    """Replays EVENTS and returns how many answers there were, each of which was that of SUM."""
    CALLS.clear()
    text = f"SELECT k, MINE(x) AS mine, SUM(x) AS total FROM events [{window}] GROUP BY k"
    answers = windrow.replay(text, events=EVENTS, aggregates={"mine": code}, batch_rows=batch_rows, flush=True)
    assert answers["mine"].to_pylist() == answers["total"].to_pylist()
    return answers.num_rows


@pytest.mark.one_in(4)
@pytest.mark.parametrize("code", [Removing, Both])
@pytest.mark.parametrize("window", WINDOWS)
def test_with_remove_each_row_is_added_once_and_removed_once(window, code):
    for batch_rows in (ROWS, 60):
        assert answered(code, window, batch_rows) > 100 or "UNBOUNDED" in window or "EMIT" in window
        assert CALLS["add"] <= WINDOWS[window] * ROWS
        assert CALLS["remove"] <= WINDOWS[window] * ROWS
        assert CALLS["merge"] <= WINDOWS[window] * ROWS


@pytest.mark.one_in(3)
@pytest.mark.parametrize("window", [window for window in WINDOWS if window != "RANGE 10 SECONDS"])
def test_with_merge_a_slide_merges_few_nodes_whatever_the_window(window):
    for batch_rows in (ROWS, 60):
        answers = answered(Merging, window, batch_rows)
        assert CALLS["add"] <= WINDOWS[window] * ROWS
        assert CALLS["merge"] <= 2 * log2(128) * answers + 2 * ROWS


def test_with_merge_a_window_without_a_slide_merges_few_nodes_for_each_change():
    for batch_rows in (ROWS, 100):
        answered(Merging, "RANGE 10 SECONDS", batch_rows)
        held = 20 * (ROWS // batch_rows)  # what the window holds is lifted again in every batch
        assert CALLS["add"] <= ROWS + held
        assert CALLS["merge"] <= 2 * ROWS * log2(ROWS)


def test_a_landmark_window_adds_each_row_once_also_without_merge_and_remove():
    for window in (
        "RANGE UNBOUNDED SLIDE 2 SECONDS",
        "ROWS UNBOUNDED SLIDE 5",
        "PARTITION BY k ROWS UNBOUNDED SLIDE 2",
    ):
        answered(Total, window, 25)
        assert CALLS["add"] <= 2 * ROWS


@pytest.mark.parametrize(
    "window",
    [
        "RANGE 10 SECONDS SLIDE 3 SECONDS",
        "RANGES 12 SECONDS, 4 SECONDS SLIDES 6 SECONDS, 1 SECOND",
        "RANGE 6 SECONDS SLIDE 6 SECONDS EMIT EVERY 2 SECONDS",
        "ROWS 4 SLIDE 3",
        "RANGE 5 SECONDS SLIDE 2 ROWS",
        "PARTITION BY k ROWS 3 SLIDE 2",
        "PARTITION BY g ROWS 3 SLIDE 4",
        "PARTITION BY k RANGE 5 SECONDS SLIDE 1 ROWS",
        "PARTITION BY k ROWS 3 SLIDE 4 SECONDS",
    ],
)
@settings(max_examples=examples(12), deadline=None)
@given(data=st.data())
def test_late_and_null_values_and_restarts_leave_in_a_state_what_is_in_the_window(window, data):
    rows = data.draw(st.lists(st.tuples(st.integers(0, 40), st.none() | st.integers(0, 3)), min_size=1, max_size=25))
    times = [seconds for seconds, _ in rows]
    keys = data.draw(st.lists(st.sampled_from("ab"), min_size=len(rows), max_size=len(rows)))
    events = pa.table(
        {
            "ts": pa.array(times, pa.timestamp("s", tz="UTC")),
            "x": pa.array([value for _, value in rows], pa.int64()),
            "k": keys,
            "g": [key + str(i % 2) for i, key in enumerate(keys)],
        }
    )
    group = "g, k" if "BY g" in window else "k"
    text = f"""SELECT {group}, BAG(x) AS bag, COUNT(*) AS n, COLLECT_LIST(x) AS held, BAG(x) FILTER (WHERE x > 0) AS some
               FROM events [{window}] WHERE x < 3 OR x IS NULL GROUP BY {group}"""
    replay = Replay(text, events=events, aggregates={"bag": Bag}, lateness="3 seconds")
    step, reopen = data.draw(st.integers(1, 25)), data.draw(st.booleans())
    answers = []
    for start in range(0, len(rows), step):
        answers += [row for table in replay.step(events.slice(start, step)) for row in table.to_pylist()]
        if reopen:
            replay.shard = Shard(replay.plan, replay.blocks, replay.shard.save())
    for row in answers:
        held = Counter(map(str, row["held"])) + Counter({"None": row["n"] - len(row["held"])})
        assert row["bag"] == str(sorted(held.items()))
        some = Counter(str(value) for value in row["held"] if value > 0)
        assert row["some"] == str(sorted(some.items()))


class Trail:
    """Tells in which order it was given its rows."""

    returns = "STRING"

    def init(self):
        return ""

    def add(self, state, value):
        return f"{state}{value},"

    def finish(self, state):
        return state


class MergedTrail(Trail):
    def merge(self, state, other):
        return state + other


@settings(max_examples=examples(15), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 15), st.sampled_from("ab")), min_size=1, max_size=20), st.integers(1, 20))
def test_merges_without_a_slide_are_in_the_order_of_time(rows, batch_rows):
    rows = sorted(rows, key=lambda row: row[0])
    seconds = pa.array([second for second, _ in rows], pa.timestamp("s", tz="UTC"))
    events = pa.table({"ts": seconds, "k": [key for _, key in rows], "x": list(range(len(rows)))})
    text = "SELECT k, ONE(x) AS one, OTHER(x) AS other FROM events [RANGE 4 SECONDS] GROUP BY k"
    given_ = {"one": Trail, "other": MergedTrail}
    for row in windrow.replay(text, events=events, aggregates=given_, batch_rows=batch_rows, flush=True).to_pylist():
        assert row["one"] == row["other"]


class Failing(Total):
    def remove(self, state, value):
        raise LookupError("it was never there")


@pytest.mark.parametrize(
    "window", ["RANGE 2 SECONDS SLIDE 1 SECOND", "PARTITION BY k ROWS 2 SLIDE 1", "RANGE 2 SECONDS"]
)
def test_a_remove_that_fails_is_blamed_by_name(window):
    with pytest.raises(AggregateError, match="aggregate 'mine': remove failed: LookupError: it was never there"):
        answered(Failing, window, ROWS)
