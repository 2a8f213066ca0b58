"""Spark Connect, with the server that pyspark brings: what is behind it is examined, and jobs run there."""

from __future__ import annotations

import json
import pickle
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from connect_server import connect_server

import windrow
from places.test_jobs_elsewhere import asked, check_rows, done, events, killed, s3
from windrow.errors import JobError, SettingsError
from windrow.places.place import place_of
from windrow.spark.connect import check_served, check_served_sink
from windrow.spark.job.hold import Hold, check_hold
from windrow.spark.job.reports import KEPT, Report, Reports

CLIENT = str(Path(__file__).with_name("served_job.py"))


def said_by(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=400)


def write_events(path: Path, first: int, count: int = 100) -> None:
    seconds = range(first, first + count)
    times = [second * 1_000_000 if second != 42 else None for second in seconds]
    columns = {"k": [f"k{second % 3}" for second in seconds], "v": [float(second % 7) for second in seconds]}
    pq.write_table(pa.table({"ts": pa.array(times, pa.timestamp("us", "UTC")), **columns}), path)


def windows_of(folder: Path, range_s: int, slide_s: int, what: str, join: str = "") -> list[tuple[object, ...]]:
    """All windows that hold an event, by DuckDB; the ends as seconds."""
    ends = f"unnest(range((s // {slide_s} + 1) * {slide_s}, s + {range_s} + 1, {slide_s})) AS e"
    events = f"SELECT *, epoch_us(ts) // 1000000 AS s FROM '{folder}/in/*.parquet' WHERE ts IS NOT NULL"
    placed = f"SELECT *, {ends} FROM ({events}) {join}"
    return sorted(duckdb.sql(f"SELECT e, {what} FROM ({placed}) GROUP BY ALL").fetchall())


def shown(files: str, what: str) -> list[tuple[object, ...]]:
    return sorted(duckdb.sql(f"SELECT epoch_us(window_end::TIMESTAMPTZ) // 1000000, {what} FROM {files}").fetchall())


