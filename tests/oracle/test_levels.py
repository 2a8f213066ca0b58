"""Nested levels: each answers as a window of its own, with DuckDB's values over exactly its events."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


@settings(max_examples=25, deadline=None)
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
        ("RANGES UNBOUNDED, 8 SECONDS SLIDES 2 SECONDS, 1 SECOND", "UNBOUNDED is none of 2 SECONDS"),
        ("RANGES 16 SECONDS, 8 SECONDS SLIDES 4 SECONDS", "2 ranges need 2 slides, not 1"),
        ("RANGES 16 SECONDS, 8 SECONDS SLIDES 4 SECONDS, 2 SECONDS AGING (1)", "2 levels need 2 weights, not 1"),
        ("RANGES 16 SECONDS, 8 SECONDS SLIDES 4 SECONDS, 2 SECONDS AGING (1, 0.5)", "AGING is not supported yet"),
        ("ROWS 100, 10 SLIDES 10, 1", "levels in rows is not supported yet"),
    ],
)
def test_levels_that_cannot_be_run_say_why(window, message):
    events = Stream({}, [0], [1], Window(1, 1), 0).events
    with pytest.raises(QueryError, match=message):
        Replay(f"SELECT COUNT(*) AS n FROM events [{window}]", events=events)
