"""What recurs is told by bits alone where nothing else is asked for: as by counts, and as DuckDB has it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from runtime.core import SECOND, Core, events_of, plan_of, rows_of
from windrow.compile.explain import explain_plans
from windrow.plan.nodes.stage import StagePlan
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.runtime.shard import Shard

from .judge import Oracle, Window, judge
from .streams import Stream, streams

COLUMNS = {
    "k": (pa.int64(), st.none() | st.integers(0, 4)),
    "g": (pa.int64(), st.integers(0, 1)),
}
WAYS = ["never", "adopt", "fresh", "stale"]


@st.composite
def whole(draw: st.DrawFn, unit: int) -> list[Window]:
    """Levels, the finest first, whose own stretches are made of whole granules."""
    slide = draw(st.integers(1, 2)) * unit
    reach = 0
    levels: list[Window] = []
    for _ in range(draw(st.integers(2, 4))):
        reach += slide * draw(st.integers(1, 4))
        following = slide * draw(st.integers(1, 3))
        reach = -(-reach // following) * following
        levels.append(Window(reach, slide))
        slide = following
    return levels


def written(levels: list[Window]) -> str:
    ranges, slides = (
        ", ".join(f"{us} MICROSECONDS" for us in lengths)
        for lengths in zip(*((window.range_us, window.slide_us) for window in reversed(levels)))
    )
    return f"[RANGES {ranges} SLIDES {slides}]"


def by_bits(plan: StreamPlan) -> bool:
    return "bitmaps" in {way for space in plan.time_spaces for fold in space.folds for way in fold.maintenance}


def run(plan: StreamPlan, stream: Stream, reopen: str) -> list[list[dict]]:
    """The rows of each batch, and those of the flush; "stale" workers take the shard by turns."""
    core = Core(plan, reopen="never" if reopen == "stale" else reopen)
    workers: list[Shard | None] = [None, None]
    told = []
    for number, (start, size) in enumerate(stream.bounds):
        if reopen == "stale" and core.snapshots:
            worker = Shard(StagePlan.of(plan), core.blocks[0], core.snapshots[0], workers[number % 2])
            workers[number % 2], core.shards = worker, [worker]
        told.append(rows_of(core.step(stream.events.slice(start, size))))
    return [*told, rows_of(core.flush())]


def recurs(row: dict) -> tuple:
    return row["window_end"], row["level"], row["key_0"], row.get("key_1"), row["agg_0"]


@settings(max_examples=examples(60), deadline=None)
@given(streams(COLUMNS, unbounded="never"), st.data(), st.sampled_from(WAYS))
def test_bits_tell_what_duckdb_counts(stream: Stream, data, reopen: str):
    levels = data.draw(whole(stream.window.slide_us))
    text = f"SELECT k, RECURRING(k) AS again FROM ticks {written(levels)} GROUP BY k"
    plan = plan_of([text], stream.events.schema, stream.lateness_us)
    assert by_bits(plan)
    told = run(plan, stream, reopen)[:-1]
    batches = [[stream.times[at] for at in range(start, start + size)] for start, size in stream.bounds]
    below: list[dict] = [{} for _ in batches]
    for level, window in enumerate(levels):
        verdict = judge(window, batches, stream.lateness_us)
        oracle = Oracle(stream.events, verdict.kept)
        for batch, due in enumerate(verdict.ends(window, stream.times)):
            rows = oracle.grouped("k, count(*) AS n, count(k) AS c", ["k"], window, sorted(due))
            counts = {(row["window_end"], row["k"]): row["c"] for row in rows}
            mine = {(row["window_end"], row["key_0"]): row["agg_0"] for row in told[batch] if row["level"] == level}
            finer = below[batch]
            found = {}
            for (end, k), c in counts.items():
                inner, so_far = finer.get((end, k), (0, level == 0))
                found[end, k] = (c, c > inner and so_far)
            assert mine == {place: again for place, (_, again) in found.items()}
            below[batch] = found


@settings(max_examples=examples(60), deadline=None)
@given(streams(COLUMNS, unbounded="never"), st.data(), st.sampled_from(WAYS), st.booleans(), st.booleans())
def test_bits_tell_what_counts_tell(stream: Stream, data, reopen: str, beside: bool, filtered: bool):
    nested, other = (written(data.draw(whole(stream.window.slide_us))) for _ in "12")
    call = "RECURRING(k)" + (" FILTER (WHERE g = 1)" if filtered else "")
    texts = [f"SELECT k, {{}} FROM ticks {nested} GROUP BY k"]
    if beside:  # the same rows and groups, and other levels
        texts.append(f"SELECT k, {{}} FROM ticks {other} GROUP BY k")
    told = []
    for asked in (f"{call} AS again", f"{call} AS again, COUNT(*) AS n"):
        plan = plan_of([text.format(asked) for text in texts], stream.events.schema, stream.lateness_us)
        assert by_bits(plan) == ("COUNT" not in asked)
        told.append([sorted(map(repr, map(recurs, rows))) for rows in run(plan, stream, reopen)])
    assert told[0] == told[1]


LEVELS = "[RANGES 40 SECONDS, 12 SECONDS, 4 SECONDS SLIDES 4 SECONDS, 4 SECONDS, 1 SECOND]"
ASKED = f"SELECT k, RECURRING(k) AS again FROM ticks {LEVELS} GROUP BY k"


def batch(number: int) -> pa.Table:
    times = [number * SECOND + i for i in range(30)]
    return events_of(times, k=list(range(30)), g=[0] * 30).filter(pa.array([number % (i + 1) == 0 for i in range(30)]))


def test_a_batch_that_fails_and_runs_again_leaves_no_bit():
    plan = plan_of([ASKED], batch(0).schema)
    assert by_bits(plan)
    alone, core = Core(plan), Core(plan)
    for number in range(80):
        expected = sorted(map(repr, rows_of(alone.step(batch(number)))))
        if core.snapshots:
            older, snapshot = core.shards[0], core.snapshots[0]
            failed = Shard(StagePlan.of(plan), core.blocks[0], snapshot, older)
            failed.process(core.payloads(batch(number + number % 3)))  # and is not saved
            by_failed, by_older = (Shard(StagePlan.of(plan), core.blocks[0], snapshot, by) for by in (failed, older))
            core.shards = [by_older if number % 2 else by_failed]
        assert sorted(map(repr, rows_of(core.step(batch(number))))) == expected


def test_bits_go_into_blocks_and_no_counts():
    sizes = {}
    for asked in (ASKED, ASKED.replace("AS again", "AS again, COUNT(*) AS n")):
        core = Core(plan_of([asked], batch(0).schema), reopen="fresh")
        for number in range(60):
            seen = np.random.default_rng(number).integers(0, 400, 2_000)
            core.step(events_of([number * SECOND] * len(seen), k=seen, g=[0] * len(seen)))
        space = f"{core.plan.spaces[0].name}."
        blocks = {place: block for place, block in core.blocks[0]._blocks.items() if place[0].startswith(space)}
        sizes[asked] = sum(len(block) for (name, _), block in blocks.items() if ".groups" not in name)
    bits, counts = sizes.values()
    assert bits * 2 < counts
    assert "a bit for each item and granule, and nothing is counted" in explain_plans(
        [StagePlan.of(plan_of([ASKED], batch(0).schema))], 1
    )


@pytest.mark.parametrize(
    "window",
    [
        "[RANGES 10 SECONDS, 4 SECONDS SLIDES 5 SECONDS, 1 SECOND]",  # 4 seconds are no granules of 5
        "[RANGES 200 SECONDS, 100 SECONDS SLIDES 1 SECOND, 1 SECOND]",  # more granules than a word has bits
        "[ROWS 40, 10 SLIDES 10, 5]",
    ],
)
def test_other_levels_are_counted(window):
    plan = plan_of([f"SELECT k, RECURRING(k) AS again FROM ticks {window} GROUP BY k"], batch(0).schema)
    assert not by_bits(plan)
