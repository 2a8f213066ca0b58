"""The demo of clusters from its cars to its pictures; the answers are replayed, which is what Spark gives."""

from __future__ import annotations

import io
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import typer
from PIL import Image
from rich.console import Console
from typer.testing import CliRunner

from windrow import replay
from windrow.cli.demos.clusters import animation
from windrow.cli.demos.clusters.demo import ClustersDemo, WatchedClusters
from windrow.cli.demos.clusters.moments import Story
from windrow.cli.demos.clusters.recording import Recording
from windrow.cli.demos.clusters.traffic import REPORT_SECONDS, Traffic
from windrow.cli.demos.live_files import SECOND_US
from windrow.cli.demos.run import conclude
from windrow.cli.main import app
from windrow.errors import SettingsError
from windrow.language import Insert, parse_script, to_sql

FIGURES = {"events": 1, "events_per_second": 1.0, "windows": 1}


def answered(demo: ClustersDemo, seconds: int, folder: Path) -> WatchedClusters:
    """The demo's folder after so many seconds of its clock."""
    scene = demo.scene
    begin_us = scene.now_us - scene.history_seconds * SECOND_US
    events = scene.events(begin_us, begin_us + seconds * SECOND_US)
    (query,) = (statement.query for statement in parse_script(demo.script) if isinstance(statement, Insert))
    for name, rows in ((demo.stream, events), (scene.query, replay(to_sql(query), positions=events))):
        (folder / name).mkdir()
        pq.write_table(rows, folder / name / "1.parquet")
    return demo.watched(folder)


