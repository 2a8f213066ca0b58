"""Every way in the table of choices can be asked for by a query, runs then, and gives the answers of any other."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import windrow
from windrow.cli.launch import read_launch, read_wishes
from windrow.cli.main import app
from windrow.clustering import index as indexes
from windrow.clustering.grid import AXES
from windrow.compile.check_wishes import GRID_AXES
from windrow.compile.choices import CHOICES, OWN, choices
from windrow.compile.compile import Compiler, Wishes
from windrow.compile.read_choose import read_choose
from windrow.errors import SettingsError
from windrow.language import parse_query
from windrow.local.local_catalog import local_catalog
from windrow.local.replay_stages import StageReplay
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.slice import events as slicing
from windrow.schedule import choose as schedules
from windrow.storage.blocks import MemoryBlocks
from windrow.storage.kept_blocks import KeptBlocks
from windrow.windows import log
from windrow.windows.binary_merge import SlidingBinaryMerge
from windrow.windows.daba import Daba
from windrow.windows.exclude import Exclude
from windrow.windows.nested_fold import NestedFold
from windrow.windows.progressive import Progressive
from windrow.windows.refold import Refold
from windrow.windows.repetitive_merge import RepetitiveMerge
from windrow.windows.running import Subtract
from windrow.windows.tree import Tree
from windrow.windows.two_stacks import TwoStacks

ROOT = Path(__file__).parents[2]
BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
MAINTENANCES = {
    "refold": Refold,
    "subtract": Subtract,
    "tree": Tree,
    "stairs": NestedFold,
    "progressive": Progressive,
    "repetitive": RepetitiveMerge,
    "binary": SlidingBinaryMerge,
    "two stacks": TwoStacks,
    "DABA": Daba,
    "exclude": Exclude,
}
OF_LEVELS = ("stairs", "progressive")
"""Ways that are for windows that nest."""
LIMIT = 14_000
"""Bytes of memory that hold a part of the blocks."""
SUMS, MOST = "COUNT(*) AS n, SUM(volume) AS v", "COUNT(*) AS n, MAX(volume) AS v"


@cache
def ticks(rows: int = 400) -> pa.Table:
    """Ties, seconds without any event, a long silence, and groups that come and go."""
    random = np.random.default_rng(5)
    seconds = np.sort(np.concatenate([random.integers(0, 150, rows), random.integers(300, 340, rows // 4)]))
    return pa.table(
        {
            "ts": [BEGIN + timedelta(seconds=int(second)) for second in seconds],
            "second": seconds,
            "symbol": [f"S{second // 60 + random.integers(0, 3)}" for second in seconds],
            "volume": random.integers(1, 90, len(seconds)),
            "x": random.integers(0, 40, len(seconds)) / 2,
            "y": random.integers(0, 40, len(seconds)) / 2,
        }
    )


@cache
def judged(answer: str, range_s: int, slide_s: int, rows: int = 400) -> list[tuple]:
    """What DuckDB makes of every window that holds an event."""
    events = ticks(rows)
    text = f"""SELECT w.e, symbol, {answer} FROM events
               JOIN (SELECT unnest(range(0, 1000, {slide_s})) AS e) w ON second >= w.e - {range_s} AND second < w.e
               GROUP BY ALL ORDER BY ALL"""
    assert events.num_rows
    return duckdb.sql(text).fetchall()


def told(found: pa.Table) -> list[tuple]:
    ends = [int((end - BEGIN).total_seconds()) for end in found["window_end"].to_pylist()]
    columns = (found[name].to_pylist() for name in ("symbol", "n", "v"))
    return sorted(zip(ends, *columns))


@pytest.fixture
def calls(monkeypatch) -> Counter:
    """Counts the windows that the maintenances answer, alone or together, which they do only here."""
    counted: Counter = Counter()
    within: list[str] = []

    def spied(name: str, kind: type, method: str) -> None:
        own = getattr(kind, method)

        def spy(self, *given):
            if type(self) is kind and name not in within:
                counted[name] += len(given[0]) if method == "answers" else 1
            within.append(name)
            try:
                return own(self, *given)
            finally:
                within.pop()

        monkeypatch.setattr(kind, method, spy)

    for name, kind in MAINTENANCES.items():
        for method in ("_whole" if hasattr(kind, "_whole") else "answer", "answers"):
            spied(name, kind, method)
    return counted


def test_the_table_is_true():
    page = (ROOT / "docs" / "choices.md").read_text()
    for way in CHOICES:
        assert (ROOT / "src" / "windrow" / way.file).exists(), way
        assert way.use and way.cost and way.source
        assert f"`{way.name}`" in page and f"`{way.file}`" in page, way
    assert len({(way.choice, way.name) for way in CHOICES}) == len(CHOICES)
    assert set(choices()["maintenance"]) == set(MAINTENANCES) and set(choices()["schedule"]) == set(schedules.ASKED)
    assert GRID_AXES == AXES


@pytest.mark.parametrize("batch_rows", [None, 37])
@pytest.mark.parametrize("way", [way for way in choices()["maintenance"] if way != "progressive"])
def test_every_maintenance_of_aggregates_answers_as_duckdb(way, batch_rows, calls):
    events = ticks()
    answer = SUMS if way in ("subtract", "exclude") else MOST
    texts = {
        f"q{range_s}": f"SELECT symbol, {answer} FROM ticks [RANGE {range_s} SECONDS SLIDE {slide_s} SECONDS] GROUP BY symbol"
        for range_s, slide_s in ((12, 2), (60, 10))
    }
    found = windrow.replay(texts, ticks=events, batch_rows=batch_rows, flush=True, choose={"maintenance": way})
    assert calls[way] > 20
    for (range_s, slide_s), table in zip(((12, 2), (60, 10)), found.values()):
        assert told(table) == judged(answer, range_s, slide_s)


@pytest.mark.parametrize("batch_rows", [None, 37])
@pytest.mark.parametrize("way", OF_LEVELS)
@pytest.mark.parametrize("answer", [SUMS, MOST])
def test_both_ways_of_levels_answer_as_duckdb(way, answer, batch_rows, calls):
    if (way, answer) == ("stairs", SUMS):
        return  # what can be subtracted is
    text = f"SELECT symbol, {answer} FROM ticks [RANGES 60 SECONDS, 12 SECONDS SLIDES 10 SECONDS, 2 SECONDS] GROUP BY symbol"
    found = windrow.replay(text, ticks=ticks(), batch_rows=batch_rows, flush=True, choose={"maintenance": way})
    assert calls[way] > 20
    for level, (range_s, slide_s) in enumerate(((12, 2), (60, 10))):
        assert told(found.filter(pa.compute.equal(found["level"], level))) == judged(answer, range_s, slide_s)


@cache
def judged_rows(answer: str, rows: int, slide: int) -> list[tuple]:
    """What DuckDB makes of every window of so many rows, by the number of its last row."""
    events = ticks()
    numbered = events.append_column("number", pa.array(range(1, len(events) + 1)))
    text = f"""SELECT w.last, symbol, {answer} FROM numbered
               JOIN (SELECT unnest(range({slide}, {len(numbered) + 1}, {slide})) AS last) w
               ON number > w.last - {rows} AND number <= w.last GROUP BY ALL ORDER BY ALL"""
    return duckdb.sql(text).fetchall()


def told_rows(found: pa.Table) -> list[tuple]:
    return sorted(zip(*(found[name].to_pylist() for name in ("window_row", "symbol", "n", "v"))))


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("rows", "slide"), [(40, 5), (33, 7), (6, 9)])
@pytest.mark.parametrize("batch_rows", [None, 37])
@pytest.mark.parametrize("way", [way for way in choices()["maintenance"] if way not in OF_LEVELS])
def test_every_maintenance_of_windows_that_count_rows_answers_as_duckdb(way, batch_rows, rows, slide, calls):
    """Also where many windows are due at once, which would else be folded together."""
    events, answer = ticks(), SUMS if way in ("subtract", "exclude") else MOST
    text = f"SELECT symbol, {answer} FROM ticks [ROWS {rows} SLIDE {slide}] GROUP BY symbol"
    found = windrow.replay(text, ticks=events, batch_rows=batch_rows, flush=True, choose={"maintenance": way})
    assert rows < slide or calls[way] >= len(events) // slide - 1  # a window of less than a cell has no whole one
    expected = judged_rows(answer, rows, slide)
    assert len(expected) > 50 and told_rows(found) == expected


@cache
def by_default(text: str, batch_rows: int) -> pa.Table:
    return windrow.replay(text, ticks=ticks(), batch_rows=batch_rows, flush=True)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("way", [way for way in choices()["maintenance"] if way not in OF_LEVELS])
@pytest.mark.parametrize("method", ["DENSITY_GRID(2, 3)", "C_BIRCH(2)"])
def test_every_maintenance_of_clusterings(way, method, calls):
    events = ticks()
    text = f"""SELECT COUNT(cid) AS n, CENTER(cid) AS c FROM ticks [RANGE 40 SECONDS SLIDE 2 SECONDS]
               CLUSTER BY x, y AS cid USING {method}"""
    if way in ("subtract", "exclude") and "BIRCH" in method:
        with pytest.raises(SettingsError, match=r"C_BIRCH\(2\) cannot be taken out again"):
            windrow.replay(text, ticks=events, choose={"maintenance": way})
        return
    found = windrow.replay(text, ticks=events, batch_rows=50, flush=True, choose={"maintenance": way})
    assert calls[way] > 20
    default = by_default(text, 50)
    if "GRID" in method:
        assert sorted(map(str, found.to_pylist())) == sorted(map(str, default.to_pylist()))
    else:  # however they are merged, the clusters of a window hold its points
        counts = [
            table.group_by("window_end").aggregate([("n", "sum")]).sort_by("window_end") for table in (found, default)
        ]
        assert counts[0].equals(counts[1])


@pytest.mark.one_in(3)
@pytest.mark.parametrize("way", choices()["schedule"])
@pytest.mark.parametrize("window", ["RANGE 12 SECONDS SLIDE 2 SECONDS", "ROWS 40 SLIDE 10", "ROWS 40 SLIDE 3 SECONDS"])
def test_every_schedule_says_when_windows_over_time_and_over_rows_slide(way, window, monkeypatch):
    asked: Counter = Counter()
    kinds = dict(schedules.ASKED)
    for name, kind in kinds.items():
        monkeypatch.setitem(
            schedules.ASKED, name, lambda clock, name=name, kind=kind: asked.update([name]) or kind(clock)
        )
    text = f"SELECT symbol, {MOST} FROM ticks [{window}] GROUP BY symbol"
    found = windrow.replay(text, ticks=ticks(), batch_rows=37, choose={"schedule": way})
    assert set(asked) == {way}
    assert len(found) > 50 and found.equals(windrow.replay(text, ticks=ticks(), batch_rows=37))


class Nearest:
    """An index of a user's own: all centres, in a list."""

    used = 0

    def __init__(self) -> None:
        self._centers: list[np.ndarray] = []

    def insert(self, row: int, center: np.ndarray) -> None:
        self._centers.insert(row, center)

    def move(self, row: int, center: np.ndarray) -> None:
        self._centers[row] = np.array(center)

    def nearest(self, point: np.ndarray) -> int:
        type(self).used += 1
        return int(((np.array(self._centers) - point) ** 2).sum(axis=1).argmin())


