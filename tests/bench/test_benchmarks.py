"""Every benchmark runs in its tiny form: it checks its answers, tells a line a case, and draws."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from lab.broker import missing
from pyspark.sql import SparkSession

from windrow.cli.bench import TINY, benchmarks, imported, run_benchmark

NAMES = list(benchmarks())
WITHOUT_SPARK = {"clocks", "functions", "index", "scale", "schedule"}
PAPERS = "papers"
"""Runs others, and draws nothing."""
APART = "start"
"""Starts a JVM of its own for each case."""
KAFKA = "kafka"
"""Needs a Spark with its connector."""


def ran(name: str, folder: Path) -> list[dict]:
    """The lines that a benchmark writes, in its tiny form."""
    run_benchmark(name, TINY, folder / "lines.json", folder / "picture.png")
    assert (folder / "picture.png").stat().st_size > 1_000
    return [json.loads(line) for line in (folder / "lines.json").read_text().splitlines()]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", [name for name in NAMES if name not in {*WITHOUT_SPARK, APART, PAPERS, KAFKA}])
def test_a_benchmark_on_spark_runs_and_leaves_the_session_running(spark: SparkSession, name: str, tmp_path: Path):
    assert len(ran(name, tmp_path)) >= 2
    assert spark.range(3).count() == 3


@pytest.mark.parametrize("name", sorted(WITHOUT_SPARK))
def test_a_benchmark_without_spark_runs(name: str, tmp_path: Path):
    assert len(ran(name, tmp_path)) >= 3


def test_the_page_of_papers_has_a_row_for_each_that_is_listed_and_names_benchmarks_that_exist():
    page = (Path(__file__).parents[2] / "docs" / "papers.md").read_text()
    for row in imported(PAPERS).PAPERS:
        command = f"`windrow bench {row.benchmark}`" if row.benchmark else "not reproduced"
        assert f"| {row.paper} | {row.item} | {command} | {row.scale} | {row.shape} |" in page
        assert row.benchmark is None or row.benchmark in NAMES


def test_benchmarks_of_papers_run_apart_and_one_that_fails_is_told(monkeypatch, capfd, tmp_path):
    papers = imported(PAPERS)
    papers.main(TINY, tmp_path / "lines.json")
    assert "Table II" in capfd.readouterr().out and len((tmp_path / "lines.json").read_text().splitlines()) > 10
    monkeypatch.setattr(papers, "_run", lambda name, size: int(name == "index"))
    with pytest.raises(SystemExit):
        papers.main("quick")
    assert "index: failed, exit code 1" in capfd.readouterr().out


@pytest.mark.slow
def test_a_start_is_measured_in_processes_of_their_own(tmp_path: Path):
    one, three = ran(APART, tmp_path)
    assert 0 < one["batch"] < one["seconds"] and three["queries"] == 3


@pytest.mark.slow
def test_kafka_is_measured_in_a_process_of_its_own(tmp_path: Path):
    lacks = missing("broker", "kafka")
    if lacks is not None:
        pytest.skip(lacks)
    code = f"from windrow.cli.bench import run_benchmark; run_benchmark({KAFKA!r}, {TINY!r}, *map(Path, {[*map(str, (tmp_path / 'lines', tmp_path / 'picture.png'))]!r}))"
    subprocess.run([sys.executable, "-c", f"from pathlib import Path; {code}"], check=True)
    decoded, plain, watched, asked, live = map(json.loads, (tmp_path / "lines").read_text().splitlines())
    assert decoded["events"] == plain["events"] == watched["events"] and 0 < live["p50"] <= live["p99"]
    assert asked["scrape_ms"] > 0 and asked["note_ms"] > 0 and 0 < asked["share"] < 1
    assert (tmp_path / "picture.png").stat().st_size > 1_000


def test_kafka_says_what_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(imported(KAFKA), "missing", lambda *kinds: "there are no jars here")
    run_benchmark(KAFKA, TINY, tmp_path / "lines", None)
    assert json.loads((tmp_path / "lines").read_text()) == {"case": "left out", "why": "there are no jars here"}


def test_cpu_time_is_that_of_a_process_with_all_that_it_starts():
    cpu_seconds = imported("cpu_time").cpu_seconds
    busy = "import time\nwhile time.process_time() < 0.5: pass\nprint()\ninput()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", busy], **pipes) as child:
        child.stdout.readline()
        apart = cpu_seconds(without=[child.pid])
        assert cpu_seconds() - apart >= 0.45
        child.communicate(b"\n")
    assert cpu_seconds() - apart >= 0.45  # also when it has ended


def test_a_start_is_told_by_its_parts():
    told = ['{"at": "1970-01-01T00:00:05+00:00", "event": "spark started"}']
    told.append('{"at": "1970-01-01T00:00:07+00:00", "event": "started"}')
    assert imported(APART).parts(1.0, told, 9.5) == (4.0, 2.0, 2.5)


def test_what_lacks_its_data_is_told_in_the_table_and_in_the_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    clustering = imported("clustering")
    monkeypatch.setenv("WINDROW_DATA", str(tmp_path))
    monkeypatch.setattr(clustering, "measure_spark", lambda size: iter(()))
    clustering.main(TINY, tmp_path / "lines.json")
    told = [line for line in map(json.loads, (tmp_path / "lines.json").open()) if line["case"] == "left out"]
    assert len(told) == 5 and all("soccer_positions.csv.gz" in line["why"] for line in told)
    shown = capsys.readouterr().out
    assert "Not measured here" in shown and shown.count("there is no") == 5


def test_a_wrong_answer_is_not_timed(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    sliding = imported("sliding")
    monkeypatch.setattr(sliding, "VWAP", sliding.VWAP.replace("SUM(volume) AS", "COUNT(volume) AS"))
    bench = sliding.Bench(spark, tmp_path, sliding.Size.TINY)
    with pytest.raises(AssertionError, match="differs"):
        bench.check(bench.ticks("ticks", 3_000, 2), "10 MINUTES", 600)
