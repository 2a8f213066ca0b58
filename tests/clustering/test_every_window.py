"""CLUSTER BY in every kind of window: the clusters of exactly the window's points, with numbers that stay."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from sklearn.cluster import DBSCAN

import windrow
from clustering.test_queries import SECOND, TIME
from runtime.core import Core, plan_of, rows_of

WINDOWS = {
    "rows": "[ROWS 40 SLIDE 10 ROWS]",
    "every row": "[ROWS 30 SLIDE 1]",
    "rows by time": "[ROWS 40 SLIDE 5 SECONDS]",
    "time by rows": "[RANGE 20 SECONDS SLIDE 10 ROWS]",
    "by key": "[PARTITION BY road ROWS 20 SLIDE 5]",
    "all rows": "[ROWS UNBOUNDED SLIDE 20]",
    "all rows by key": "[PARTITION BY road ROWS UNBOUNDED SLIDE 9]",
    "session": "[SESSION 2 SECONDS]",
    "session by key": "[PARTITION BY road SESSION 3 SECONDS]",
    "conditions": "[FROM i > 3 UNTIL i < -5]",
    "levels of rows": "[ROWS 40, 20 SLIDES 10, 5]",
    "landmark": "[RANGE UNBOUNDED SLIDE 10 SECONDS]",
    "levels": "[RANGES 40 SECONDS, 20 SECONDS SLIDES 10 SECONDS, 5 SECONDS]",
    "cumulate": "[RANGE 20 SECONDS SLIDE 5 SECONDS CUMULATE]",
}


def cars(rows: int, seed: int = 3) -> pa.Table:
    random = np.random.default_rng(seed)
    where = np.array([[0.0, 0.0], [60.0, 10.0], [20.0, 80.0]])[random.integers(0, 3, rows)]
    points = where + random.normal(0, 2, (rows, 2))
    return pa.table(
        {
            "ts": pa.array(np.sort(random.choice(120 * SECOND, rows, replace=False))).cast(TIME),
            "road": pa.array(np.array(["a", "b", None], object)[random.integers(0, 3, rows)], pa.string()),
            "x": pa.array(points[:, 0], mask=random.random(rows) < 0.04),
            "y": points[:, 1],
            "i": random.integers(-9, 9, rows),
            "id": np.arange(rows),
        }
    )


def windows(rows: list[dict]) -> dict[tuple, list[dict]]:
    """Rows by their window and group."""
    found: dict[tuple, list[dict]] = {}
    for row in rows:
        by = ("window_start", "window_end", "window_row", "window_number", "level", "final", "as_of", "road")
        found.setdefault(tuple(row.get(name) for name in by), []).append(row)
    return found


@pytest.mark.parametrize("group", ["", "GROUP BY road"])
@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
def test_the_clusters_are_those_of_exactly_the_points_of_the_window(window: str, group: str):
    events = cars(150)
    points = {row["id"]: row for row in events.to_pylist()}
    road = "road, " if group else ""
    asked = "cid, COUNT(cid) AS n, CENTER(cid) AS center, SUM(i) AS total, COLLECT_LIST(id) AS ids"
    texts = {
        "plain": f"SELECT {road}COLLECT_LIST(id) AS ids FROM cars {window} WHERE i < 8 {group}",
        "birch": f"SELECT {road}{asked} FROM cars {window} WHERE i < 8 {group} CLUSTER BY x, y USING C_BIRCH(6)",
        "dense": f"SELECT {road}{asked} FROM cars {window} WHERE i < 8 {group} CLUSTER BY x, y USING EXTRA_N(4, 3)",
    }
    found = {
        name: windows(windrow.replay(text, cars=events, batch_rows=33).to_pylist()) for name, text in texts.items()
    }
    assert found["plain"].keys() >= found["birch"].keys() >= found["dense"].keys()
    assert len(found["birch"]) > 2
    for place, (plain,) in found["plain"].items():
        inside = {i for i in plain["ids"] if points[i]["x"] is not None}
        birch, dense = (found[name].get(place, []) for name in ("birch", "dense"))
        assert sorted(i for row in birch for i in row["ids"]) == sorted(inside)
        for row in (*birch, *dense):
            own = [points[i] for i in row["ids"]]
            assert row["n"] == len(own) and row["total"] == sum(point["i"] for point in own)
            assert row["center"] == pytest.approx(np.mean([[point["x"], point["y"]] for point in own], axis=0))
        assert len({row["cid"] for row in birch}) == len(birch)
        if inside:
            order = sorted(inside)
            fitted = DBSCAN(eps=4, min_samples=3).fit([[points[i]["x"], points[i]["y"]] for i in order])
            core = {order[i] for i in fitted.core_sample_indices_}
            labels = dict(zip(order, fitted.labels_.tolist()))
            expected = {frozenset(i for i in core if labels[i] == label) for label in {labels[i] for i in core}}
            assert {frozenset(core.intersection(row["ids"])) for row in dense} == expected
            assert {i for row in dense for i in row["ids"]} == {i for i in order if labels[i] >= 0}


@pytest.mark.parametrize(
    "window", ["[ROWS 40 SLIDE 10 ROWS]", "[PARTITION BY road ROWS 20 SLIDE 5]", "[SESSION 2 SECONDS]"]
)
def test_restarts_and_batches_change_no_number(window: str):
    events, answers = cars(160, seed=9), []
    texts = [
        f"SELECT road, cid, COUNT(cid) AS n FROM ticks {window} GROUP BY road CLUSTER BY x, y USING {method}"
        for method in ("C_BIRCH(5)", "C_BIRCH(9)", "EXTRA_N(4, 2)")
    ]
    for reopen, batch in (("never", 40), ("adopt", 40), ("fresh", 40), ("fresh", 20)):
        core = Core(plan_of(texts, events.schema), reopen=reopen)
        rows = [row for start in range(0, 160, batch) for row in rows_of(core.step(events.slice(start, batch)))]
        answers.append(sorted(map(repr, [*rows, *rows_of(core.flush())])))
    assert answers[0] == answers[1] == answers[2]
    assert len(answers[0]) == len(answers[3]) > 40


def test_a_cluster_keeps_its_number_from_row_to_row_while_it_moves():
    spots = [(0.1 * step, 0.0) if step % 2 else (50.0 - 0.1 * step, 9.0) for step in range(200)]
    late = [(200.0, 200.0)] * 20
    x, y = zip(*[*spots, *late])
    events = pa.table({"ts": pa.array(np.arange(220) * SECOND).cast(TIME), "x": x, "y": y})
    found = windrow.replay(
        "SELECT cid, CENTER(cid)[1] AS y FROM cars [ROWS 20 SLIDE 1] CLUSTER BY x, y USING C_BIRCH(3)", cars=events
    ).to_pylist()
    names = {place: {row["cid"] for row in found if row["y"] == pytest.approx(place)} for place in (0.0, 9.0, 200.0)}
    assert all(len(numbers) == 1 for numbers in names.values()) and len(set.union(*names.values())) == 3


def test_clusters_of_joined_rows():
    events, table = cars(150), pa.table({"name": ["a", "b"], "shift": [0.0, 500.0]})
    joined = (
        "SELECT cid, COUNT(cid) AS n, CENTER(cid)[0] AS x FROM cars {} JOIN roads ON road = name"
        " CLUSTER BY x + shift, y USING C_BIRCH(9)"
    )
    for window in ("[RANGE 20 SECONDS SLIDE 5 SECONDS]", "[ROWS 40 SLIDE 10]", "[SESSION 2 SECONDS]"):
        rows = windrow.replay(joined.format(window), cars=events, tables={"roads": table}).to_pylist()
        near, far = ([row for row in rows if (row["x"] > 300) == side] for side in (False, True))
        assert near and far and not any(100 < row["x"] < 300 for row in rows)


def test_windows_over_the_clusters_of_windows():
    events = cars(200, seed=5)
    inner = (
        "SELECT COUNT(cid) AS n, CENTER(cid)[0] AS cx, CENTER(cid)[1] AS cy FROM cars"
        " [RANGE 10 SECONDS SLIDE 5 SECONDS] CLUSTER BY x, y USING C_BIRCH(6)"
    )
    below = windrow.replay(inner, cars=events).to_pylist()
    outer = "[RANGE 30 SECONDS SLIDE 10 SECONDS]"
    above = windrow.replay(f"SELECT MAX(n) AS m, COUNT(*) AS k FROM ({inner}) AS q {outer}", cars=events).to_pylist()
    assert len(above) > 5
    for row in above:
        own = [one["n"] for one in below if row["window_start"] < one["window_end"] <= row["window_end"]]
        assert (row["m"], row["k"]) == (max(own), len(own))
    text = f"SELECT cid, SUM(n) AS cars, COUNT(cid) AS windows FROM ({inner}) AS q {outer} CLUSTER BY cx, cy USING C_BIRCH(8)"
    again = windrow.replay(text, cars=events).to_pylist()
    ends = {row["window_end"] for row in again}
    assert len(ends) > 5
    for end in ends:
        rows = [row for row in again if row["window_end"] == end]
        own = [one for one in below if rows[0]["window_start"] < one["window_end"] <= end]
        assert sum(row["windows"] for row in rows) == len(own)
        assert sum(row["cars"] for row in rows) == sum(one["n"] for one in own)


def test_rows_without_a_place_are_told_in_windows_of_rows_too():
    events = cars(100)
    text = "SELECT COUNT(cid) AS n FROM ticks {} CLUSTER BY x, y USING C_BIRCH(5)"
    for window in ("[ROWS 10 SLIDE 5]", "[SESSION 2 SECONDS]", "[PARTITION BY road ROWS 10 SLIDE 5]"):
        outcomes = Core(plan_of([text.format(window)], events.schema)).step(events)
        assert sum(outcome.unplaced for outcome in outcomes) == events["x"].null_count > 0


@pytest.mark.parametrize("reopen", ["never", "fresh"])
@pytest.mark.parametrize(
    "window", ["[SESSION 3 SECONDS EMIT EVERY 1 SECOND]", "[PARTITION BY road SESSION 4 SECONDS EMIT EVERY 2 SECONDS]",
               "[FROM i > 3 UNTIL i < -5 EMIT EVERY 1 SECOND]"]
)  # fmt: skip
def test_a_window_that_is_told_early_keeps_its_clusters_numbers_until_it_ends(window: str, reopen: str):
    events = cars(160, seed=6)
    text = f"SELECT cid, COUNT(cid) AS n, CENTER(cid) AS center FROM ticks {window} CLUSTER BY x, y USING C_BIRCH(6)"
    core = Core(plan_of([text], events.schema), reopen=reopen)
    rows = [row for start in range(0, 160, 20) for row in rows_of(core.step(events.slice(start, 20)))]
    rows += rows_of(core.flush())
    answers: dict[tuple, dict[int, dict]] = {}
    for row in rows:
        own = answers.setdefault((row["window_start"], row.get("window_number"), row.get("key_0")), {})
        own.setdefault(row["due"], {})[row["agg_0"]] = row
    assert sum(len(own) > 2 for own in answers.values()) > 1
    for own in answers.values():
        turns = [turn for _, turn in sorted(own.items())]
        for before, after in zip(turns, turns[1:]):
            assert before.keys() <= after.keys() or len(after) < len(before)  # none goes while a window grows
            for number in before.keys() & after.keys():  # towns are 60 apart, clusters at most 6 wide
                assert np.hypot(*np.subtract(before[number]["agg_2"], after[number]["agg_2"])) < 20
