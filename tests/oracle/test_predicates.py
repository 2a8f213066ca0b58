"""Windows from a row with one condition to a row with another: followed in plain Python, with DuckDB's values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from runtime.core import Core, plan_of, rows_of
from windrow.compile.explain import explain_plans
from windrow.errors import QueryError
from windrow.local.replay import Replay
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.rows import pending_rows
from windrow.storage import chunks

from .judge import Window
from .judge_rows import RowsOracle
from .streams import Stream, streams
from .test_rows import CASES, COLUMNS, assert_same, keys_of, ways

CONDITIONS: dict[str, Callable[[dict], bool]] = {
    "i > 3": lambda row: row["i"] is not None and row["i"] > 3,
    "i < 0": lambda row: row["i"] is not None and row["i"] < 0,
    "k = 'x'": lambda row: row["k"] == "x",
    "d IS NULL": lambda row: row["d"] is None,
    "true": lambda row: True,
    "i > 99": lambda row: False,
}


@dataclass(frozen=True)
class Told:
    """An answered window: the places of its rows in the stream, in order, and when it was told early, if it was."""

    members: list[int]
    instant: int | None = None
    number: int = 0  # as the oracle of windows in rows wants it; it is not compared


def followed(
    stream: Stream, opens: Callable[[dict], bool], closes: Callable[[dict], bool], keys: Sequence, every: int | None
) -> tuple[list[list[Told]], int]:
    """By definition: for each batch the windows that it closes, and those that are open at multiples of `every`.

    Also how many are open at the end.
    """
    columns = {name: values for name, (_, values) in stream.columns.items()}
    kept, clocks, newest, clock = [], [], None, None
    for start, size in stream.bounds:
        timed = [(stream.times[row], row) for row in range(start, start + size) if stream.times[row] is not None]
        kept += [(time, row) for time, row in timed if clock is None or time >= clock]
        if timed:
            newest = max([time for time, _ in timed] + ([] if newest is None else [newest]))
            clock = newest - stream.lateness_us
        clocks.append(clock)
    ended: list[tuple[int, Told]] = []
    spans: list[tuple[list[tuple[int, int]], int | None]] = []  # the rows of a window, and when its last happened
    opened: dict = {}
    for time, row in sorted(kept):
        values = {name: column[row] for name, column in columns.items()}
        if keys[row] in opened:
            opened[keys[row]].append((time, row))
            if closes(values):
                rows = opened.pop(keys[row])
                spans.append((rows, time))
                ended.append((time, Told([row for _, row in rows])))
        elif opens(values):
            opened[keys[row]] = [(time, row)]
    spans += [(rows, None) for rows in opened.values()]
    answers, before = [], None
    for until in clocks:
        told = [window for time, window in ended if until is not None and time < until]
        told = told if before is None else [w for t, w in ended if before <= t < until]
        if every is not None and until is not None:
            for rows, end in spans:
                instant = (rows[0][0] if before is None else max(rows[0][0], before)) // every * every + every
                while instant <= until and (end is None or end >= instant):
                    told.append(Told([row for time, row in rows if time < instant], instant))
                    instant += every
        answers.append(told)
        before = until
    rest = [window for time, window in ended if before is None or time >= before]
    return [*answers, rest], len(opened)


def check(stream: Stream, conditions, partition, cases, group, where: str, every: int | None, how: dict) -> None:
    keys = tuple(dict.fromkeys((*group, *partition)))
    by = f"PARTITION BY {', '.join(partition)} " if partition else ""
    early = f" EMIT EVERY {every} MICROSECONDS" if every else ""
    window = f"[{by}FROM {conditions[0]} UNTIL {conditions[1]}{early}]"
    aggregates = [f"{case.asked} AS a{i}" for i, case in enumerate(cases)]
    text = f"SELECT {', '.join(aggregates)} FROM ticks {window} WHERE {where}"
    text += f" GROUP BY {', '.join(group)}" if group else ""
    events = stream.events
    core = Core(plan_of([text], events.schema, stream.lateness_us), reopen=how["reopen"], shards=how["shards"])
    due, still_open = followed(stream, *(CONDITIONS[text] for text in conditions), keys_of(stream, partition), every)
    oracle = RowsOracle(events)
    select = ", ".join(
        [f"{key} AS key_{i}" for i, key in enumerate(keys)]
        + [f"{case.oracle} AS agg_{i}" for i, case in enumerate(cases)]
    )
    outcomes = [core.step(events.slice(start, size), how["tasks"]) for start, size in stream.bounds] + [core.flush()]
    for outcome, told in zip(outcomes, due, strict=True):
        mine = rows_of(outcome)
        for final in (True, False):
            theirs = oracle.answers([one for one in told if (one.instant is None) == final], select, keys, where)
            for row in theirs:
                row |= {f"agg_{i}": case.read(row[f"agg_{i}"]) for i, case in enumerate(cases)}
            own = [row for row in mine if row.get("final", True) == final]
            assert {row.get("as_of") for row in own if not final} <= {one.instant for one in told}
            hidden = ("window_number", "window_row", "final", "as_of", "due")
            shown = [[{n: v for n, v in row.items() if n not in hidden} for row in rows] for rows in (own, theirs)]
            assert_same(*shown, [0.0] * (2 + len(keys)) + [case.relative for case in cases])
    held = [len(state._owners) for shard in core.shards for state in shard.streams["ticks"].spaces.values()]
    assert sum(held) == still_open, "only keys with an open window are held"


@pytest.mark.parametrize("partition", [(), ("k",), ("k", "g")], ids=["all rows", "by key", "by two keys"])
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_every_window_equals_the_oracle(partition, data):
    stream = data.draw(streams(COLUMNS, unbounded="never"))
    conditions = [data.draw(st.sampled_from(sorted(CONDITIONS))) for _ in range(2)]
    group = data.draw(st.sampled_from([(), ("k",), ("g", "k")]))
    where = data.draw(st.sampled_from(["true", "true", "i > 0", "k = 'x' OR d < 0", "i > 99"]))
    cases = data.draw(st.lists(st.sampled_from(CASES), min_size=1, max_size=5, unique=True))
    every = data.draw(st.none() | st.integers(1, 60))
    unit = stream.window.slide_us
    how = data.draw(ways)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pending_rows, "BLOCK_ROWS", how["size"])
        patch.setattr(chunks, "CHUNK", how["size"])
        check(stream, conditions, partition, cases, group, where, every and every * unit, how)


def answers_of(rows: Sequence[tuple[int, str, bool, bool]], window: str, flush: bool = False) -> list[tuple]:
    """Counts by window of rows of (second, key, opens, closes)."""
    seconds, keys, opens, closes = zip(*rows)
    times = pa.array(seconds, pa.timestamp("s", tz="UTC"))
    ticks = pa.table({"ts": times, "k": keys, "a": opens, "z": closes})
    found = Replay(f"SELECT COUNT(*) AS n FROM ticks {window}", ticks=ticks).run(flush=flush)
    spans = [[time.timestamp() for time in found[name].to_pylist()] for name in ("window_start", "window_end")]
    told = found["final"].to_pylist() if "final" in found.column_names else [True] * found.num_rows
    return list(zip(*spans, found["n"].to_pylist(), told))


def test_a_window_is_from_its_first_to_its_last_row_and_what_opens_within_does_nothing():
    rows = [
        (1, "", False, True),
        (2, "", True, False),
        (3, "", True, False),
        (5, "", False, True),
        (7, "", False, False),
    ]
    assert answers_of(rows, "[FROM a UNTIL z]") == [(2, 5, 3, True)]


def test_a_row_with_both_conditions_closes_an_open_window_and_else_opens_one():
    rows = [(second, "", True, True) for second in range(1, 6)]
    assert answers_of(rows, "[FROM a UNTIL z]", flush=True) == [(1, 2, 2, True), (3, 4, 2, True)]


def test_a_window_that_is_open_at_the_end_is_told_only_early():
    rows = [(1, "", True, False), (4, "", False, False), (10, "", False, False)]
    assert answers_of(rows, "[FROM a UNTIL z]", flush=True) == []
    early = answers_of(rows, "[FROM a UNTIL z EMIT EVERY 3 SECONDS]", flush=True)
    assert early == [(1, 1, 1, False), (1, 4, 2, False), (1, 4, 2, False)]


def test_at_its_end_only_the_final_answer_comes():
    rows = [(1, "", True, False), (3, "", False, True), (9, "", False, False)]
    assert answers_of(rows, "[FROM a UNTIL z EMIT EVERY 2 SECONDS]") == [(1, 1, 1, False), (1, 3, 2, True)]


def test_windows_are_ranked_one_by_one_though_they_end_together():
    times = pa.array([1, 1, 1, 1, 2], pa.timestamp("s", tz="UTC"))
    ticks = pa.table({"ts": times, "k": ["p", "q", "p", "q", "p"], "a": [True] * 5})
    counted = "SELECT k, COUNT(*) AS n FROM ticks [FROM a UNTIL a] GROUP BY k ORDER BY k DESC LIMIT 1"
    assert Replay(counted, ticks=ticks).run()["k"].to_pylist() == ["q", "q"]


@pytest.mark.parametrize(
    ("window", "underlined", "message"),
    [
        ("FROM SUM(i) > 3 UNTIL i = 0", "SUM(i)", "an aggregate in FROM"),
        ("FROM i > 3 UNTIL MAX(i) = 0", "MAX(i)", "an aggregate in UNTIL"),
        ("FROM i UNTIL i = 0", "i", "condition"),
        ("FROM q > 1 UNTIL i = 0", "q", "unknown column 'q'"),
        ("PARTITION BY q FROM i > 1 UNTIL i = 0", "q", "unknown column 'q'"),
        ("FROM i > 1 UNTIL i = 0 EMIT EVERY 0 SECONDS", "0 SECONDS", "must be positive"),
    ],
)
def test_a_mistake_is_told_with_its_place(window, underlined, message):
    text = f"SELECT COUNT(*) AS n FROM events [{window}]"
    events = Stream({"i": (pa.int64(), [1])}, [0], [1], Window(1, 1), 0).events
    with pytest.raises(QueryError, match=message) as caught:
        Replay(text, events=events)
    assert text[caught.value.at : caught.value.end] == underlined


def test_explain_says_where_rows_are_followed_and_what_is_kept():
    schema = pa.schema([("ts", pa.timestamp("us", "UTC")), ("k", pa.string()), ("i", pa.int64())])
    asked = "SELECT SUM(i) AS s FROM ticks [{}FROM i > 3 UNTIL i < 0 EMIT EVERY 1 SECOND]"
    text = explain_plans([StagePlan.of(plan_of([asked.format("")], schema))], shards=2)
    assert "[FROM `i` > 3 UNTIL `i` < 0 EMIT EVERY 1 SECOND]" in text
    assert "all in one shard" in text and "accumulate" in text
    assert "in the key's shard" in explain_plans(
        [StagePlan.of(plan_of([asked.format("PARTITION BY k ")], schema))], shards=2
    )