@pytest.mark.parametrize("way", choices()["index"])
def test_every_index_finds_the_same_clusters(way, monkeypatch):
    built: Counter = Counter()
    for name in ("grid_over", "tree_over"):
        own = getattr(indexes, name)
        monkeypatch.setattr(indexes, name, lambda *given, name=name, own=own: built.update([name]) or own(*given))
    text = "SELECT COUNT(cid) AS n, CENTER(cid) AS c FROM ticks [RANGE 40 SECONDS SLIDE 10 SECONDS] CLUSTER BY x, y AS cid USING C_BIRCH(1)"
    before = Nearest.used
    found = windrow.replay(text, ticks=ticks(), choose={"index": Nearest if way == OWN else way})
    assert (Nearest.used > before) == (way == OWN)
    assert set(built) == {"grid": {"grid_over"}, "boxes": {"tree_over"}}.get(way, set())
    assert len(found) > 100 and found.equals(windrow.replay(text, ticks=ticks()))


@pytest.mark.parametrize("way", choices()["eviction"])
def test_every_eviction_keeps_within_the_limit_and_answers_the_same(way, monkeypatch):
    monkeypatch.setattr(log, "BLOCK_ENTRIES", 64)
    asked: Counter = Counter()
    own = KeptBlocks.last_used
    monkeypatch.setattr(KeptBlocks, "last_used", lambda self, number: asked.update([way]) or own(self, number))
    events = ticks(4000)
    plan = planned(
        f"SELECT symbol, {MOST} FROM ticks [RANGE 60 SECONDS SLIDE 1 SECOND] GROUP BY symbol",
        events,
        LIMIT,
        eviction=way,
    )
    found = StageReplay(plan[0], {plan[1].name: plan[1]}, {plan[1].name: events}).run(100, flush=True)
    assert (asked[way] > 0) == (way != "distance")
    assert told(found) == judged(MOST, 60, 1, 4000)


