"""A clock that one event has moved far ahead goes back, and what is answered then is as if that event had not been."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.plan.nodes.stage import StagePlan
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.plan.timing import Timing
from windrow.runtime.payload import HEARTBEAT, RESET, Payload
from windrow.runtime.shard import Outcome, Shard

from .core import SECOND, Core, events_of, forced, plan_of, rows_of

SCHEMA = events_of([], k=pa.array([], pa.string()), x=pa.array([], pa.int64())).schema
AGGREGATES = "COUNT(*) AS n, SUM(x) AS s, MAX(x) AS m, MEDIAN(x) AS d"
FAR = 400


def events(seconds: Sequence[int], first: int = 0) -> pa.Table:
    """Rows that can be told apart, in two groups."""
    rows = range(first, first + len(seconds))
    return events_of(
        [s * SECOND for s in seconds], k=pa.array([None if i % 3 else "a" for i in rows], pa.string()), x=list(rows)
    )


def reset(core: Core, to: int, *more: Payload) -> list[Outcome]:
    shards = range(len(core.shards))
    return core.process([*(Payload(shard, -1, 0, to * SECOND, RESET, b"") for shard in shards), *more])


def answers(outcomes: Sequence[Outcome], ends_after: int) -> list[str]:
    """All that is answered of windows that end after some second, in an order of its own."""
    rows = (row for row in rows_of(outcomes) if row["window_end"] > ends_after * SECOND)
    return sorted(str(row) for row in rows)


def both(
    plan: StreamPlan, before: Sequence[int], far: Sequence[int], after: Sequence[int], to: int, cut: int, **how
) -> tuple[list[str], list[str], Core]:
    """What is answered after the reset, what without the far events, and the core that was reset.

    Answers of the plain stream are those after the batch at which the other one is reset.
    """
    mine, plain = Core(plan, **how), Core(plan, **how)
    found, wanted = [], []
    for core, seconds in ((mine, [*before, *far]), (plain, before)):
        for i in range(0, len(seconds), cut):
            core.step(events(seconds[i : i + cut], i))
    found += reset(mine, to)
    for i in range(0, len(after), cut):
        part = events(after[i : i + cut], 1000 + i)
        found += mine.step(part)
        wanted += plain.step(part)
    found += mine.flush()
    wanted += plain.flush()
    return answers(found, to), answers(wanted, to), mine


WINDOWS = [
    "RANGE 10 SECONDS SLIDE 4 SECONDS",
    "RANGE 7 SECONDS SLIDE 5 SECONDS OFFSET 1 SECOND",
    "RANGE 3 SECONDS SLIDE 5 SECONDS",
    "RANGE 500 SECONDS SLIDE 20 SECONDS",
    "RANGE 10 SECONDS SLIDE 10 SECONDS EMIT EVERY 3 SECONDS",
    "RANGES 20 SECONDS, 5 SECONDS SLIDES 10 SECONDS, 5 SECONDS",
    "RANGE UNBOUNDED SLIDE 4 SECONDS",
]


@settings(max_examples=examples(20), deadline=None)
@given(
    window=st.sampled_from(WINDOWS),
    steps=st.lists(st.integers(0, 6), min_size=1, max_size=12),
    after=st.lists(st.integers(0, 6), min_size=1, max_size=15),
    far=st.lists(st.integers(FAR, FAR + 80), min_size=1, max_size=3),
    cut=st.sampled_from([1, 3, 100]),
    reopen=st.sampled_from(["never", "adopt", "fresh"]),
    way=st.sampled_from([None, "subtract", "tree", "refold", "held"]),
    shards=st.sampled_from([1, 2]),
)
@example(WINDOWS[0], [1, 3, 5], [1, 1, 9, 3], [FAR], 1, "fresh", None, 2)
@example(WINDOWS[3], [1, 3, 5], [1, 1, 9, 3], [FAR], 1, "adopt", "held", 1)
def test_windows_after_a_reset_are_those_of_the_stream_without_the_far_events(
    window, steps, after, far, cut, reopen, way, shards
):
    """Those that are known in full: which they are, is known from how far the clock had come."""
    plan = plan_of([f"SELECT k, {AGGREGATES} FROM ticks [{window}] GROUP BY k"], SCHEMA)
    unbounded = "UNBOUNDED" in window
    if unbounded:
        far = far[:1]  # what a window without bound has taken in stays in it
    elif way is not None and "RANGES" not in window and "EVERY" not in window:
        plan = forced(plan, way)
    before = [10 + sum(steps[: i + 1]) for i in range(len(steps))]
    to = before[-1]
    rest = [to + sum(after[: i + 1]) for i in range(len(after))]
    rest += [rest[-1] + 30, rest[-1] + 33]
    found, wanted, core = both(plan, before, far, rest, to, cut, reopen=reopen, shards=shards)
    assert set(found) <= set(wanted)
    assert len(found) == len(set(found))
    gone = max(far) - 500 + 20 if "500" in window else to + 1  # of the others, all before the far event has gone
    known = [row for row in wanted if unbounded or _start(row) >= min(gone, to + 1) * SECOND]
    assert known and set(known) <= set(found)
    assert all(shard.groups <= 2 for shard in core.shards)


def _start(row: str) -> int:
    start = row.split("'window_start': ")[1].split(",")[0]
    return -1 if start == "None" else int(start)


@settings(max_examples=examples(15), deadline=None)
@given(
    seconds=st.lists(st.integers(0, 60), min_size=5, max_size=25),
    far=st.integers(FAR, FAR + 80),
    cut=st.sampled_from([1, 4]),
    place=st.floats(0.2, 0.8),
)
def test_with_a_lateness_the_events_that_the_clock_waited_for_are_kept(seconds, far, cut, place):
    """As far as windows are long enough for their panes not to have gone: these hold all."""
    seconds = [i * 3 + (second % 8) for i, second in enumerate(seconds)]  # out of order by up to seven seconds
    count = max(1, round(place * len(seconds)))
    to = max(seconds[:count]) - 7
    text = f"SELECT k, {AGGREGATES} FROM ticks [RANGE 500 SECONDS SLIDE 20 SECONDS] GROUP BY k"
    plan = plan_of([text], SCHEMA, 7 * SECOND)
    found, wanted, core = both(plan, seconds[:count], [far], seconds[count:], to, cut, reopen="fresh")
    low = (far - 7 - 500 + 20) * SECOND
    assert [row for row in found if _start(row) >= low] == [row for row in wanted if _start(row) >= low]
    assert found and core.shards[0].clock is not None and core.shards[0].clock < 1200 * SECOND


ROWS = [
    "ROWS 3 SLIDE 2",
    "ROWS 4 SLIDE 3 SECONDS",
    "ROWS UNBOUNDED SLIDE 3",
    "RANGE 500 SECONDS SLIDE 2 ROWS",
    "PARTITION BY k ROWS 3 SLIDE 2",
    "PARTITION BY k ROWS UNBOUNDED SLIDE 2",
    "PARTITION BY k RANGE 500 SECONDS SLIDE 2 ROWS",
    "PARTITION BY k FROM x % 4 = 1 UNTIL x % 4 = 3",
    "FROM x % 4 = 1 UNTIL x % 4 = 3",
    "ROWS 4, 2 SLIDES 4, 2",
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("window", ROWS)
@pytest.mark.parametrize("reopen", ["adopt", "fresh"])
@pytest.mark.parametrize("shards", [1, 2])
def test_rows_keep_their_numbers_when_the_clock_goes_back(window, reopen, shards):
    plan = plan_of([f"SELECT COUNT(*) AS n, SUM(x) AS s FROM ticks [{window}]"], SCHEMA)
    before, after = [1, 2, 2, 5, 8, 9, 9], [9, 12, 13, 13, 17, 20, 21]
    found, wanted, core = both(plan, before, [300], after, 9, 1, reopen=reopen, shards=shards)
    assert [shard.clock for shard in core.shards] == [core.shards[0].clock] * shards
    assert found == wanted and found


@pytest.mark.parametrize("window", ROWS)
def test_windows_of_rows_begin_anew_where_rows_after_the_reset_have_their_numbers(window):
    """The second of two far events has given the first its number, which cannot be taken back."""
    window = window.replace("500", "5")
    plan = plan_of([f"SELECT COUNT(*) AS n, SUM(x) AS s FROM ticks [{window}]"], SCHEMA)
    core = Core(plan, reopen="fresh")
    for i, second in enumerate([1, 2, 5, 300, 400]):
        core.step(events([second], i))
    (outcome,) = reset(core, 5)
    assert core.shards[0].clock == 5 * SECOND
    rows = []
    for i, second in enumerate([6, 8, 9, 11, 13, 20, 31, 33, 40]):
        (outcome,) = core.step(events([second], 1000 + i))
        assert outcome.late == 0
        rows += rows_of([outcome])
    sums = {row["agg_1"] for row in rows}
    if "UNBOUNDED" not in window:
        assert rows and min(sums) >= 1000, "of what was there before, nothing is in them"


def test_the_wall_clock_of_an_idle_stream_is_learnt_anew():
    """What the far event said of the delay of events would move the clock ahead again as soon as none comes."""
    plan = replace(
        plan_of(["SELECT COUNT(*) AS n FROM ticks [RANGE 5 SECONDS SLIDE 5 SECONDS]"], SCHEMA), timing=Timing.IDLE
    )
    core = Core(plan, reopen="fresh")

    def batch(second: int | None, now: int) -> list[Outcome]:
        payloads = [Payload(0, 0, 0, now * SECOND, HEARTBEAT, b"")]
        if second is not None:
            payloads += [part for part in _sliced(core, second, now) if part.name != HEARTBEAT]
        return core.process(payloads)

    batch(1, 3)
    batch(FAR, 5)
    batch(None, 6)
    clock = core.shards[0].clock
    assert clock is not None and clock >= FAR * SECOND
    reset(core, 4)
    batch(None, 8)
    assert core.shards[0].clock == 4 * SECOND
    batch(7, 9)
    batch(None, 20)
    assert core.shards[0].clock == 18 * SECOND


def _sliced(core: Core, second: int, now: int) -> list[Payload]:
    plan = core.plan
    core.plan = replace(plan, timing=Timing.EVENT)
    try:
        return core.payloads(events([second]))
    finally:
        core.plan = plan


def test_changes_that_were_sent_add_up_to_the_newest_answer_also_after_a_reset():
    text = "SELECT k, COUNT(*) AS n FROM ticks [RANGE 10 SECONDS SLIDE 5 SECONDS] GROUP BY k EMIT CHANGES"
    core = Core(plan_of([text], SCHEMA), reopen="fresh")
    sent: dict[str, int] = {}

    def take(outcomes: Sequence[Outcome]) -> None:
        for row in rows_of(outcomes):
            if row["had"]:
                assert sent.pop(str(row["key_0"])) == row["was_agg_0"]
            if row["has"]:
                sent[str(row["key_0"])] = row["agg_0"]

    for i, second in enumerate([1, 3, 6, 7, 11, FAR, FAR + 20]):
        take(core.step(events([second], i)))
    take(reset(core, 12))
    for i, second in enumerate([13, 14, 16, 18, 21, 24, 26, 31]):
        take(core.step(events([second], 1000 + i)))
    plain = Core(plan_of([text.removesuffix(" EMIT CHANGES")], SCHEMA))
    rows = [
        row
        for i, s in enumerate([13, 14, 16, 18, 21, 24, 26, 31])
        for row in rows_of(plain.step(events([s], 1000 + i)))
    ]
    newest = max(row["window_end"] for row in rows)
    assert sent == {str(row["key_0"]): row["agg_0"] for row in rows if row["window_end"] == newest}


def test_a_query_that_came_after_the_far_event_answers_from_the_reset_on():
    """It had seen nothing before the far event, and would have waited for what comes after it."""
    texts = [
        f"SELECT SUM(x) AS s FROM ticks [RANGE {length} SECONDS SLIDE 5 SECONDS] GROUP BY k" for length in (10, 15)
    ]
    core = Core(plan_of(texts[:1], SCHEMA))
    for i, second in enumerate([1, 3, FAR]):
        core.step(events([second], i))
    more = Core(plan_of(texts, SCHEMA), blocks=core.blocks)
    more.shards = [Shard(StagePlan.of(more.plan), core.blocks[0], core.snapshots[0])]
    reset(more, 4)
    found = [outcome for i, s in enumerate(range(5, 60, 3)) for outcome in more.step(events([s], 1000 + i))]
    plain = Core(plan_of(texts, SCHEMA))
    wanted = [outcome for i, s in enumerate(range(5, 60, 3)) for outcome in plain.step(events([s], 1000 + i))]
    late = [row for row in answers(wanted, 0) if _start(row) >= 5 * SECOND]
    assert late and answers(found, 0) == late


def test_a_reset_that_has_nothing_to_do_does_nothing_and_what_goes_is_counted():
    core = Core(plan_of(["SELECT k, COUNT(*) AS n FROM ticks [RANGE 10 SECONDS SLIDE 5 SECONDS] GROUP BY k"], SCHEMA))
    assert [outcome.dropped for outcome in reset(core, 5)] == [0]
    core.step(events([3, 4, 6]))
    before = core.snapshots
    assert [outcome.dropped for outcome in reset(core, 50)] == [0]
    assert core.shards[0].clock == 6 * SECOND and len(before) == 1
    core.step(events([FAR, FAR, FAR + 1]))
    (outcome,) = reset(core, 7, *core.payloads(events([8])))
    assert (outcome.dropped, outcome.late, core.shards[0].clock) == (2, 0, 8 * SECOND)  # two groups in one pane


def test_clusters_are_found_again_after_a_reset():
    schema = events_of([], a=pa.array([], pa.float64()), b=pa.array([], pa.float64())).schema
    text = """SELECT c, COUNT(*) AS n FROM ticks [RANGE 10 SECONDS SLIDE 5 SECONDS]
              CLUSTER BY a, b AS c USING C_BIRCH(5)"""

    def points(second: int) -> pa.Table:
        return events_of([second * SECOND] * 4, a=[0.0, 1.0, 100.0, 101.0], b=[0.0, 1.0, 100.0, 101.0])

    core, plain = Core(plan_of([text], schema), reopen="fresh"), Core(plan_of([text], schema))
    for second in (1, 3, 6, FAR):
        core.step(points(second))
    reset(core, 6)
    found, wanted = [], []
    for second in range(7, 40, 3):
        found += [row["agg_1"] for row in rows_of(core.step(points(second)))]
        wanted += [row["agg_1"] for row in rows_of(plain.step(points(second)))]
    assert found and found == wanted[-len(found) :]


@pytest.mark.parametrize("way", ["held", "subtract", "tree"])
def test_a_worker_that_missed_the_reset_takes_nothing_over_from_before(way):
    """Another worker ran the batch of the reset, and the first one has windows in memory that hold what is gone."""
    text = "SELECT MEDIAN(x) AS d, SUM(x) AS s FROM ticks [RANGE 500 SECONDS SLIDE 5 SECONDS]"
    plan = forced(plan_of([text], SCHEMA), way)
    first, plain = Core(plan), Core(plan)
    for i, second in enumerate([1, 3, 6, FAR, FAR + 30]):
        first.step(events([second], i))
        if second < FAR:
            plain.step(events([second], i))
    other = Core(plan, blocks=first.blocks)
    other.shards = [Shard(StagePlan.of(plan), first.blocks[0], first.snapshots[0])]
    reset(other, 6)
    first.shards = [Shard(StagePlan.of(plan), first.blocks[0], other.snapshots[0], first.shards[0])]
    found, wanted = [], []
    for i, second in enumerate([7, 12, 18, 540]):
        found += first.step(events([second], 10 + i))
        wanted += plain.step(events([second], 10 + i))
    low = -40 * SECOND
    assert [row for row in answers(found, 6) if _start(row) >= low] == [
        row for row in answers(wanted, 6) if _start(row) >= low
    ]
    assert found


@pytest.mark.parametrize("every", ["", " EMIT EVERY 2 SECONDS"])
def test_windows_without_bound_go_on_from_what_they_have_taken_in(every):
    """With a lateness, what came after the clock is in them since the far event: who comes before it now is in the next."""
    text = f"SELECT COUNT(*) AS n FROM ticks [RANGE UNBOUNDED SLIDE 5 SECONDS{every}]"
    core = Core(plan_of([text], SCHEMA, 6 * SECOND), reopen="fresh")
    core.step(events([1, 9, 14]))
    core.step(events([FAR], 3))
    reset(core, 8)
    (outcome,) = core.step(events([9, 13, 15], 10))
    assert (outcome.late, outcome.late_in_part) == (0, 1)
    found = rows_of([outcome, *core.step(events([40], 20))])
    ends = {row["window_end"] // SECOND: row["agg_0"] for row in found if row.get("final", True)}
    assert ends == {15: 5, 20: 6, 25: 6, 30: 6}
