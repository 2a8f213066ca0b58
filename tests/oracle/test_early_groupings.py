"""GROUPING SETS over windows that answer while they fill: at every instant that the clock has reached, and as of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples

Event = tuple[int, str, str, int]
"""The second, the key, what is grouped by, and what opens and closes windows."""

EVENTS = st.lists(
    st.tuples(st.integers(0, 20), st.sampled_from("ab"), st.sampled_from("uv"), st.integers(0, 6)),
    min_size=1,
    max_size=20,
).map(lambda drawn: sorted(drawn, key=lambda event: event[0]))


def between_conditions(events: list[Event]) -> Iterator[tuple[list[Event], bool]]:
    """Windows of one key from x > 3 until x = 0, each with whether it is closed."""
    held: list[Event] = []
    for event in events:
        if held or event[3] > 3:
            held.append(event)
            if len(held) > 1 and event[3] == 0:
                yield held, True
                held = []
    yield held, False


def of_three_rows(events: list[Event]) -> Iterator[tuple[list[Event], bool]]:
    """Windows of three rows of one key."""
    for start in range(0, len(events) + 1, 3):
        held = events[start : start + 3]
        yield held, len(held) == 3


KINDS = {
    "[PARTITION BY k FROM x > 3 UNTIL x = 0 EMIT EVERY 2 SECONDS]": between_conditions,
    "[PARTITION BY k ROWS 3 SLIDE 3 EMIT EVERY 2 SECONDS]": of_three_rows,
}


def expected(events: list[Event], cut, lateness: int) -> Counter:
    """The rows of the groupings by g and by nothing: of windows that have closed, and of open ones at each instant."""
    rows: Counter = Counter()

    def tell(window: list[Event], final: bool, as_of: int) -> None:
        for grouped in (True, False):
            counts = Counter(event[2] if grouped else None for event in window)
            for g, n in counts.items():
                rows[window[0][1], g, n, window[0][0], window[-1][0], final, as_of] += 1

    clock = events[-1][0] - lateness
    for key in "ab":
        own = [event for event in events if event[1] == key]
        for window, closed in cut([event for event in own if event[0] < clock]):
            if closed:
                tell(window, True, window[-1][0])
        for instant in range(0, clock + 1, 2):
            *_, (window, closed) = cut([event for event in own if event[0] < instant])
            if window and not closed:
                tell(window, False, instant)
    return rows


@pytest.mark.parametrize("text", KINDS)
@settings(max_examples=examples(60), deadline=None)
@given(EVENTS, st.integers(1, 8), st.sampled_from([0, 2]))
@example([(4, "b", "v", 4), (14, "a", "v", 0)], 8, 2)
def test_groupings_are_told_as_of_the_very_clock(text, events, batch, lateness):
    seconds, k, g, x = (list(values) for values in zip(*events))
    table = pa.table({"ts": pa.array(seconds, pa.timestamp("s", tz="UTC")), "k": k, "g": g, "x": x})
    found = windrow.replay(
        f"SELECT k, g, COUNT(*) AS n FROM e {text} GROUP BY ROLLUP (g)",
        e=table,
        batch_rows=batch,
        lateness=f"{lateness} seconds",
    )
    told: Counter = Counter()
    for row in found.to_pylist():
        start, end, as_of = (int(row[at].timestamp()) for at in ("window_start", "window_end", "as_of"))
        told[row["k"], row["g"], row["n"], start, end, row["final"], as_of] += 1
    assert told == expected(events, KINDS[text], lateness)
