"""Nested levels: each answers as a window of its own, with DuckDB's values over exactly its events."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.errors import QueryError
from windrow.local.replay import Replay

from .compare import Case, agree, expected, rows_of
from .judge import Oracle, Window
from .streams import Stream, streams
from .test_aggregates import COLUMNS, some_cases


@st.composite
def nested(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Ranges and slides in units, the finest first; coarser slides may or may not be multiples of finer ones."""
    pairs, slide, reach = [], draw(st.integers(1, 3)), 0
    for _ in range(draw(st.integers(1, 3))):
        least = reach // slide + 1
        reach = slide * draw(st.integers(least, least + 3))
        pairs.append((reach, slide))
        slide = slide * draw(st.integers(1, 3)) if draw(st.booleans()) else slide + draw(st.integers(0, 3))
    return pairs


@settings(max_examples=examples(25), deadline=None)
@given(some_cases, streams(COLUMNS, max_rows=25, unbounded="never"), nested(), st.sampled_from([(), ("k",)]))
def test_each_level_equals_the_oracle(cases: list[Case], stream: Stream, pairs: list[tuple[int, int]], keys):
    unit = stream.window.slide_us
    windows = [Window(reach * unit, slide * unit) for reach, slide in pairs]
    ranges, slides = (
        ", ".join(f"{length} MICROSECONDS" for length in lengths)
        for lengths in zip(*((window.range_us, window.slide_us) for window in reversed(windows)))
    )
    selected = ", ".join([*keys, *(f"{case.asked} AS a{i}" for i, case in enumerate(cases))])
    text = f"SELECT {selected} FROM ticks [RANGES {ranges} SLIDES {slides}]"
    text += f" GROUP BY {', '.join(keys)}" if keys else ""
    events = stream.events
    replay = Replay(text, lateness=stream.lateness, ticks=events)
    alone = [replace(stream, window=window) for window in windows]
    verdicts = [own.judged() for own in alone]
    oracles = [Oracle(events, verdict.kept) for verdict in verdicts]
    due = [verdict.ends(own.window, own.times) for own, verdict in zip(alone, verdicts)]
    for batch, (start, size) in enumerate(stream.bounds):
        mine = rows_of(replay.step(events.slice(start, size)))
        assert all(0 <= row["level"] < len(pairs) for row in mine)
        for level, (own, oracle) in enumerate(zip(alone, oracles)):
            theirs = expected(oracle, cases, own, due[level][batch], keys)
            agree(cases, [row for row in mine if row["level"] == level], theirs, keys, own.window.range_us)


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ("RANGES 8 SECONDS, 16 SECONDS SLIDES 4 SECONDS, 2 SECONDS", "shorter than the one before"),
        ("RANGES 16 SECONDS, 8 SECONDS SLIDES 2 SECONDS, 4 SECONDS", "level 1 must be coarser than level 0"),
        ("RANGES 9 SECONDS, 8 SECONDS SLIDES 2 SECONDS, 1 SECOND", "9 SECONDS is none of 2 SECONDS"),
        ("RANGES 16 SECONDS, 8 SECONDS SLIDES 4 SECONDS", "2 ranges need 2 slides, not 1"),
        ("RANGES 16 SECONDS, 8 SECONDS SLIDES 4 SECONDS, 2 SECONDS AGING (1)", "2 levels need 2 weights, not 1"),
        ("RANGES 15 SECONDS, 8 SECONDS SLIDES 3 SECONDS, 2 SECONDS AGING (1, 0.5)", "AGING needs slides"),
    ],
)
def test_levels_that_cannot_be_run_say_why(window, message):
    events = Stream({}, [0], [1], Window(1, 1), 0).events
    with pytest.raises(QueryError, match=message):
        Replay(f"SELECT COUNT(*) AS n FROM events [{window}]", events=events)


def test_only_sums_counts_and_averages_are_weighed():
    events = Stream({}, [0], [1], Window(1, 1), 0).events
    window = "[RANGES 16 SECONDS, 8 SECONDS SLIDES 4 SECONDS, 2 SECONDS AGING (1, 0.5)]"
    with pytest.raises(QueryError, match="AGING weighs SUM, COUNT and AVG, and this is MAX"):
        Replay(f"SELECT MAX(ts) AS latest FROM events {window}", events=events)


def weighed(stream: Stream, held: dict[int, int], pairs: list[tuple[int, int]], weights: list[float], end: int) -> dict:
    """By definition: for each key, COUNT(*), SUM(i) and AVG(i) with a weight for each stretch that a level holds alone."""
    unit, newer = stream.window.slide_us, end
    counts: dict = {}
    keys, values = (stream.columns[name][1] for name in "ki")
    for (reach, _), weight in zip(pairs, weights):
        for row, came in held.items():
            if end - reach * unit <= stream.times[row] < newer and came < end:
                found = counts.setdefault(keys[row], [0.0, 0.0, 0.0, 0])
                found[0] += weight
                if values[row] is not None:
                    found[1] += weight * values[row]
                    found[2] += weight
                    found[3] += 1
        newer = end - reach * unit
    return {
        key: (n, total if known else None, total / count if known else None)
        for key, (n, total, count, known) in counts.items()
    }


