"""Clusters of windows that count rows: points come to a shard as they are, and are summarised pane by pane."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN

from clustering.test_queries import SECOND, TIME
from runtime.core import Core, plan_of, rows_of
from windrow.clustering.taken_rows import RowCodec, column_of, taken_rows, together
from windrow.kernels import Rows
from windrow.runtime.outcome import Outcome

ASKED = (
    "road, cid, COUNT(cid) AS n, CENTER(cid) AS center, SUM(fee) AS fees, MAX(name) AS last_name,"
    " COUNT(*) FILTER (WHERE fee > 4) AS dear, FIRST(id) AS first_id, COLLECT_LIST(id) AS ids"
)

NAMES = ("cid", "n", "center", "fees", "last_name", "dear", "first_id", "ids")


def stream(rows: int, seed: int) -> pa.Table:
    """Points around three places, some none at all, with values of many kinds beside; times have ties and gaps."""
    random = np.random.default_rng(seed)
    points = np.array([[0.0, 0.0], [60.0, 10.0], [20.0, 80.0]])[random.integers(0, 3, rows)]
    points += random.normal(0, 2, (rows, 2))
    points[random.random(rows) < 0.03, 0] = np.nan
    points[random.random(rows) < 0.02, 1] = np.inf
    fees = random.integers(0, 9, rows)
    return pa.table(
        {
            "ts": pa.array(np.cumsum(random.integers(0, 4, rows)) * SECOND).cast(TIME),
            "road": pa.array(np.array(["a", "b", None], object)[random.integers(0, 3, rows)], pa.string()),
            "x": pa.array(points[:, 0], mask=random.random(rows) < 0.03),
            "y": points[:, 1],
            "fee": pa.array(fees, pa.int64(), mask=random.random(rows) < 0.1),
            "name": pa.array([f"n{fee}" for fee in fees]),
            "id": np.arange(rows),
        }
    )


def told_by(outcomes: Sequence[Outcome]) -> list[dict]:
    """The rows that a shard tells, by the names of the query."""
    names = {"key_0": "road"} | {f"agg_{i}": name for i, name in enumerate(NAMES)}
    return [{names.get(name, name): value for name, value in row.items()} for row in rows_of(outcomes)]


def windows_by_key(events: list[dict], rows: int, slide: int) -> dict[tuple, list[dict]]:
    """The events of each window, in plain Python: the last `rows` of a road, at every so many of them."""
    roads, found = defaultdict(list), {}
    for event in events:
        held = roads[event["road"]]
        held.append(event)
        if len(held) % slide == 0:
            found[event["road"], len(held)] = held[-rows:]
    return found


@given(
    st.integers(0, 1000),
    st.sampled_from([(20, 5), (90, 10), (64, 16), (100, 25), (33, 11), (50, 7)]),
    st.sampled_from([17, 60, 400]),
    st.sampled_from(["never", "adopt", "fresh"]),
)
@settings(max_examples=24, deadline=None)
def test_clusters_by_key_are_those_of_the_points_of_each_window(
    seed: int, window: tuple[int, int], batch: int, reopen: str
):
    rows, slide = window
    events = stream(400, seed)
    text = f"SELECT {ASKED} FROM ticks [PARTITION BY road ROWS {rows} SLIDE {slide}] WHERE fee IS NULL OR fee < 8"
    text += " GROUP BY road CLUSTER BY x, y USING EXTRA_N(4, 3)"
    core = Core(plan_of([text], events.schema), reopen=reopen)
    told = [row for start in range(0, 400, batch) for row in told_by(core.step(events.slice(start, batch)))]
    found = defaultdict(list)
    for row in [*told, *told_by(core.flush())]:
        found[row["road"], row["window_row"]].append(row)
    expected = windows_by_key(events.to_pylist(), rows, slide)
    assert found.keys() <= expected.keys()
    for place, inside in expected.items():
        points = {
            event["id"]: event
            for event in inside
            if event["x"] is not None and np.isfinite([event["x"], event["y"]]).all()
            if event["fee"] is None or event["fee"] < 8
        }
        check(found.get(place, []), points)


def check(clusters: list[dict], points: dict[int, dict]) -> None:
    """`clusters` are those that scikit-learn finds in `points`, with what plain Python says of each."""
    if not points:
        assert not clusters
        return
    order = sorted(points)
    fitted = DBSCAN(eps=4, min_samples=3).fit([[points[i]["x"], points[i]["y"]] for i in order])
    core = {order[i] for i in fitted.core_sample_indices_}
    labels = dict(zip(order, fitted.labels_.tolist()))
    expected = {frozenset(i for i in core if labels[i] == label) for label in {labels[i] for i in core}}
    assert {frozenset(core.intersection(row["ids"])) for row in clusters} == expected
    assert sorted(i for row in clusters for i in row["ids"]) == [i for i in order if labels[i] >= 0]
    for row in clusters:
        own = [points[i] for i in row["ids"]]
        fees = [event["fee"] for event in own if event["fee"] is not None]
        assert row["n"] == len(own) and row["fees"] == (sum(fees) if fees else None)
        assert row["dear"] == sum(fee > 4 for fee in fees)
        assert row["last_name"] == max(event["name"] for event in own)
        assert row["first_id"] in [event["id"] for event in own if event["ts"] == min(one["ts"] for one in own)]
        assert row["center"] == pytest.approx(np.mean([[event["x"], event["y"]] for event in own], axis=0))


@pytest.mark.parametrize("rows", [40, 30])
@pytest.mark.parametrize("reopen", ["never", "fresh"])
def test_clusters_of_all_rows_are_those_of_the_points_of_each_window(rows: int, reopen: str):
    events = stream(300, seed=rows)
    text = f"SELECT {ASKED} FROM ticks [ROWS {rows} SLIDE 10] GROUP BY road CLUSTER BY x, y USING EXTRA_N(4, 3)"
    core = Core(plan_of([text], events.schema), reopen=reopen)
    told = [row for start in range(0, 300, 37) for row in told_by(core.step(events.slice(start, 37)))]
    found = defaultdict(list)
    for row in [*told, *told_by(core.flush())]:
        found[row["window_row"], row["road"]].append(row)
    plain = events.to_pylist()
    assert set(range(50, 301, 10)) <= {end for end, _ in found} <= set(range(10, 301, 10))
    for end in range(10, 301, 10):
        for road in ("a", "b", None):
            inside = [event for event in plain[max(0, end - rows) : end] if event["road"] == road]
            points = {e["id"]: e for e in inside if e["x"] is not None and np.isfinite([e["x"], e["y"]]).all()}
            check(found.get((end, road), []), points)


def test_rows_of_several_batches_come_back_from_blocks_in_their_order():
    older, newer = (
        taken_rows(column_of(Rows(pa.array([{"x": x, "s": str(x)} for x in values]), np.array(times)), [0]))
        for values, times in (([1, 2, 3], [7, 8, 9]), ([4, None], [10, 11]))
    )
    rows = np.concatenate([newer, [None], older])[[0, 2, 5, 1, 3]]
    again = RowCodec().from_arrow(RowCodec().to_arrow(rows))
    assert [row is None for row in again] == [False, True, False, False, False]
    column, places = together(again)
    assert column is not None and places.tolist() == [0, 2, 3, 4]
    assert column.field("0").to_pylist() == [4.0, 3.0, None, 1.0]
    assert column.field("time").to_pylist() == [10, 9, 11, 7]
    assert RowCodec().from_arrow(RowCodec().to_arrow(np.array([None, None]))).tolist() == [None, None]