def planned(text: str, events: pa.Table, memory: int = 1 << 30, **choose: str):
    catalog = local_catalog(
        {"ticks": events}, {}, time="ts", lateness="0 seconds", idle_clock=False, aggregates={}, clusterings={}
    )
    compiler = Compiler(catalog, {}.__getitem__, Wishes(memory, read_choose(choose)))
    plan = compiler.compile_scan([compiler.compile_query("query", parse_query(text))])
    assert isinstance(plan, StagePlan)
    return plan, catalog.streams["ticks"]


@pytest.mark.parametrize("way", choices()["keep"])
def test_panes_keep_what_is_asked_for(way):
    events, text = ticks(), f"SELECT symbol, {SUMS} FROM ticks [RANGE 12 SECONDS SLIDE 2 SECONDS] GROUP BY symbol"
    plan, _ = planned(text, events, keep=way)
    assert [space.keeps for space in plan.streams[0].time_spaces] == [way]
    assert told(windrow.replay(text, ticks=events, flush=True, choose={"keep": way})) == judged(SUMS, 12, 2)


@pytest.mark.parametrize("way", choices()["expiry"])
def test_every_expiry_is_the_same_wish_under_both_doors(way):
    text = "SELECT DISTINCT symbol FROM ticks [RANGE 10 SECONDS]"
    found = windrow.replay(text, ticks=ticks(), flush=True, choose={"expiry": way})
    assert len(found) and found.equals(windrow.replay(text, ticks=ticks(), flush=True, expiry=way))
    other = next(name for name in choices()["expiry"] if name != way)
    with pytest.raises(SettingsError, match="which of them"):
        windrow.replay(text, ticks=ticks(), expiry=other, choose={"expiry": way})


