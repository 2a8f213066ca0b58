"""Indexes of a job: what is found from outside is what the window holds as of the last batch, also after a restart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

import windrow
from windrow import Replay
from windrow.application import Application
from windrow.cli.main import app
from windrow.errors import AskError, QueryError, SettingsError
from windrow.indexes.published import MANIFEST
from windrow.spark.job.job import Job

from .streams import SECOND, START, finish, instants, put, until

SCHEMA = "ts TIMESTAMP, xway INT, seg INT, vid BIGINT, road STRING, speed DOUBLE"
INDEX = "CREATE INDEX speeds ON positions [RANGE 40 SECONDS SLIDE 10 SECONDS] (xway, seg, vid) INCLUDE (speed)"
RECENT = "CREATE INDEX recent ON positions [RANGE 12 SECONDS SLIDE 4 SECONDS] (xway, seg, vid) INCLUDE (speed)"
NAMED = "CREATE INDEX by_road ON positions [RANGE 1 MINUTE SLIDE 20 SECONDS] (road, vid) INCLUDE (seg)"
LATENESS = "2 seconds"


def positions(seed: int, begin: int, end: int, rows: int = 400) -> pa.Table:
    """Events of some seconds, not quite in order, some late, some with NULL in the key."""
    random = np.random.default_rng(seed)
    times = np.sort(random.integers(begin * SECOND, end * SECOND, rows)) - random.integers(0, 3 * SECOND, rows)
    ways = random.integers(0, 3, rows)
    return pa.table(
        {
            "ts": instants(START + times),
            "xway": pa.array(np.where(ways == 2, None, ways), pa.int32()),
            "seg": pa.array(random.integers(0, 5, rows), pa.int32()),
            "vid": pa.array(random.integers(0, 300, rows), pa.int64()),
            "road": pa.array(np.array(["a long road to somewhere", "a long road elsewhere", None], object)[ways]),
            "speed": random.normal(60, 9, rows).round(3),
        }
    )


def test_a_job_is_asked_as_replay_is_batch_by_batch_and_after_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    files = [positions(number, 15 * number, 15 * number + 15) for number in range(5)]
    source, checkpoint = tmp_path / "in", str(tmp_path / "kept")
    replayed = {
        name: Replay(text, positions=files[0], lateness=LATENESS)
        for name, text in (("speeds", INDEX), ("by_road", NAMED), ("recent", RECENT))
    }
    put(source, files[0])
    script = f"""CREATE STREAM positions ({SCHEMA}) USING parquet OPTIONS (path '{source}', maxFilesPerTrigger '1')
        TIMESTAMP BY ts LATENESS {LATENESS}; {RECENT}; {INDEX}; {NAMED};
        CREATE SINK counts USING memory; INSERT INTO counts
        SELECT xway, COUNT(*) AS n FROM positions [RANGE 30 SECONDS SLIDE 10 SECONDS] GROUP BY xway"""
    for first, behind in ((0, 1), (1, 3), (3, 5)):  # the job ends and is started again in between
        put(source, *files[max(1, first) : behind])
        session = windrow.Session(spark, shards=2)
        application = Application(session, script)
        job = session.start(checkpoint, application.sinks, "available now")
        finish(job, flush=False)
        for number in range(first, behind):
            for replay in replayed.values():
                replay.step(files[number])
        asked = [{"xway": 1}, {"xway": 0, "seg": (1, 3)}, {"xway": None}, {}, {"xway": 1, "seg": 2, "vid": (None, 150)}]
        for key in asked:
            assert job.scan("speeds", **key).to_pylist() == replayed["speeds"].scan("speeds", **key).to_pylist()
            assert job.scan("recent", **key).to_pylist() == replayed["recent"].scan("recent", **key).to_pylist()
        kept = [path.name for path in Path(checkpoint, "indexes", "recent").iterdir()]
        assert kept == ["manifest.json"], "its rows are those of the wider index"
        roads = [
            {},
            {"road": "a long road elsewhere"},
            {"road": None},
            {"road": "a long road to somewhere", "vid": (7, 99)},
        ]
        for key in roads:
            assert job.scan("by_road", **key).to_pylist() == replayed["by_road"].scan("by_road", **key).to_pylist()
        for row in job.scan("speeds").to_pylist()[::40]:
            key = {name: row[name] for name in ("xway", "seg", "vid")}
            found = job.lookup("speeds", **key)
            assert row in found.to_pylist()
            assert found.to_pylist() == replayed["speeds"].lookup("speeds", **key).to_pylist()
        text = (
            "SELECT seg, AVG(speed) AS mean, COUNT(*) AS n FROM speeds WHERE xway = 1 GROUP BY seg ORDER BY seg LIMIT 9"
        )
        assert job.ask(text).to_pylist() == replayed["speeds"].ask(text).to_pylist()
        assert job.aggregate("speeds", "MAX(speed)", xway=0) == replayed["speeds"].aggregate(
            "speeds", "MAX(speed)", xway=0
        )
    assert job.scan("speeds").num_rows < sum(table.num_rows for table in files), "something has expired"

    finish(job)
    held = job.scan("speeds")
    newest = max(max(table["ts"].cast(pa.int64()).to_pylist()) for table in files)
    assert max(held["time"].cast(pa.int64()).to_pylist()) == newest, "the input has ended: all of it is there"
    for name, replay in replayed.items():
        replay.end()
        assert job.scan(name).to_pylist() == replay.scan(name).to_pylist(), "windows of others have ended later"

    shown = CliRunner().invoke(app, ["ask", checkpoint, "SELECT COUNT(*) AS n FROM speeds WHERE xway = 1"])
    assert shown.exit_code == 0 and shown.output.split()[-1] == str(job.scan("speeds", xway=1).num_rows)
    lines = CliRunner().invoke(
        app, ["ask", checkpoint, "SELECT vid FROM speeds WHERE xway = 1 AND seg = 2", "--format", "json"]
    )
    assert len(lines.output.splitlines()) == job.scan("speeds", xway=1, seg=2).num_rows
    for text, why in (
        ("SELECT 1 FROM nope", "there is no index 'nope'"),
        ("SELECT nope FROM speeds", "unknown column"),
    ):
        wrong = CliRunner().invoke(app, ["ask", checkpoint, text])
        assert wrong.exit_code == 2 and why in wrong.output
    check_over_http(session, job)
    with pytest.raises(SettingsError, match="needs its whole key, and vid is missing"):
        job.lookup("speeds", xway=1, seg=2)
    with pytest.raises(SettingsError, match="there is no index 'spdees'"):
        job.scan("spdees")


def check_over_http(session: windrow.Session, job: Job) -> None:
    """The same by HTTP, with the batch and the clock that it is of."""
    with windrow.open_console(session, job, port=0) as server:
        client = windrow.connect(server.link)
        facts = {index["index"]: index for index in client.indexes()}
        assert facts.keys() == {"speeds", "by_road", "recent"} and facts["speeds"]["key"] == ["xway", "seg", "vid"]
        assert facts["speeds"]["batch"] >= 0 and facts["speeds"]["clock"]
        for key in ({"xway": 1}, {"xway": 0, "seg": (1, 3)}, {"xway": 1, "seg": 2, "vid": (None, 150)}, {}):
            assert client.scan("speeds", **key).to_pylist() == job.scan("speeds", **key).to_pylist()
        road = {"road": "a long road to somewhere", "vid": (7, 99)}
        assert client.scan("by_road", **road).to_pylist() == job.scan("by_road", **road).to_pylist()
        text = "SELECT seg, MAX(speed) AS most FROM speeds WHERE xway = 1 GROUP BY seg ORDER BY seg LIMIT 5"
        assert client.ask(text).to_pylist() == job.ask(text).to_pylist()
        for index, key, why in (
            ("spdees", {}, "there is no index 'spdees'"),
            ("speeds", {"xway": "one"}, "xway is int32, and 'one' is no such value"),
            ("speeds", {"seg": 1}, "xway is missing before seg"),
            ("speeds", {"speed": 1}, "'speed' is in it, but not in its key"),
            ("by_road", {"road": None}, "road is NULL, which no request can say"),
        ):
            with pytest.raises(AskError, match=why):
                client.scan(index, **key)


@pytest.mark.slow
def test_requests_of_a_stream_are_answered_inside_of_the_job_as_in_replay(spark: SparkSession, tmp_path: Path) -> None:
    files = [positions(number, 15 * number, 15 * number + 15, 200) for number in range(3)]
    random = np.random.default_rng(5)
    asked = pa.table(
        {
            "ts": instants(START + np.sort(random.integers(0, 45 * SECOND, 60))),
            "id": np.arange(60),
            "xway": pa.array(random.integers(0, 2, 60), pa.int32()),
            "seg": pa.array(random.integers(0, 7, 60), pa.int32()),
        }
    )
    put(tmp_path / "in", *files)
    put(tmp_path / "asked", *(asked.slice(20 * number, 20) for number in range(3)))
    question = """SELECT r.id, AVG(p.speed) AS mean, COUNT(p.speed) AS n
        FROM requests AS r LEFT JOIN speeds AS p ON p.xway = r.xway AND p.seg = r.seg GROUP BY r.id"""
    session = windrow.Session(spark, shards=2)
    files_of = {"positions": ("in", SCHEMA), "requests": ("asked", "ts TIMESTAMP, id BIGINT, xway INT, seg INT")}
    for name, (folder, schema) in files_of.items():
        path = str(tmp_path / folder)
        session.stream_files(name, path, schema=schema, time="ts", lateness="4 seconds", maxFilesPerTrigger=1)
    declared = {"range": "40 seconds", "slide": "10 seconds"}
    session.index("speeds", "positions", ["xway", "seg", "vid"], include=["speed"], **declared)
    session.query("answered", question)
    job = session.start(str(tmp_path / "kept"), {"answered": windrow.sink("memory")}, "available now")
    finish(job)
    found = {row.id: (row.n, row.mean) for row in spark.table("answered").collect()}
    assert spark.table("answered").count() == len(found) == 60, "each request is answered once"
    streams = {"positions": pa.concat_tables(files), "requests": asked}
    expected = windrow.replay(
        question, streams=streams, lateness="4 seconds", indexes=[INDEX], batch_rows=40, flush=True
    ).to_pylist()
    assert found == {row["id"]: (row["n"], pytest.approx(row["mean"])) for row in expected}


def test_an_index_is_declared_in_python_and_what_cannot_be_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "in", positions(1, 0, 20))
    session = windrow.Session(spark, shards=2)
    session.stream_files("positions", str(tmp_path / "in"), time="ts")
    session.table("ways", spark.range(3))
    declared = {"range": "40 seconds", "slide": "10 seconds"}
    session.index("speeds", "positions", ["xway", "seg"], include=["speed"], **declared)
    for stream, keys, why in (
        ("ways", ["id"], "is a table"),
        ("nope", ["id"], "unknown stream 'nope'"),
        ("positions", ["spede"], "did you mean speed"),
        ("positions", [], "needs a key"),
        ("positions", "xway", "is a text"),
    ):
        with pytest.raises(SettingsError, match=why):
            session.index("other", stream, keys, **declared)
    with pytest.raises(QueryError, match="there is a query 'speeds' already"):
        session.index("speeds", "positions", ["xway"], **declared)
    with pytest.raises(SettingsError, match="is an index, which the job publishes itself"):
        session.start(sinks={"speeds": windrow.sink("memory")}, trigger="available now")


def test_an_index_comes_to_a_running_job_and_goes_on_after_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    files = [positions(number, 15 * number, 15 * number + 15, 200) for number in range(6)]
    source, checkpoint, added = tmp_path / "in", str(tmp_path / "kept"), tmp_path / "more.sql"
    put(source, files[0])
    script = f"""CREATE STREAM positions ({SCHEMA}) USING parquet OPTIONS (path '{source}', maxFilesPerTrigger '1')
        TIMESTAMP BY ts LATENESS {LATENESS}; CREATE SINK raw USING noop; INSERT INTO raw
        SELECT xway, seg FROM positions [RANGE 30 SECONDS] EMIT FINAL"""

    def start() -> Job:
        application = Application(windrow.Session(spark, shards=2), script)
        return application.session.start(checkpoint, application.sinks)

    def found(job: Job, behind: int) -> None:
        """What the job finds is what replay finds, as of the last of so many files."""
        replay = Replay(INDEX, positions=files[0], lateness=LATENESS)
        for file in files[:behind]:
            replay.step(file)

        def caught_up() -> bool:
            try:
                return job.scan("speeds").equals(replay.scan("speeds"))
            except SettingsError:  # before its first batch
                return False

        until(caught_up)
        assert (
            job.aggregate("speeds", "COUNT(speed)", xway=1) == replay.aggregate("speeds", "COUNT(speed)", xway=1) > 20
        )

    job = start()
    until(lambda: bool(job.progress()) and next(iter(job.progress().values()))["events"] == 200)
    added.write_text(INDEX)
    told = CliRunner().invoke(app, ["add", checkpoint, str(added)])
    assert told.exit_code == 0 and "added speeds; running: raw, speeds" in told.output, told.output
    wrong = CliRunner().invoke(app, ["add", checkpoint, INDEX])
    assert wrong.exit_code and "there is a query 'speeds' already" in wrong.output
    wrong = CliRunner().invoke(app, ["add", checkpoint, INDEX.replace("positions", "nowhere")])
    assert wrong.exit_code and "unknown stream 'nowhere'" in wrong.output
    put(source, *files[1:5])
    found(job, 5)
    job.stop()
    put(source, files[5])
    job = start()
    found(job, 6)
    job.stop()


@pytest.mark.slow
def test_a_shorter_index_comes_to_a_running_job_and_goes_on_when_the_longer_is_dropped(
    spark: SparkSession, tmp_path: Path
) -> None:
    files = [positions(number, 15 * number, 15 * number + 15, 200) for number in range(5)]
    source, checkpoint = tmp_path / "in", tmp_path / "kept"
    script = f"""CREATE STREAM positions ({SCHEMA}) USING parquet OPTIONS (path '{source}', maxFilesPerTrigger '1')
        TIMESTAMP BY ts LATENESS {LATENESS}; {INDEX}; CREATE SINK raw USING noop; INSERT INTO raw
        SELECT xway, seg FROM positions [RANGE 30 SECONDS] EMIT FINAL"""

    def start() -> Job:
        application = Application(windrow.Session(spark, shards=2), script)
        return application.session.start(str(checkpoint), application.sinks)

    def asked(command: str, what: str) -> str:
        told = CliRunner().invoke(app, [command, str(checkpoint), what])
        assert told.exit_code == 0, told.output
        return told.output

    def found(job: Job, behind: int) -> None:
        """The shorter one has what replay has of the last of so many files: it is as long as one of them."""
        replay = Replay(RECENT, positions=files[0], lateness=LATENESS)
        for file in files[:behind]:
            replay.step(file)
        wanted = replay.scan("recent")
        until(lambda: runs_of("recent") is not None and job.scan("recent").equals(wanted))
        assert wanted.num_rows > 50
        assert job.lookup("recent", **_first_key(wanted)).equals(replay.lookup("recent", **_first_key(wanted)))

    def runs_of(name: str) -> int | None:
        """How many runs an index has of its own; None before it is published."""
        folder = checkpoint / "indexes" / name
        return len(list(folder.glob("*.arrow"))) if (folder / MANIFEST).exists() else None

    put(source, files[0])
    job = start()
    until(lambda: runs_of("speeds") is not None)
    assert "added recent" in asked("add", RECENT)
    put(source, files[1])
    found(job, 2)
    assert runs_of("recent") == 0 and runs_of("speeds"), "the longer one has its rows"
    assert "dropped speeds" in asked("drop", "speeds")
    with pytest.raises(SettingsError, match="'speeds' was dropped"):
        job.scan("speeds")
    found(job, 2)
    put(source, *files[2:4])
    found(job, 4)
    assert runs_of("recent"), "it has runs of its own now"
    job.stop()
    put(source, files[4])
    job = start()
    found(job, 5)
    job.stop()


def _first_key(rows: pa.Table) -> dict[str, object]:
    """The key of the first row that has one."""
    return next(row for row in rows.select(["xway", "seg", "vid"]).to_pylist() if row["xway"] is not None)
