"""Clusters of windows that answer while they fill: one number from answer to answer, told against plain Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from runtime.core import Core, plan_of
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.shard import Shard

TIME = pa.timestamp("us", tz="UTC")
TEXT = "SELECT k, cid, CENTER(cid)[0] AS spot FROM ticks [{}] GROUP BY k CLUSTER BY x AS cid USING C_BIRCH(5)"
ALL = TEXT.replace("k, ", "").replace("GROUP BY k ", "")
US = 10**6


def seen(rows: list[tuple[int, str, float]]) -> pa.Table:
    """Events at seconds, of groups, at spots that are far from each other."""
    times, keys, spots = zip(*rows)
    return pa.table(
        {"ts": pa.array([second * US for second in times], pa.int64()).cast(TIME), "k": list(keys), "x": list(spots)}
    )


@pytest.mark.parametrize(
    ("window", "batch", "every"), [((10, 10), 5, 2), ((20, 10), 500, 3), ((15, 10), 11, 15), ((7, 10), 4, 3)]
)
def test_a_cluster_that_does_not_move_has_one_number(window: tuple[int, int], batch: int, every: int):
    rows = [(second, key, spot) for second in range(35) for key in "ab" for spot in (0.0, 100.0)]
    rows = [row for row in rows if row[0] % 10 or row[1] == "b"]  # the clock goes on before a has anything new
    asked = f"RANGE {window[0]} SECONDS SLIDE {window[1]} SECONDS EMIT EVERY {every} SECONDS"
    found = windrow.replay(TEXT.format(asked), ticks=seen(rows), batch_rows=batch).to_pylist()
    assert {row["final"] for row in found} == {True, False}
    assert {(row["k"], row["cid"], row["spot"]) for row in found} == {
        (k, 1 + (x > 0), x) for k in "ab" for x in (0, 100)
    }
    of_one = ALL.format(asked).replace("GROUP", "").replace("CLUSTER", "WHERE k = 'a' CLUSTER")
    found = windrow.replay(of_one, ticks=seen(rows), batch_rows=batch).to_pylist()
    assert {(row["cid"], row["spot"]) for row in found} == {(1, 0), (2, 100)}


@pytest.mark.parametrize("batch", [3, 500])
def test_a_group_that_no_pane_holds_between_two_windows_keeps_its_clusters(batch: int):
    rows = [(second, key, spot) for second in range(40) for key in "ab" for spot in (0.0, 100.0)]
    rows = [row for row in rows if row[0] % 10 > 4 or row[1] == "b"]
    text = TEXT.format("RANGE 10 SECONDS SLIDE 10 SECONDS") + " EMIT CHANGES"
    told = windrow.replay(text, ticks=seen(rows), batch_rows=batch).to_pylist()
    assert [(row["k"], row["change"], row["cid"]) for row in told if row["k"] == "a"] == [
        ("a", "born", 1),
        ("a", "born", 2),
    ]


def test_a_cluster_that_comes_late_into_a_window_is_still_the_one_of_the_window_before():
    rows = [(0, "a", 0.0), (1, "a", 100.0), (10, "a", 0.0), (19, "a", 100.0), (21, "a", 100.0), (30, "a", 0.0)]
    found = windrow.replay(
        ALL.format("RANGE 10 SECONDS SLIDE 10 SECONDS EMIT EVERY 5 SECONDS"), ticks=seen(rows), batch_rows=1
    )
    told = [(row["final"], row["cid"], row["spot"]) for row in found.to_pylist()]
    first = [(final, *one) for final in (False, True) for one in ((1, 0.0), (2, 100.0))]
    second = [(False, 1, 0.0), (True, 1, 0.0), (True, 2, 100.0)]
    assert told == [*first, *second, (False, 2, 100.0), (True, 2, 100.0)]


@dataclass
class Group:
    """The clusters of one group, by the definition: spot and number of each that is known."""

    window: int | None = None
    known: dict[float, int] = field(default_factory=dict)
    highest: int = 0

    def check(self, window: int, final: bool, told: dict[float, int], grouped: bool) -> None:
        if self.window not in (window - 1, window):
            self.known = {}
        if grouped and not self.known:
            self.highest = 0
        fresh = set(told) - set(self.known)
        assert {spot: told[spot] for spot in set(told) & set(self.known)} == {
            spot: number for spot, number in self.known.items() if spot in told
        }
        assert {told[spot] for spot in fresh} == {self.highest + 1 + i for i in range(len(fresh))}
        self.highest += len(fresh)
        self.window, self.known = window, dict(told) if final else self.known | told


def answers(rows: list[dict], slide: int) -> Iterator[tuple[int, bool, str | None, dict[float, int]]]:
    """The answers in turn: the window, whether it has closed, the group, and the number of each spot."""
    found: dict[tuple, dict[float, int]] = {}
    for row in rows:
        place = (row["due"], row["window_end"] // (slide * US), row["final"], row.get("key_0"))
        found.setdefault(place, {})[row["agg_1"][0]] = row["agg_0"]
    for (_, window, final, key), told in sorted(found.items(), key=str_of):
        yield window, final, key, told


def str_of(item: tuple) -> tuple:
    return item[0][0], str(item[0][3])


spots = st.tuples(st.integers(0, 45), st.sampled_from("ab"), st.sampled_from([0.0, 100.0, 200.0]))


@settings(max_examples=examples(10), deadline=None)
@given(
    st.lists(spots, min_size=1, max_size=25),
    st.sampled_from([(10, 10), (20, 10), (13, 5), (4, 6)]),
    st.sampled_from([1, 2, 3, 7]),
    st.lists(st.integers(1, 9), min_size=1, max_size=5),
    st.sampled_from(["never", "adopt", "fresh"]),
    st.booleans(),
)
@example([(0, "a", 0.0), (11, "b", 0.0), (12, "a", 0.0), (21, "b", 0.0)], (10, 10), 3, [1], "fresh", True)
def test_numbers_are_those_of_the_definition_in_any_cut_and_after_restarts(
    rows, window: tuple[int, int], every: int, sizes: list[int], reopen: str, grouped: bool
):
    reach, slide = window
    over = f"RANGE {reach} SECONDS SLIDE {slide} SECONDS"
    text = TEXT if grouped else ALL
    early = text.format(f"{over} EMIT EVERY {every} SECONDS")
    plain = [text.format(over), text.format(over) + " EMIT CHANGES"]
    events = seen(sorted(rows))
    told: dict[str, list[dict]] = {}
    alone: dict[str, list[dict]] = {}
    for texts, found in (([early, *plain], told), (plain, alone)):
        core = Core(plan_of(texts, events.schema), reopen=reopen)
        start, turn = 0, 0
        while start <= events.num_rows:
            size = sizes[turn % len(sizes)]
            last = start + size > events.num_rows
            for outcome in [*core.step(events.slice(start, size)), *(core.flush() if last else ())]:
                for name, batch in outcome.results:
                    rest = "q0" if len(texts) == 3 and name == "q0" else f"plain {int(name[1]) - len(texts) + 2}"
                    found.setdefault(rest, []).extend(batch.to_pylist())
            start, turn = start + size, turn + 1
    assert {name: rows for name, rows in told.items() if name != "q0"} == alone  # whoever is beside
    groups: dict[str | None, Group] = {}
    answered = rows_in(told.get("q0", []))
    for number, final, key, clusters in answers(answered, slide):
        groups.setdefault(key, Group()).check(number, final, clusters, grouped)
    assert any(row["final"] for row in answered) or not alone


def rows_in(rows: list[dict]) -> list[dict]:
    times = {"window_start", "window_end"}
    return [{k: int(v.timestamp() * US) if k in times else v for k, v in row.items()} for row in rows]


def test_a_group_goes_with_the_query_that_knew_its_clusters():
    tumbling = TEXT.format("RANGE 10 SECONDS SLIDE 10 SECONDS")
    counted = "SELECT k, COUNT(*) AS n FROM ticks [RANGE 10 SECONDS SLIDE 10 SECONDS] GROUP BY k"
    schema = seen([(0, "a", 0.0)]).schema
    core = Core(plan_of([counted, tumbling], schema))
    core.step(seen([(1, "a", 0.0), (11, "b", 0.0)]))
    assert core.shards[0].groups == 2  # no pane has a, whose cluster may come again
    core.step(seen([(21, "b", 0.0)]))
    assert core.shards[0].groups == 1
    core.step(seen([(22, "c", 0.0), (31, "b", 0.0)]))
    plan = plan_of([counted], schema)
    core.shards = [Shard(StagePlan.of(plan), core.blocks[0], core.snapshots[0])]
    core.plan = plan
    assert core.shards[0].groups == 2
    core.step(seen([(32, "b", 0.0)]))
    assert core.shards[0].groups == 1