@pytest.mark.parametrize(
    ("choice", "kinds"), [("phantoms", ("symbol", "x")), ("classes", ("volume > 5", "volume > 50"))]
)
@pytest.mark.parametrize("way", ["on", "off"])
def test_spaces_are_fed_together_or_apart_as_asked(choice, kinds, way, monkeypatch):
    fed: list[int] = []
    own = slicing.lift
    monkeypatch.setattr(
        slicing, "lift", lambda chunk, spaces, kernels: fed.append(len(spaces)) or own(chunk, spaces, kernels)
    )
    window = "[RANGE 12 SECONDS SLIDE 2 SECONDS]"
    texts = {
        f"q{i}": f"SELECT {kind}, {SUMS} FROM ticks {window} GROUP BY {kind}"
        if choice == "phantoms"
        else f"SELECT symbol, {SUMS} FROM ticks {window} WHERE {kind} GROUP BY symbol"
        for i, kind in enumerate(kinds)
    }
    found = windrow.replay(texts, ticks=ticks(), flush=True, choose={choice: way})
    assert max(fed) == (2 if way == "on" else 1)
    for name, text in texts.items():
        alone = windrow.replay(text, ticks=ticks(), flush=True)
        assert sorted(map(str, found[name].to_pylist())) == sorted(map(str, alone.to_pylist()))


