"""CLUSTER BY in windows without a slide: at every instant the clusters of exactly the rows that are there."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import windrow
from clustering.test_queries import SECOND, TIME
from drawn_examples import examples
from operators.accumulate import changes_of
from windrow.clustering import KnownClusterings
from windrow.compile.place_expiry import place_expiry
from windrow.expressions.evaluate_text import evaluate_text
from windrow.language import parse_query
from windrow.local.local_catalog import LocalEngine
from windrow.operators.pipeline import Arrivals, Pipeline
from windrow.plan.bind.bind import bind
from windrow.plan.catalog import Catalog, Stream
from windrow.plan.expiry import Expiry
from windrow.plan.nodes.changes import Node, Scan
from windrow.storage.blocks import MemoryBlocks

RANGE = 10 * SECOND
ASKED = "cid, COUNT(cid) AS n, CENTER(cid) AS center, RADIUS(cid) AS radius, SUM(i) AS total, COLLECT_LIST(id) AS ids"


def cars(rows: int, seed: int = 3, seconds: int = 60) -> pa.Table:
    """Cars around three places, some at the same instant, some without a place, some at the very same spot."""
    random = np.random.default_rng(seed)
    where = np.array([[0.0, 0.0], [60.0, 10.0], [20.0, 80.0]])[random.integers(0, 3, rows)]
    points = np.round(where + random.normal(0, 2, (rows, 2)))
    return pa.table(
        {
            "ts": pa.array(np.sort(random.integers(0, 4 * seconds, rows)) * (SECOND // 4)).cast(TIME),
            "road": pa.array(np.array(["a", "b", None], object)[random.integers(0, 3, rows)], pa.string()),
            "x": pa.array(points[:, 0], mask=random.random(rows) < 0.04),
            "y": points[:, 1],
            "i": random.integers(-9, 9, rows),
            "id": np.arange(rows),
        }
    )


def answers(changes: list[dict]) -> dict[int, list[dict]]:
    """What stands from each instant on, by the changes; a `-` takes away what is there."""
    found: dict[int, list[dict]] = {}
    standing: Counter[str] = Counter()
    rows: dict[str, dict] = {}
    for change in changes:
        row = {name: value for name, value in change.items() if name not in ("op", "time")}
        rows[repr(row)] = row
        standing[repr(row)] += 1 if change["op"] == "+" else -1
        assert standing[repr(row)] in (0, 1), "a row is taken that is not there, or told twice"
        time = int(change["time"].timestamp() * SECOND + 0.5)
        found[time] = [rows[text] for text, often in standing.items() if often]
    return found


def inside(events: pa.Table, time: int, road: object = Ellipsis) -> list[dict]:
    points = events.filter(events["x"].is_valid()).to_pylist()
    times = events.filter(events["x"].is_valid())["ts"].cast(pa.int64()).to_pylist()
    there = [point for point, ts in zip(points, times) if ts <= time < ts + RANGE and point["i"] < 8]
    return there if road is Ellipsis else [point for point in there if point["road"] == road]


def check_dense(rows: list[dict], points: list[dict], eps: float, minimum: int) -> None:
    """The same dense points together, the same noise."""
    if not points:
        assert rows == []
        return
    at = np.array([[point["x"], point["y"]] for point in points])
    near = ((at[:, None] - at[None]) ** 2).sum(axis=2) <= eps * eps
    core = near.sum(axis=1) >= minimum
    joined = near & core[:, None] & core[None]
    for _ in range(len(points).bit_length()):
        joined = joined @ joined
    ids = np.array([point["id"] for point in points])
    of = [set(ids[row].tolist()) for row in joined[core]]
    assert {frozenset(set(ids[core].tolist()).intersection(row["ids"])) for row in rows} == set(map(frozenset, of))
    assert sorted(i for row in rows for i in row["ids"]) == sorted(ids[(near & core).any(axis=1)].tolist())


def check_rows(rows: list[dict], points: list[dict]) -> None:
    """Every cluster is what its rows say."""
    known = {point["id"]: point for point in points}
    assert len({row["cid"] for row in rows}) == len(rows)
    for row in rows:
        own = [known[i] for i in row["ids"]]
        at = np.array([[point["x"], point["y"]] for point in own])
        assert row["n"] == len(own) and row["total"] == sum(point["i"] for point in own)
        assert row["center"] == pytest.approx(at.mean(axis=0), abs=1e-9)
        assert row["radius"] == pytest.approx(np.sqrt(((at - at.mean(axis=0)) ** 2).sum(axis=1).mean()), abs=1e-6)


METHODS = ("C_BIRCH(6)", "K_MEANS(3)", "DBSCAN(4, 3)", "EXTRA_N(4, 3)", "DENSITY_GRID(8, 2)")


@pytest.mark.parametrize("group", ["", "GROUP BY road"])
@pytest.mark.parametrize("method", METHODS)
def test_at_every_instant_the_clusters_are_those_of_the_rows_that_are_there(method: str, group: str):
    events = cars(80)
    road = "road, " if group else ""
    text = f"SELECT {road}{ASKED} FROM cars [RANGE 10 SECONDS] WHERE i < 8 {group} CLUSTER BY x, y USING {method}"
    changes = windrow.replay(text, cars=events, batch_rows=33).to_pylist()
    told = answers(changes)
    assert len(told) > 20
    for time, rows in told.items():
        for own in ("a", "b", None) if group else (Ellipsis,):
            part = rows if own is Ellipsis else [row for row in rows if row["road"] == own]
            points = inside(events, time, own)
            check_rows(part, points)
            if method.startswith(("DBSCAN", "EXTRA_N")):
                check_dense(part, points, 4, 3)
            elif not method.startswith("DENSITY"):
                assert sorted(i for row in part for i in row["ids"]) == sorted(point["id"] for point in points)
            if method.startswith("C_BIRCH"):
                assert all(row["radius"] <= 6 + 1e-9 for row in part)
            if method.startswith("K_MEANS"):
                assert len(part) <= 3


GROUPED = "SELECT road, cid, COUNT(cid) AS n, SUM(i) AS total FROM ticks {} GROUP BY road CLUSTER BY x, y USING {}"


def scan_of(plan: Node) -> Scan:
    return plan if isinstance(plan, Scan) else scan_of(plan.children[0])


def piped(method: str, events: pa.Table, batch: int, restarts: bool) -> list[tuple]:
    """The changes of a window without a slide, in batches, perhaps with a restart after each."""
    catalog = Catalog(LocalEngine(), {"ticks": Stream("ticks", events.schema, "ts")}, {}, {}, KnownClusterings())
    root = bind(parse_query(GROUPED.format("[RANGE 10 SECONDS]", method)), catalog).root
    plan, blocks, found = place_expiry(root, Expiry.HYBRID), MemoryBlocks(), []
    scan = scan_of(plan)
    pipeline = Pipeline({"q": plan}, evaluate_text, blocks)
    for start in range(0, events.num_rows, batch):
        rows = events.slice(start, batch).combine_chunks().to_batches()[0]
        columns = [evaluate_text(text, rows) for text in scan.texts]
        times = rows.column("ts").cast(pa.int64()).to_numpy()
        later = events["ts"].cast(pa.int64()).to_pylist()[start + batch : start + batch + 1]
        clock = later[0] - 1 if later else int(times[-1]) + 2 * RANGE
        arrivals = {"ticks": Arrivals(times, pa.record_batch(columns, names=list(scan.names)))}
        found += changes_of([pipeline.advance(arrivals, clock)["q"]])
        if restarts:
            pipeline.save()
            snapshot = json.loads(json.dumps(pipeline.snapshot()))
            pipeline = Pipeline({"q": plan}, evaluate_text, blocks, snapshot=snapshot)
    return sorted(found, key=repr)


@settings(max_examples=examples(100), deadline=None)
@given(
    st.integers(0, 10_000), st.integers(1, 50), st.sampled_from(("EXTRA_N(4, 3)", "DBSCAN(4, 2)", "DENSITY_GRID(8, 2)"))
)
@example(9, 40, "EXTRA_N(4, 3)")
def test_no_cut_into_batches_and_no_restart_changes_what_forgets(seed: int, batch: int, method: str):
    events = cars(40, seed, seconds=20)
    whole = piped(method, events, 40, restarts=False)
    assert whole and not sum(weight for _, weight, _ in whole)  # in the end all is gone
    assert whole == piped(method, events, batch, restarts=False) == piped(method, events, batch, restarts=True)


@pytest.mark.parametrize("method", ["C_BIRCH(5)", "K_MEANS(2)"])
def test_restarts_change_nothing_where_points_are_merged_again(method: str):
    events = cars(80, 5)
    assert piped(method, events, 20, restarts=False) == piped(method, events, 20, restarts=True)


@pytest.mark.parametrize(
    "window", ["[ROWS 20]", "[ROWS 20 SLIDE 3]", "[PARTITION BY road ROWS 8]", "[RANGE 10 SECONDS SLIDE 4 ROWS]"]
)
def test_changes_of_windows_that_count_rows_add_up_to_their_answers(window: str):
    events = cars(90)
    asked = (
        "SELECT road, cid, COUNT(cid) AS n, CENTER(cid) AS center, COLLECT_LIST(id) AS ids FROM cars {} GROUP BY road"
    )
    asked += " CLUSTER BY x, y USING {}"
    whole = window if "SLIDE" in window else window.replace("]", " SLIDE 1]")
    for method in ("C_BIRCH(6)", "EXTRA_N(4, 2)"):
        emit = " EMIT CHANGES" if "SLIDE" in window else ""
        told = answers(windrow.replay(asked.format(window, method) + emit, cars=events, batch_rows=33).to_pylist())
        rows = windrow.replay(asked.format(whole, method), cars=events, batch_rows=33).to_pylist()
        by_key = "PARTITION" in window
        expected: dict[object, list[dict]] = {}
        for row in rows:
            end = int(row.pop("window_end").timestamp() * SECOND + 0.5)
            place = (row.pop("window_row"), end, row["road"] if by_key else None)
            del row["window_start"]
            expected.setdefault(place, []).append(row)
        last = {place[1:]: found for place, found in sorted(expected.items(), key=lambda item: item[0][0])}
        assert len(last) > 10
        for (end, road), found in last.items():
            before = max(time for time in told if time <= end)
            mine = [row for row in told[before] if not by_key or row["road"] == road]
            assert sorted(map(repr, mine)) == sorted(map(repr, found))


def test_a_cluster_keeps_its_number_while_rows_come_and_go():
    spots = [(0.1 * step, 0.0) if step % 2 else (50.0 - 0.1 * step, 9.0) for step in range(100)]
    x, y = zip(*spots)
    events = pa.table({"ts": pa.array(np.arange(100) * SECOND).cast(TIME), "x": x, "y": y})
    for method in ("C_BIRCH(3)", "EXTRA_N(3, 1)"):
        text = f"SELECT cid, CENTER(cid)[1] AS y, COUNT(*) AS n FROM cars [RANGE 20 SECONDS] CLUSTER BY x, y USING {method}"
        found = windrow.replay(text, cars=events).to_pylist()
        names = {place: {row["cid"] for row in found if row["y"] == pytest.approx(place)} for place in (0.0, 9.0)}
        assert all(len(numbers) == 1 for numbers in names.values()) and len(set.union(*names.values())) == 2


def test_the_net_changes_of_every_few_seconds():
    events = cars(120)
    query = "SELECT cid, COUNT(cid) AS n, COLLECT_LIST(id) AS ids FROM cars [RANGE 10 SECONDS] WHERE i < 8 CLUSTER BY x, y USING EXTRA_N(4, 3)"
    told = answers(windrow.replay(f"{query} EMIT LAST EVERY 5 SECONDS", cars=events).to_pylist())
    assert len(told) > 5 and all(time % (5 * SECOND) == 0 for time in told)
    for time, rows in told.items():
        check_dense(rows, inside(events, time), 4, 3)


def test_clusters_of_the_pairs_of_two_streams():
    events, other = cars(40, 3, 30), cars(30, 4, 30)
    text = (
        "SELECT cid, COUNT(cid) AS n, COLLECT_LIST(a.id * 1000 + b.id) AS ids FROM cars [RANGE 10 SECONDS] AS a"
        " JOIN others [RANGE 10 SECONDS] AS b ON a.road = b.road CLUSTER BY a.x + b.x, a.y USING EXTRA_N(4, 3)"
    )
    told = answers(windrow.replay(text, cars=events, others=other).to_pylist())
    assert len(told) > 20
    for time, rows in told.items():
        pairs = []
        for stream in (events, other):
            times = stream["ts"].cast(pa.int64()).to_pylist()
            pairs.append([row for row, ts in zip(stream.to_pylist(), times) if ts <= time < ts + RANGE])
        points = [
            {"id": a["id"] * 1000 + b["id"], "x": a["x"] + b["x"], "y": a["y"]}
            for a in pairs[0]
            for b in pairs[1]
            if a["road"] == b["road"] is not None and a["x"] is not None and b["x"] is not None
        ]
        check_dense(rows, points, 4, 3)


def test_other_columns_of_clusters_and_their_conditions():
    events = cars(90)
    text = "SELECT road, COUNT(cid) + 1 AS more FROM cars [RANGE 10 SECONDS] GROUP BY road CLUSTER BY x, y AS c USING C_BIRCH(6) HAVING COUNT(c) > 1"
    with pytest.raises(windrow.QueryError, match="cid"):
        windrow.replay(text, cars=events)
    rows = windrow.replay(text.replace("COUNT(cid)", "COUNT(c)"), cars=events).to_pylist()
    assert rows and all(row["more"] > 2 for row in rows)
    with pytest.raises(windrow.QueryError, match="numbers"):
        windrow.replay("SELECT cid FROM cars [RANGE 1 SECOND] CLUSTER BY road, y USING C_BIRCH(6)", cars=events)
    with pytest.raises(windrow.QueryError, match="twice"):
        windrow.replay("SELECT cid FROM cars [RANGE 1 SECOND] CLUSTER BY x, x USING C_BIRCH(6)", cars=events)


def test_an_index_of_ones_own_is_asked_and_finds_the_same_clusters():
    asked = []

    class Scan:
        def __init__(self):
            self.centers = {}

        def insert(self, row, center):
            self.centers[row] = np.array(center)

        move = insert

        def nearest(self, point):
            asked.append(point)
            return min(self.centers, key=lambda row: (float(((self.centers[row] - point) ** 2).sum()), row))

    random = np.random.default_rng(5)
    times = pa.array(np.arange(40), pa.timestamp("s", tz="UTC"))
    cars = pa.table({"ts": times, "x": random.normal(0, 30, 40), "y": random.normal(0, 30, 40)})
    text = "SELECT cid, COUNT(cid) AS n FROM cars [RANGE 20 SECONDS] CLUSTER BY x, y AS cid USING {}"
    birch = text.format("C_BIRCH(10)")
    usual = windrow.replay(birch, cars=cars).to_pylist()
    for index in (Scan, "scan", "grid", "boxes"):
        assert windrow.replay(birch, cars=cars, choose={"index": index}).to_pylist() == usual
        assert asked
    with pytest.raises(windrow.WindrowError, match="looks for no nearest cluster"):
        windrow.replay(text.format("DBSCAN(5, 2)"), cars=cars, choose={"index": "grid"})
