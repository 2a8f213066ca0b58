"""CLUSTER BY from text to rows: the clusters of exactly the window's points, and what else is asked of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN

import windrow
from drawn_examples import examples
from runtime.core import Core, plan_of, rows_of
from windrow.compile.choose_phantoms import can_share
from windrow.compile.share_clusters import share_clusters
from windrow.errors import QueryError
from windrow.local.replay import Replay

SECOND = 10**6
TIME = pa.timestamp("us", tz="UTC")
ASKED = "cid, CENTER(cid) AS center, RADIUS(cid) AS radius, COUNT(cid) AS n, AVG(speed) AS mean, SUM(i) AS total"


def cars(rows: int, seed: int = 3, seconds: int = 120) -> pa.Table:
    """Points about three places, in order of time, some of them with holes."""
    random = np.random.default_rng(seed)
    where = random.integers(0, 3, rows)
    points = np.array([[0.0, 0.0], [60.0, 10.0], [20.0, 80.0]])[where] + random.normal(0, 2, (rows, 2))
    times = np.sort(random.integers(0, seconds * SECOND, rows))
    return pa.table(
        {
            "ts": pa.array(times).cast(TIME),
            "road": pa.array(np.array(["a", "b", None], object)[random.integers(0, 3, rows)], pa.string()),
            "x": pa.array(points[:, 0], mask=random.random(rows) < 0.03),
            "y": pa.array(np.where(random.random(rows) < 0.03, np.nan, points[:, 1])),
            "speed": pa.array(random.uniform(0, 60, rows), mask=random.random(rows) < 0.1),
            "i": pa.array(random.integers(-9, 9, rows)),
        }
    )


def points_in(events: pa.Table, low: int, high: int, below: float = 99.0) -> list[dict]:
    """The events of a window, by plain Python, that have a place."""
    return [
        row
        for row in (events.append_column("us", events["ts"].cast(pa.int64()))).to_pylist()
        if low <= row["us"] < high
        and row["x"] is not None
        and not np.isnan(row["y"])
        and (below == 99.0 or (row["speed"] is not None and row["speed"] < below))
    ]


def us(row: dict, name: str) -> int:
    return int(row[name].timestamp() * SECOND)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("method", ["C_BIRCH(5)", "C_BIRCH(5, 2)", "K_MEANS(3)", "DENSITY_GRID(10, 1)", "DBSCAN(6, 1)"])
@pytest.mark.parametrize("window", [(20, 5), (21, 4), (7, 7), (3, 10)])
def test_every_point_of_a_window_is_in_one_cluster(method: str, window: tuple[int, int]):
    events, (reach, slide) = cars(400), window
    found = windrow.replay(
        f"SELECT {ASKED} FROM cars [RANGE {reach} SECONDS SLIDE {slide} SECONDS] WHERE speed < 40"
        f" CLUSTER BY x, y AS cid USING {method}",
        cars=events,
        batch_rows=37,
        flush=True,
    ).to_pylist()
    by_end: dict[int, list[dict]] = {}
    for row in found:
        by_end.setdefault(us(row, "window_end"), []).append(row)
    assert len(by_end) > 120 // slide - 2
    for end, rows in by_end.items():
        inside = points_in(events, end - reach * SECOND, end, 40)
        assert sum(row["n"] for row in rows) == len(inside)
        assert sum(row["total"] for row in rows) == sum(row["i"] for row in inside)
        speeds = sum(row["mean"] * row["n"] for row in rows)  # none of them is NULL
        assert speeds == pytest.approx(sum(row["speed"] for row in inside))
        weights = np.array([row["n"] for row in rows])
        middle = weights @ np.array([row["center"] for row in rows]) / weights.sum()
        assert middle == pytest.approx(np.mean([[row["x"], row["y"]] for row in inside], axis=0))
        assert len({row["cid"] for row in rows}) == len(rows)


def test_dbscan_finds_what_scikit_learn_finds_in_each_window():
    events = cars(300, seed=8)
    found = windrow.replay(
        "SELECT COUNT(cid) AS n FROM cars [RANGE 20 SECONDS SLIDE 5 SECONDS] CLUSTER BY x, y AS cid USING DBSCAN(2.5, 4)",
        cars=events,
        batch_rows=29,
    ).to_pylist()
    windows = {us(row, "window_end") for row in found}
    assert len(windows) > 15
    for end in windows:
        inside = np.array([[row["x"], row["y"]] for row in points_in(events, end - 20 * SECOND, end)])
        labels = DBSCAN(eps=2.5, min_samples=4).fit(inside).labels_
        mine = sorted(row["n"] for row in found if us(row, "window_end") == end)
        # a point within reach of two clusters may go to either
        assert len(mine) == labels.max() + 1 and sum(mine) == (labels >= 0).sum()


def test_groups_are_clustered_apart():
    events = cars(400, seed=5)
    text = "SELECT {} FROM cars [RANGE 30 SECONDS SLIDE 10 SECONDS] {} CLUSTER BY x, y AS cid USING C_BIRCH(12)"
    found = windrow.replay(text.format(f"road, {ASKED}", "GROUP BY road"), cars=events, batch_rows=50).to_pylist()
    for road in ("a", "b", None):
        own = events.filter(pa.compute.equal(events["road"], road) if road else events["road"].is_null())
        alone = windrow.replay(text.format(ASKED, ""), cars=own).to_pylist()
        mine = [{k: v for k, v in row.items() if k != "road"} for row in found if row["road"] == road]
        ends = {row["window_end"] for row in alone} & {row["window_end"] for row in mine}
        assert len(ends) > 8

        def sizes(rows: list[dict], end) -> list[int]:
            return sorted(row["n"] for row in rows if row["window_end"] == end)

        assert all(sizes(alone, end) == sizes(mine, end) for end in ends)


TEXTS = (
    f"SELECT {ASKED} FROM ticks [RANGE 20 SECONDS SLIDE 5 SECONDS] CLUSTER BY x, y AS cid USING C_BIRCH(5)",
    f"SELECT {ASKED} FROM ticks [RANGE 40 SECONDS SLIDE 5 SECONDS] CLUSTER BY x, y AS cid USING C_BIRCH(5)",
    f"SELECT {ASKED} FROM ticks [RANGE 15 SECONDS SLIDE 10 SECONDS] WHERE i > 0 CLUSTER BY x, y AS cid USING C_BIRCH(5)",
    "SELECT road, cid, CENTER(cid) AS c, CONVEX_HULL(cid) AS h FROM ticks [RANGE 13 SECONDS SLIDE 4 SECONDS]"
    " GROUP BY road CLUSTER BY x, y AS cid USING DENSITY_GRID(20, 2) EMIT CHANGES",
)


@pytest.mark.parametrize("tasks", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_restarts_change_no_bit(tasks: int):
    events = cars(150, seed=9)
    answers = []
    for reopen in ("never", "adopt", "fresh"):
        core = Core(plan_of(TEXTS, events.schema), reopen=reopen)
        rows = [rows_of(core.step(events.slice(start, 30), tasks)) for start in range(0, 150, 30)]
        answers.append([*rows, rows_of(core.flush())])
    assert answers[0] == answers[1] == answers[2]
    assert sum(map(len, answers[0])) > 90


def test_the_arrival_of_payloads_changes_no_bit():
    events = cars(180, seed=10)
    rows = []
    for turn in (1, -1):
        core = Core(plan_of(TEXTS, events.schema))
        found = [core.process(core.payloads(events.slice(start, 60), 4)[::turn]) for start in range(0, 180, 60)]
        rows.append([rows_of(outcomes) for outcomes in found])
    assert rows[0] == rows[1]


@given(st.integers(0, 10**6), st.sampled_from([7, 50, 400]), st.sampled_from(["", "GROUP BY road"]))
@example(182, 7, "GROUP BY road")  # a group that has left comes again in the next window
@settings(max_examples=examples(8), deadline=None)
def test_what_changes_adds_up_to_the_answers(seed: int, batch: int, group: str):
    events = cars(150, seed, seconds=90)
    thinned = events.filter(pa.array(np.random.default_rng(seed).random(150) < 0.4))
    key = "road, " if group else ""
    text = f"SELECT {key}{ASKED} FROM cars [RANGE 8 SECONDS SLIDE 3 SECONDS] {group} CLUSTER BY x, y AS cid USING C_BIRCH(5)"
    whole = windrow.replay(text, cars=thinned, batch_rows=batch).to_pylist()
    changes = windrow.replay(text + " EMIT CHANGES", cars=thinned, batch_rows=batch).to_pylist()
    held: dict[tuple, dict] = {}
    times = sorted({row["time"] for row in changes} | {row["window_end"] for row in whole})
    for time in times:
        for row in (row for row in changes if row["time"] == time):
            place = (row.get("road"), row["cid"])
            values = {k: v for k, v in row.items() if k not in ("op", "time", "change", "other")}
            if row["op"] == "-":
                assert repr(held.pop(place)) == repr(values)
                assert row["change"] in ("died", "merged", "changed")
            else:
                assert place not in held
                held[place] = values
                assert row["change"] in ("born", "split", "changed")
            assert (row["other"] is not None) == (row["change"] in ("split", "merged"))
        due = [row for row in whole if row["window_end"] == time]
        expected = [{k: v for k, v in row.items() if not k.startswith("window_")} for row in due]
        assert sorted(map(repr, held.values())) == sorted(map(repr, expected))


def test_a_cluster_keeps_its_number_while_it_moves_and_a_new_one_gets_another():
    times, x = [], []
    for second in range(60):
        for spot in range(20):
            times.append(second * SECOND + spot)
            x.append(second * 0.5 + spot * 0.1 if spot < 10 or second < 30 else 500.0 + spot * 0.1)
    events = pa.table({"ts": pa.array(times).cast(TIME), "x": x})
    text = "SELECT cid, CENTER(cid)[0] AS x FROM cars [RANGE 5 SECONDS SLIDE 1 SECOND] CLUSTER BY x AS cid USING C_BIRCH(4)"
    found = windrow.replay(text, cars=events).to_pylist()
    assert {row["cid"] for row in found if row["x"] < 100} == {1}
    assert {row["cid"] for row in found if row["x"] > 400} == {2}
    changes = windrow.replay(text + " EMIT CHANGES", cars=events, flush=True).to_pylist()
    told = [(row["op"], row["change"], row["cid"]) for row in changes if row["change"] != "changed"]
    assert told == [("+", "born", 1), ("+", "born", 2)]


def test_clusters_merge_and_split():
    times, x = [], []
    for second in range(40):  # two crowds meet in the middle, stay together, and part again
        apart = max(0.0, abs(second - 20) - 3.0)
        for spot in range(30):
            times.append(second * SECOND + spot)
            x.append((apart if spot % 2 else -apart) + spot * 0.02)
    events = pa.table({"ts": pa.array(times).cast(TIME), "x": x})
    changes = windrow.replay(
        "SELECT cid, COUNT(cid) AS n FROM cars [RANGE 1 SECOND SLIDE 1 SECOND] CLUSTER BY x AS cid USING C_BIRCH(5)"
        " EMIT CHANGES",
        cars=events,
        flush=True,
    ).to_pylist()
    told = [(row["op"], row["change"], row["other"]) for row in changes if row["change"] != "changed"]
    assert [entry[:2] for entry in told] == [("+", "born"), ("+", "born"), ("-", "merged"), ("+", "split")]
    merged = next(row for row in changes if row["change"] == "merged")
    split = next(row for row in changes if row["change"] == "split")
    assert {merged["cid"], merged["other"]} == {1, 2} and split["cid"] == 3 and split["other"] == merged["other"]


def test_without_groups_numbers_count_on_for_ever_and_a_group_that_comes_again_begins_anew():
    seconds = [0, 1, 2, 50, 51, 52]
    events = pa.table(
        {
            "ts": pa.array([second * SECOND for second in seconds]).cast(TIME),
            "k": ["a"] * 6,
            "x": [0.0, 50.0, 0.0, 0.0, 50.0, 100.0],
        }
    )
    text = "SELECT cid FROM cars [RANGE 5 SECONDS SLIDE 5 SECONDS] {} CLUSTER BY x AS cid USING C_BIRCH(1)"

    def numbers(group: str) -> list[int]:
        found = windrow.replay(text.format(group), cars=events, batch_rows=1, flush=True)
        return found["cid"].to_pylist()

    assert numbers("") == [1, 2, 3, 4, 5]
    assert numbers("GROUP BY k") == [1, 2, 1, 2, 3]


def test_rows_without_a_place_are_counted_and_in_no_cluster():
    events = pa.table(
        {
            "ts": pa.array([0, 1, 2, 3, 4, 5]).cast(TIME),
            "x": pa.array([1.0, None, float("nan"), float("inf"), 1.0, None]),
            "i": [1, 1, 1, 1, 1, 0],
        }
    )
    replay = Replay(
        "SELECT COUNT(cid) AS n, COUNT(*) AS rows FROM cars [RANGE 1 SECOND SLIDE 1 SECOND] WHERE i = 1"
        " CLUSTER BY x AS cid USING C_BIRCH(1)",
        cars=events,
    )
    outcomes = []
    process = replay.shard.process
    replay.shard.process = lambda *batch: outcomes.append(process(*batch)) or outcomes[-1]  # type: ignore[method-assign]
    assert replay.run(flush=True).to_pylist()[0]["n"] == 2
    assert outcomes[0].unplaced == 3  # the last one was not asked for


def test_k_larger_than_the_points_gives_a_cluster_a_point():
    events = pa.table({"ts": pa.array([0, 1]).cast(TIME), "x": [1.0, 5.0]})
    for method in ("K_MEANS(10)", "C_BIRCH(1, 10)"):
        text = f"SELECT COUNT(cid) AS n FROM cars [RANGE 1 SECOND SLIDE 1 SECOND] CLUSTER BY x AS cid USING {method}"
        assert windrow.replay(text, cars=events, flush=True)["n"].to_pylist() == [1, 1]


class Halves:
    """Left and right of a line: a plug-in that says nothing of where points go."""

    def init(self, parameters):
        return {"line": parameters[0], "sides": {}}

    def add(self, summary, point):
        self._add(summary, point[0] > summary["line"], np.array(point), 1)

    def merge(self, summary, other):
        for side, (total, count) in other["sides"].items():
            self._add(summary, side, total, count)

    def copy(self, summary):
        return {"line": summary["line"], "sides": {k: (t.copy(), n) for k, (t, n) in summary["sides"].items()}}

    def report(self, summary):
        return [(total / count, 1.0, count) for total, count in summary["sides"].values()]

    def _add(self, summary, side, total, count):
        held, known = summary["sides"].get(side, (0.0 * total, 0))
        summary["sides"][side] = (held + total, known + count)


def test_a_users_own_clustering_runs_in_a_query():
    events = cars(200)
    text = "SELECT {} FROM cars [RANGE 20 SECONDS SLIDE 5 SECONDS] CLUSTER BY x, y AS cid USING halves(30)"
    found = windrow.replay(text.format("cid, COUNT(cid) AS n"), cars=events, clusterings={"Halves": Halves}).to_pylist()
    for end in {us(row, "window_end") for row in found}:
        inside = points_in(events, end - 20 * SECOND, end)
        sizes = sorted(row["n"] for row in found if us(row, "window_end") == end)
        right = sum(row["x"] > 30 for row in inside)
        assert sizes == sorted(size for size in (right, len(inside) - right) if size)
    with pytest.raises(QueryError, match="does not say where points go"):
        windrow.replay(text.format("AVG(speed)"), cars=events, clusterings={"halves": Halves})


@pytest.mark.parametrize(
    ("words", "other"),
    [
        ("x, y USING DBSCAN(4, minimum => 2)", "x, y AS cid USING DBSCAN(4, 2)"),
        ("x, y ALGORITHM dbscan(MINIMUM => 2, eps => 4)", "x, y AS cid USING DBSCAN(4, 2)"),
        ("x, y USING halves(line => 30)", "x, y AS cid USING halves(30)"),
    ],
)
def test_names_may_be_left_out_or_given(words: str, other: str):
    class Named(Halves):
        names = ("line",)

    def asked(clause: str, star: str) -> pa.Table:
        text = f"SELECT cid, CENTER({star}) AS c, RADIUS({star}) AS r FROM cars [RANGE 20 SECONDS SLIDE 5 SECONDS]"
        return windrow.replay(f"{text} CLUSTER BY {clause}", cars=cars(100), clusterings={"halves": Named})

    assert asked(words, "*").num_rows > 10
    assert asked(words, "*").equals(asked(other, "cid"))


BAD = {
    "USING C_BIRCH(0)": "the radius must be a positive number, not 0",
    "USING C_BIRCH(-5)": "the radius must be a positive number, not -5",
    "USING C_BIRCH('wide')": "the radius must be a positive number",
    "USING C_BIRCH(5, 0)": "k, the number of clusters, must be a whole number from 1 on, not 0",
    "USING BIRCH(5)": "unknown clustering 'BIRCH'; known are: C_BIRCH, DBSCAN, DENSITY_GRID, EXTRA_N, K_MEANS",
    "USING C_BIRCH(x)": "the parameters of a clustering are constants",
    "USING C_BIRCH": "write C_BIRCH(radius)",
    "USING C_BIRCH(k => 2)": "with k, radius must be given too",
    "USING C_BIRCH(5, radius => 2)": "radius is given twice",
    "USING C_BIRCH(radius => 2, Radius => 2)": "Radius is given twice",
    "USING C_BIRCH(radius => 2, 3)": "parameters without names come before those with",
    "USING C_BIRCH(width => 2)": "C_BIRCH has no parameter width: its parameters are radius, k",
    "USING C_BIRCH(radius =>)": "expected a value behind radius =>",
    "C_BIRCH(5)": "expected USING after the name of the cluster",
}


@pytest.mark.parametrize("using", BAD)
def test_a_method_that_cannot_run_is_told_where_it_stands(using: str):
    with pytest.raises(QueryError) as caught:
        windrow.replay(
            f"SELECT cid FROM cars [RANGE 20 SECONDS SLIDE 5 SECONDS] CLUSTER BY x, y AS cid {using}", cars=cars(5)
        )
    assert BAD[using] in caught.value.message
    assert "^" in str(caught.value)


WRONG = {
    "SELECT cid FROM cars [RANGE 2 SECONDS SLIDE 1 SECOND] CLUSTER BY x, road AS cid USING C_BIRCH(5)": "a clustering needs numbers, and road is STRING",
    "SELECT cid FROM cars [RANGE 2 SECONDS SLIDE 1 SECOND] CLUSTER BY x, z AS cid USING C_BIRCH(5)": "unknown column 'z'",
    "SELECT speed FROM cars [RANGE 2 SECONDS SLIDE 1 SECOND] CLUSTER BY x AS cid USING C_BIRCH(5)": "neither grouped by nor aggregated",
    "SELECT i FROM cars [RANGE 2 SECONDS SLIDE 1 SECOND] CLUSTER BY x AS i USING C_BIRCH(5)": "there is a column 'i' already",
    "SELECT CENTER(x) FROM cars [RANGE 2 SECONDS SLIDE 1 SECOND] CLUSTER BY x AS cid USING C_BIRCH(5)": "CENTER takes the name of the clusters",
    "SELECT CONVEX_HULL(cid) FROM cars [RANGE 2 SECONDS SLIDE 1 SECOND] CLUSTER BY x AS cid USING C_BIRCH(5)": "CONVEX_HULL needs two or three columns",
    "SELECT CENTER(cid) FROM cars [RANGE 2 SECONDS SLIDE 1 SECOND]": "CENTER needs CLUSTER BY",
    "SELECT cid FROM cars CLUSTER BY x AS cid USING C_BIRCH(5)": "needs a window",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_query_that_makes_no_sense_is_told_where(text: str):
    with pytest.raises(QueryError) as caught:
        windrow.replay(text, cars=cars(5))
    assert WRONG[text] in caught.value.message


def test_rows_that_pass_the_same_predicates_are_summarised_once(monkeypatch: pytest.MonkeyPatch):
    events = cars(400, seed=12)
    texts = [
        f"SELECT COUNT(cid) AS n FROM ticks [RANGE 20 SECONDS SLIDE 5 SECONDS] WHERE i > {low} CLUSTER BY x, y AS cid"
        " USING C_BIRCH(12)"
        for low in (-5, 0, 5)
    ]
    plan = plan_of(texts, events.schema)
    assert all(can_share(space) for space in plan.time_spaces)

    def sizes() -> list:
        core = Core(plan)
        outcomes = [outcome for start in range(0, 400, 50) for outcome in core.step(events.slice(start, 50))]
        found = [
            (name, row["window_end"], row["agg_0"])
            for outcome in outcomes
            for name, batch in outcome.results
            for row in batch.to_pylist()
        ]
        return sorted(found)

    alone = sizes()
    together = []
    monkeypatch.setattr(
        "windrow.runtime.slice.events.choose_phantoms", lambda spaces, *_: together.append(1) or [list(spaces)]
    )
    assert sizes() == alone and together


def test_queries_with_the_same_clustering_have_one_summary():
    asked = ("COUNT(cid) AS n", "CONVEX_HULL(cid) AS h", "AVG(speed) AS v, COUNT(*) AS n")
    schema = cars(3).schema
    own = [
        plan_of(
            [f"SELECT {a} FROM ticks [RANGE 20 SECONDS SLIDE 5 SECONDS] CLUSTER BY x, y AS cid USING C_BIRCH(5)"],
            schema,
        )
        for a in asked
    ]
    shared = share_clusters({str(i): plan.queries[0] for i, plan in enumerate(own)})
    assert len({query.clusters for query in shared.values()}) == 1
    assert len({plan.queries[0].clusters for plan in own}) == 3


@pytest.mark.parametrize(
    "window", ["[RANGE 30 SECONDS SLIDE 10 SECONDS]", "[PARTITION BY road ROWS 20 SLIDE 5]", "[RANGE 20 SECONDS]"]
)
@pytest.mark.parametrize("group", ["road, cid", "2, 1", "ALL"])
def test_clusters_may_be_named_in_group_by_and_their_columns_stand_in_brackets(window: str, group: str):
    """There is a row for each cluster anyway."""
    text = f"SELECT cid, road, COUNT(*) AS n, AVG(speed) AS mean FROM cars {window} GROUP BY {{}} CLUSTER BY {{}} USING C_BIRCH(5)"
    events = cars(120)
    plain = windrow.replay(text.format("road", "x, y"), cars=events).to_pylist()
    assert len(plain) > 20
    assert windrow.replay(text.format(group, "(x, y)"), cars=events).to_pylist() == plain


def test_clusters_that_have_no_such_name_are_not_grouped_by():
    with pytest.raises(QueryError, match="unknown column 'cid'"):
        windrow.replay(
            "SELECT c FROM cars [RANGE 30 SECONDS SLIDE 10 SECONDS] GROUP BY cid CLUSTER BY x, y AS c USING C_BIRCH(5)",
            cars=cars(9),
        )


@pytest.mark.parametrize("place", [(31.518608887788048, -8.043357541871252, 35.97048781931599), (0.1, 1e6 / 3, -7.7)])
def test_points_of_one_place_have_no_radius_in_a_grid(place: tuple[float, float, float]):
    events = pa.table({"ts": pa.array([1, 1, 1], TIME)} | {name: [at] * 3 for name, at in zip("xyz", place)})
    (found,) = windrow.replay(
        "SELECT COUNT(cid) AS n, RADIUS(cid) AS radius FROM cars [ROWS 3 SLIDE 3] CLUSTER BY x, y, z USING DENSITY_GRID(5, 1)",
        cars=events,
        flush=True,
    ).to_pylist()
    assert (found["n"], found["radius"]) == (3, 0.0)