def test_a_wish_that_cannot_be_right_is_refused_with_the_reason():
    most = "SELECT MAX(volume) AS v FROM ticks [RANGE 12 SECONDS SLIDE 2 SECONDS]"
    with pytest.raises(SettingsError, match=r"cannot be taken out again; .* can have binary, two stacks, DABA, "):
        windrow.replay(most, ticks=ticks(), choose={"maintenance": "subtract"})
    with pytest.raises(SettingsError, match="several windows that nest"):
        windrow.replay(most, ticks=ticks(), choose={"maintenance": "stairs"})
    with pytest.raises(SettingsError, match="levels are for windows that nest"):
        windrow.replay(most, ticks=ticks(), choose={"maintenance": "progressive"})
    clusters = (
        "SELECT COUNT(cid) AS n FROM ticks [RANGE 9 SECONDS SLIDE 3 SECONDS] CLUSTER BY x, y AS cid USING DBSCAN(1, 2)"
    )
    with pytest.raises(SettingsError, match="DBSCAN looks for no nearest"):
        windrow.replay(clusters, ticks=ticks(), choose={"index": "grid"})
    for wrong, said in (
        ({"maintenance": "two stakcs"}, "did you mean two stacks"),
        ({"maintainance": "tree"}, "did you mean maintenance"),
        ({"index": 3}, "is no index"),
        ({"index": "own"}, "given as its class"),
        (["tree"], "no mapping"),
    ):
        with pytest.raises(SettingsError, match=said):
            windrow.replay(most, ticks=ticks(), choose=wrong)


def test_what_all_are_asked_is_for_those_that_can_have_it(calls):
    window = "[RANGE 12 SECONDS SLIDE 2 SECONDS]"
    texts = {"sum": f"SELECT {SUMS} FROM ticks {window}", "most": f"SELECT MAX(x) AS m FROM ticks {window}"}
    found = windrow.replay(texts, ticks=ticks(), choose={"maintenance": "exclude"})
    assert calls["exclude"] and calls["refold"]
    assert found["most"].equals(windrow.replay(texts["most"], ticks=ticks()))


def test_what_a_query_is_asked_by_name_goes_before_what_all_are_asked_and_must_be_right():
    catalog = local_catalog(
        {"ticks": ticks()}, {}, time="ts", lateness="0 seconds", idle_clock=False, aggregates={}, clusterings={}
    )
    compiler = Compiler(catalog, {}.__getitem__, Wishes(wanted=read_choose({"maintenance": "tree"})))
    text = "SELECT COUNT(*) AS n, MAX(volume) AS v FROM ticks [RANGE 12 SECONDS SLIDE 2 SECONDS]"
    named = compiler.compile_query("a", parse_query(text), choose=read_choose({"maintenance": "DABA"}))
    assert compiler.compile_scan([named]).streams[0].spaces[0].folds[0].maintenance == ("daba", "daba")
    assert compiler.compile_scan([compiler.compile_query("b", parse_query(text))]).streams[0].spaces[0].folds[
        0
    ].maintenance == (
        "tree",
        "tree",
    )
    with pytest.raises(SettingsError, match="query 'c' cannot have maintenance 'subtract'"):
        compiler.compile_query("c", parse_query(text), choose=read_choose({"maintenance": "subtract"}))
    other = compiler.compile_query("d", parse_query(text), choose=read_choose({"maintenance": "binary"}))
    with pytest.raises(SettingsError, match="'a' and 'd' share"):
        compiler.compile_scan([named, other])
    plain, graph = (
        compiler.compile_query(way, parse_query(text), choose=read_choose({"schedule": way}))
        for way in ("plain", "graph")
    )
    with pytest.raises(SettingsError, match="one schedule"):
        compiler.compile_scan([plain, graph])