FIGURE_4 = [{4}, {7}, {2}, {9}, {4, 7}, {1}, {3}, {7}, {2}, {4}, {8}, {1}, {7}, {5}, {4, 7}, {4}]
"""Of 16 instants, 4 is seen in each of the stretches that <4, 1>, <8, 2>, <16, 4> add to each other, 7 in two."""


@pytest.mark.parametrize("batch_rows", [None, 1, 5])
def test_items_recur_that_each_level_sees_as_in_figure_4(batch_rows):
    rows = [(second, item) for second, items in enumerate(FIGURE_4) for item in sorted(items)]
    rows.append((16, 0))  # moves the clock
    times = pa.array([second for second, _ in rows], pa.timestamp("s", tz="UTC"))
    events = pa.table({"ts": times, "item": [item for _, item in rows]})
    nested = "[RANGES 16 SECONDS, 8 SECONDS, 4 SECONDS SLIDES 4 SECONDS, 2 SECONDS, 1 SECOND]"
    text = f"SELECT item, COUNT(*) AS n, MAX(ts) AS latest FROM events {nested} GROUP BY item HAVING RECURRING(item)"
    found = rows_of([Replay(text, events=events).run(batch_rows)])
    assert found
    for row in found:
        end, newer = row["window_end"] // 10**6, row["window_end"] // 10**6
        for reach in (4, 8, 16)[: row["level"] + 1]:
            assert any(row["item"] in FIGURE_4[second] for second in range(max(0, end - reach), newer))
            newer = max(0, end - reach)
    assert [(row["item"], row["n"]) for row in found if row["level"] == 2 and row["window_end"] == 16_000_000] == [
        (4, 5)
    ]
    assert {row["item"] for row in found if row["level"] == 1 and row["window_end"] == 16_000_000} == {4}


def test_recurring_needs_levels():
    events = Stream({}, [0], [1], Window(1, 1), 0).events
    for window, message in {
        "[RANGE 8 SECONDS SLIDE 2 SECONDS]": "RECURRING looks at the levels of a nested window",
        "[RANGES 15 SECONDS, 8 SECONDS SLIDES 3 SECONDS, 2 SECONDS]": "RECURRING needs slides",
    }.items():
        with pytest.raises(QueryError, match=message):
            Replay(f"SELECT COUNT(*) AS n FROM events {window} HAVING RECURRING(ts)", events=events)


@pytest.mark.parametrize("item", ["x", "k + 1", "x, y", "1", "*"])
def test_recurring_asks_of_what_is_grouped_by(item):
    times = pa.array([1], pa.timestamp("s", tz="UTC"))
    events = pa.table({"ts": times, "x": [1], "y": [1], "k": [1]})
    text = f"SELECT RECURRING({item}) AS again FROM events [RANGES 4 SECONDS, 2 SECONDS SLIDES 2 SECONDS, 1 SECOND] GROUP BY k"
    with pytest.raises(QueryError, match=r"not grouped by|takes 1 argument|takes an expression") as caught:
        Replay(text, events=events)
    assert text[caught.value.at : caught.value.end] == ("*" if item == "*" else f"RECURRING({item})")


@settings(max_examples=examples(30), deadline=None)
@given(streams({name: COLUMNS[name] for name in "ki"}, max_rows=30, unbounded="never"), st.data())
def test_aging_weighs_what_each_level_holds_alone(stream: Stream, data):
    slides = [1, *(data.draw(st.integers(1, 3)) for _ in range(data.draw(st.integers(0, 2))))]
    pairs, slide, reach = [], 1, 0
    for factor in slides:
        slide *= factor
        reach = slide * data.draw(st.integers(reach // slide + 1, reach // slide + 3))
        pairs.append((reach, slide))
    weights = [data.draw(st.sampled_from([1.0, 0.5, 0.25, 2.0])) for _ in pairs]
    unit = stream.window.slide_us
    ranges, steps = (", ".join(f"{n * unit} MICROSECONDS" for n in reversed(lengths)) for lengths in zip(*pairs))
    text = f"""SELECT k, COUNT(*) AS n, SUM(i) AS total, AVG(i) AS mean
               FROM ticks [RANGES {ranges} SLIDES {steps} AGING ({", ".join(map(str, weights))})] GROUP BY k"""
    replay, events = Replay(text, lateness="0 seconds", ticks=stream.events), stream.events
    alone = [replace(stream, window=Window(reach * unit, slide * unit), lateness_us=0) for reach, slide in pairs]
    held = {row: came for own in alone for row, came in own.judged().kept.items()}
    due = [own.judged().ends(own.window, own.times) for own in alone]
    for batch, (start, size) in enumerate(stream.bounds):
        mine = rows_of(replay.step(events.slice(start, size)))
        expected = {
            (level, end, key): answer
            for level in range(len(pairs))
            for end in due[level][batch]
            for key, answer in weighed(stream, held, pairs[: level + 1], weights, end).items()
        }
        found = {(row["level"], row["window_end"], row["k"]): (row["n"], row["total"], row["mean"]) for row in mine}
        assert found.keys() == expected.keys()
        for place, answer in found.items():
            assert answer == tuple(None if v is None else pytest.approx(v, abs=1e-9) for v in expected[place]), place