@pytest.mark.slow
def test_a_doctor_looks_behind_a_server_and_a_job_on_it_outlives_its_client(tmp_path, monkeypatch):
    pytest.importorskip("grpc", reason="Spark Connect needs the packages of windrow[connect]")
    monkeypatch.setenv("PYTHONPATH", str(Path(windrow.__file__).parents[1]))
    (tmp_path / "in").mkdir()
    for number in range(4):
        write_events(tmp_path / "in" / f"{number}.parquet", number * 100)
    write_events(tmp_path / "later.parquet", 400)
    write_events(tmp_path / "last.parquet", 500)
    with connect_server(tmp_path) as url:
        asked = ["-c", "from windrow.cli.main import app; app()", "doctor", "--remote", url]
        doctor = said_by([sys.executable, *asked])
        assert doctor.returncode == 0 and "all is well on 1 executor" in doctor.stdout, doctor.stdout + doctor.stderr
        client = subprocess.Popen(
            [sys.executable, CLIENT, url, str(tmp_path), "kill"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert client.stdout is not None and client.stderr is not None
        assert client.stdout.readline() == b"ready\n", client.stderr.read()
        client.send_signal(signal.SIGKILL)
        client.communicate()
        second = said_by([sys.executable, CLIENT, url, str(tmp_path)])
        assert second.returncode == 0, second.stderr
    told = json.loads(second.stdout.splitlines()[-1])
    assert [line.splitlines()[0] for line in told["said"]] == [
        "sink 'sums': memory does not work with Spark Connect, where a server writes the batches",
        "sink 'sums': console does not work with Spark Connect, where a server writes the batches",
        "sink 'sums': with Spark Connect no answers are kept in this process, since a server writes the batches",
        "keep_answers: with Spark Connect no answers are kept in this process, since a server writes the batches",
        "with Spark Connect a job needs a checkpoint, at a place that the server sees, too",
        "with Spark Connect no answers are kept in this process, since a server writes the batches",
    ]
    assert told["queries"] == ["sums", "named", "newest"]
    assert told["rows"]["sums"] > 0 and told["rows"]["added"] > 0 and "sums" in told["sinks"]
    sums = shown(f"'{tmp_path}/sums/*.parquet'", "k, total, n")
    assert sums == windows_of(tmp_path, 20, 10, "k, sum(v), count(*)")
    names = "JOIN (VALUES ('k0', 'zero'), ('k1', 'one')) AS names(k2, name) ON k = k2"
    named = shown(f"read_json('{tmp_path}/named/*.json')", "name, n")
    assert named == windows_of(tmp_path, 20, 20, "name, count(*)", names)
    added = shown(f"read_csv('{tmp_path}/added/*.csv', header=true)", "k, best")
    assert added and set(added) <= set(windows_of(tmp_path, 20, 20, "k, max(v)"))
    newest = duckdb.sql(f"SELECT k, best FROM '{tmp_path}/newest/*.parquet'").fetchall()
    last = windows_of(tmp_path, 20, 20, "k, max(v)")
    assert sorted(newest) == [(k, best) for end, k, best in last if end == last[-1][0]]
    rejected = duckdb.sql(f"SELECT cause FROM read_json('{tmp_path}/rejected/*.json')").fetchall()
    assert rejected == [("no time",)]


@pytest.mark.slow
def test_a_job_behind_a_server_has_its_checkpoint_and_its_sinks_in_a_bucket(tmp_path, monkeypatch):
    """The client is killed twice. A server tells nobody its credentials, so that the client has its own."""
    pytest.importorskip("grpc", reason="Spark Connect needs the packages of windrow[connect]")
    monkeypatch.setenv("PYTHONPATH", str(Path(windrow.__file__).parents[1]))
    rows = events(tmp_path / "in")
    with s3(tmp_path) as (address, settings, options), connect_server(tmp_path, options) as url:
        keys = [f"{name} {value}" for name, value in options.items() if name.endswith(".key")]
        (tmp_path / "spark-defaults.conf").write_text("\n".join(keys))
        monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
        given, place = asked(tmp_path, address, {}, remote=url), place_of(address, settings)
        killed(given, tmp_path, place, 2)
        killed(given, tmp_path, place, 3)
        done(given, tmp_path)
        check_rows(place, rows)


@pytest.mark.parametrize("format", ["memory", "console", "answers", "jdbc", "kafka", "delta", "iceberg", "index"])
def test_sinks_that_a_server_does_not_write_are_refused_by_name(format):
    with pytest.raises(SettingsError, match=r"sink 'vwap': .* Spark Connect"):
        check_served_sink("vwap", windrow.sink(format))


def test_a_job_on_a_server_needs_a_checkpoint_and_keeps_no_answers():
    with pytest.raises(SettingsError, match="needs a checkpoint"):
        check_served(None, keep_answers=False)
    with pytest.raises(SettingsError, match=r"keep_answers: .*no answers are kept"):
        check_served("checkpoint", keep_answers=True)
    check_served("checkpoint", keep_answers=False)
    check_served_sink("vwap", windrow.sink("parquet", path="out"))


def test_a_hold_goes_to_another_process_as_a_witness_of_whether_it_still_holds(tmp_path):
    hold = Hold(tmp_path)
    hold.take()
    there = pickle.loads(pickle.dumps(partial(check_hold, hold)))
    there()
    hold.release()
    said = json.loads((tmp_path / "lock.json").read_text()) | {"process": 1}
    (tmp_path / "lock.json").write_text(json.dumps(said))
    with pytest.raises(JobError, match="was taken over by process 1 on "):
        there()


def test_reports_tell_of_the_newest_batches(tmp_path):
    reports, told = Reports(place_of(tmp_path)), Report({"vwap": 3}, {"vwap": 20}, {"vwap": 5}, 0.5)
    reports.make()
    for batch in (0, 1, KEPT):
        reports.write(batch, told)
    assert (reports.of(0), reports.of(1), reports.of(KEPT)) == (None, told, told)