@pytest.mark.one_in(3)
@pytest.mark.parametrize("after", ["tree", "refold", "binary", "two stacks", "DABA", "repetitive"])
@pytest.mark.parametrize("before", ["tree", "DABA", "two stacks"])
def test_a_restart_may_choose_another_maintenance(before, after):
    """What is kept beside the panes is built from them again."""
    events, text = ticks(), f"SELECT symbol, {MOST} FROM ticks [RANGE 30 SECONDS SLIDE 2 SECONDS] GROUP BY symbol"
    first, again = (planned(text, events, maintenance=way) for way in (before, after))
    blocks = MemoryBlocks()
    early = StageReplay(first[0], {first[1].name: first[1]}, {first[1].name: events}, blocks)
    rows = [table for start in range(0, 250, 50) for table in early.step(events.slice(start, 50))]
    late = StageReplay(again[0], {again[1].name: again[1]}, {again[1].name: events}, blocks)
    late.shard = type(late.shard)(again[0], blocks, early.shard.save())
    rows += [table for start in range(250, len(events), 50) for table in late.step(events.slice(start, 50))]
    whole = StageReplay(first[0], {first[1].name: first[1]}, {first[1].name: events}).run(50)
    assert sorted(map(str, pa.concat_tables(rows).to_pylist())) == sorted(map(str, whole.to_pylist()))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("after", ["tree", "refold", "DABA", None])
@pytest.mark.parametrize("before", ["tree", "two stacks", None])
def test_a_restart_may_choose_another_maintenance_of_windows_that_count_rows(before, after):
    """Names of row state do not tell the maintenance: no window is lost, and none comes twice."""
    events, text = ticks(), f"SELECT symbol, {MOST} FROM ticks [ROWS 40 SLIDE 5] GROUP BY symbol"
    ways = [{} if way is None else {"maintenance": way} for way in (before, after)]
    rows = pa.concat_tables(restarted(text, events, *ways))
    assert told_rows(rows) == [row for row in judged_rows(MOST, 40, 5) if row in set(told_rows(rows))]
    whole = windrow.replay(text, ticks=events, batch_rows=50)
    assert told_rows(rows) == told_rows(whole)


@pytest.mark.parametrize(("before", "after"), [("rows", "partials"), ("partials", "rows")])
def test_a_restart_may_keep_rows_or_partials_and_no_window_is_lost(before, after):
    events, text = ticks(), f"SELECT symbol, {SUMS} FROM ticks [RANGE 12 SECONDS SLIDE 2 SECONDS] GROUP BY symbol"
    found = pa.concat_tables(restarted(text, events, {"keep": before}, {"keep": after}))
    newest = events["second"][-1].as_py()
    assert told(found) == [row for row in judged(SUMS, 12, 2) if row[0] <= newest]