@pytest.fixture(scope="module")
def morning(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("morning")
    answered(ClustersDemo(), 75, folder)
    return folder


@pytest.fixture
def watched(morning: Path, tmp_path: Path) -> WatchedClusters:
    folder = shutil.copytree(morning, tmp_path / "demo-out")
    watched = ClustersDemo().watched(folder)
    assert watched.refresh()
    return watched


def test_a_morning_is_the_same_however_it_is_cut() -> None:
    whole = Traffic(cars=200, seed=5).reports(0, 90 * SECOND_US)
    traffic = Traffic(cars=200, seed=5)
    cuts = [0, 700_000, 1_000_000, 30_500_000, 90_000_000]
    assert pa.concat_tables(traffic.reports(*pair) for pair in zip(cuts, cuts[1:])).equals(whole)


def test_each_car_reports_once_in_a_window_and_some_are_slow() -> None:
    reports = Traffic().reports(0, 3 * REPORT_SECONDS * SECOND_US)
    begin, end = (datetime.fromtimestamp(second, UTC) for second in (47, 47 + REPORT_SECONDS))
    window = reports.filter(pc.and_(pc.greater_equal(reports["ts"], begin), pc.less(reports["ts"], end)))
    assert sorted(window["vehicle"].to_pylist()) == list(range(1_600))
    assert 10 < pc.sum(pc.less(window["speed"], 30)).as_py() < 800


def test_a_cluster_keeps_its_way_and_its_age_and_is_forgotten_in_the_end() -> None:
    begin = datetime(2024, 6, 3, 7, 30, tzinfo=UTC)

    def row(second: int, cid: int, x: float) -> dict:
        end = begin + timedelta(seconds=second)
        square = [[x, 0.0], [x + 2, 0.0], [x + 2, 2.0], [x, 2.0]]
        clock = {"window_start": end - timedelta(seconds=30), "window_end": end}
        return {**clock, "cid": cid, "center": [x + 1, 1.0], "radius": 1.0, "size": 9, "speed": 5.0, "hull": square}

    story = Story()
    story.tell([row(3, 7, 13.0), row(0, 7, 10.0), row(0, 8, 50.0)])
    story.tell([row(3 * number, 7, 10.0) for number in range(2, 40)])
    second, last = story.moments[1], story.moments[-1]
    assert [cluster.age_seconds for cluster in second.clusters] == [3.0]
    assert [step.x for step in second.trails[7]] == [11.0, 14.0]
    assert 8 in second.trails
    assert set(last.trails) == {7}
    assert second.owners(np.array([14.0, 16.0]), np.array([1.0, 1.0])).tolist() == [7, -1]


def test_the_screen_fits_and_has_every_number(watched: WatchedClusters) -> None:
    def drawn() -> str:
        console = Console(file=io.StringIO(), width=80, force_terminal=False)
        console.print(watched.screen(FIGURES, ["5 s to go"]))
        return console.file.getvalue()  # type: ignore[attr-defined]

    text = drawn()
    assert text == drawn()
    assert len(text.splitlines()) <= 20
    assert "cid" in text and "km/h" in text and "5 s to go" in text
    listed = watched.line(FIGURES).split("#")[1:]
    assert listed
    for number in (told.split()[0] for told in listed):
        assert text.count(f" {number} ") >= 2, "once on the field, once in the list"


def test_the_end_is_a_moving_picture_and_a_comparison(watched: WatchedClusters, capsys, tmp_path: Path) -> None:
    conclude(ClustersDemo(), watched)
    told = capsys.readouterr().out
    assert " match, to " in told
    with Image.open(tmp_path / "demo-out" / animation.MOVING) as moving:
        assert moving.n_frames == len(pc.unique(pq.read_table(tmp_path / "demo-out" / "congestions")["window_end"]))
    with Image.open(tmp_path / "demo-out" / animation.STILL) as still:
        assert len(still.getcolors(1 << 20)) > 200


def test_a_position_that_was_not_clustered_is_found_out(watched: WatchedClusters, tmp_path: Path, monkeypatch) -> None:
    file = tmp_path / "demo-out" / "positions" / "1.parquet"
    rows = pq.read_table(file)
    newest = pc.max(pq.read_table(tmp_path / "demo-out" / "congestions")["window_end"])
    again = rows.filter(pc.and_(pc.less(rows["speed"], 30), pc.less(rows["ts"], newest)))[-1:]
    assert [found.matches for found in watched.compare()] == [True]
    pq.write_table(pa.concat_tables([rows, again]), file)
    assert [found.matches for found in watched.compare()] == [False]
    monkeypatch.setattr(watched, "keepsake", lambda: None)
    with pytest.raises(typer.Exit):
        conclude(ClustersDemo(), watched)


def test_without_pillow_it_is_said_how_to_get_it(watched: WatchedClusters, monkeypatch) -> None:
    monkeypatch.setattr(animation, "find_spec", lambda name: None)
    assert "windrow[plots]" in watched.keepsake()


def test_a_recording_is_shown_too(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    file = tmp_path / "run.csv"
    places = [(t / 10, who, who * 20 + random.normal(), t / 20, 2.0) for t in range(300) for who in range(3)]
    file.write_text("t,id,x,y,speed\n" + "\n".join(",".join(map(str, place)) for place in places))
    watched = answered(ClustersDemo(file), 29, tmp_path)
    assert watched.refresh()
    assert [found.matches for found in watched.compare()] == [True]
    assert " 3 clusters: #" in watched.line(FIGURES)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("t,id,x,y\n1,1,1,1\n", "no column 'speed'"),
        ("t,id,x,y,speed\nnever,1,1,1,1\n", "have to be numbers"),
        ("t,id,x,y,speed\n", "no positions"),
        (None, "cannot be read"),
    ],
)
def test_a_file_that_is_no_recording_is_refused(text: str | None, told: str, tmp_path: Path) -> None:
    file = tmp_path / "run.csv"
    if text is not None:
        file.write_text(text)
    with pytest.raises(SettingsError, match=told):
        Recording(file)


def test_mistakes_are_told_before_anything_is_written(tmp_path: Path) -> None:
    unknown = CliRunner().invoke(app, ["demo", "clouds"])
    assert (unknown.exit_code, "demos: ticks, clusters" in unknown.stderr) == (2, True)
    file = tmp_path / "none.csv"
    out = tmp_path / "out"
    for name in ("ticks", "clusters"):
        refused = CliRunner().invoke(app, ["demo", name, "--data", str(file), "--out", str(out)])
        assert (refused.exit_code, out.exists()) == (2, False)
        assert "--data" in refused.stderr