def test_queries_of_one_stream_keep_what_each_asks_for():
    events = ticks()
    text = "SELECT symbol, {} FROM ticks [RANGE 12 SECONDS SLIDE 2 SECONDS] {} GROUP BY symbol"
    texts = {"a": text.format(SUMS, ""), "b": text.format(MOST, ""), "c": text.format(SUMS, "WHERE volume > 0")}
    wished = {"a": "rows", "b": "partials", "c": "rows"}
    given = {"time": "ts", "lateness": "0 seconds", "idle_clock": False, "aggregates": {}, "clusterings": {}}
    catalog = local_catalog({"ticks": events}, {}, **given)
    compiler, queries = Compiler(catalog, {}.__getitem__, Wishes()), {}
    for name, asked in texts.items():
        wish = read_choose({"keep": wished[name]})
        queries[name] = compiler.compile_query(name, parse_query(asked), queries.values(), wish)
    (plan,) = compiler.compile_all(queries).values()
    kept = {str(partial) for space in plan.streams[0].time_spaces for partial in space.partials}
    assert kept == {"count(*)", "collect(`volume`)", "max(`volume`)"}
    found = StageReplay(plan, catalog.streams, {"ticks": events}).run_all(50, flush=True)
    assert told(found["a"]) == told(found["c"]) == judged(SUMS, 12, 2) and told(found["b"]) == judged(MOST, 12, 2)
    queries["d"] = compiler.compile_query("d", parse_query(texts["a"]), (), read_choose({"keep": "partials"}))
    with pytest.raises(SettingsError, match=r"queries 'a' and 'd' share .* and ask for rows and partials"):
        compiler.compile_all(queries)


def restarted(text: str, events: pa.Table, before: dict[str, str], after: dict[str, str]) -> list[pa.Table]:
    """What a job answers with the one wish, and after a restart with the other."""
    blocks, snapshot, tables = MemoryBlocks(), None, []
    for wish, start, stop in ((before, 0, 250), (after, 250, len(events))):
        plan, stream = planned(text, events, **wish)
        life = StageReplay(plan, {stream.name: stream}, {stream.name: events}, blocks)
        life.shard = type(life.shard)(plan, blocks, snapshot)
        tables.append(pa.concat_tables([t for at in range(start, stop, 50) for t in life.step(events.slice(at, 50))]))
        snapshot = life.shard.save()
    return tables


def test_one_replay_is_asked_as_all_are(calls):
    text = f"SELECT symbol, {MOST} FROM ticks [RANGE 12 SECONDS SLIDE 2 SECONDS] GROUP BY symbol"
    one = windrow.Replay(text, ticks=ticks(), choose={"maintenance": "DABA"})
    assert one.run().equals(windrow.replay(text, ticks=ticks())) and calls["DABA"] > 20
    with pytest.raises(SettingsError, match="there is no maintenance 'dabba'"):
        windrow.Replay(text, ticks=ticks(), choose={"maintenance": "dabba"})


def test_the_command_line_lists_and_asks():
    launch = read_launch("local[2]", ['choose.maintenance="two stacks"', "choose.eviction=LRU"])
    assert launch.choose == {"maintenance": "two stacks", "eviction": "LRU"}
    with pytest.raises(SettingsError, match=r"--set choose.schedule=wheel: there is no schedule 'wheel'"):
        read_launch("local[2]", ["choose.schedule=wheel"])
    assert read_wishes(["choose.maintenance=DABA", "choose.schedule='graph'"]) == {
        "maintenance": "DABA",
        "schedule": "graph",
    }
    with pytest.raises(SettingsError, match="--set shards=3: a running job takes wishes alone"):
        read_wishes(["shards=3"])
    shown = CliRunner().invoke(app, ["choices"], env={"COLUMNS": "80"})
    assert shown.exit_code == 0 and max(map(len, shown.output.splitlines())) <= 80
    flat = shown.output.replace("\n", "")
    assert all(way.name.split()[0] in flat for way in CHOICES)
    one = CliRunner().invoke(app, ["choices", "eviction"], env={"COLUMNS": "80"})
    assert "MRU" in one.output and "DABA" not in one.output
    assert CliRunner().invoke(app, ["choices", "evction"]).exit_code == 2
