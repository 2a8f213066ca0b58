"""A bad event never stops a job and never vanishes: it is counted by cause, and kept where somebody asks for it."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.application import Application
from windrow.errors import JobError
from windrow.spark.job.job import Job

from .streams import PATIENCE, SECOND, START, finish, instants, put, rows_of, stream_of

SCRIPT = """
CREATE STREAM lines (ts TIMESTAMP, k STRING, v INT)
  USING csv OPTIONS (path '{folder}/csv', header 'true', maxFilesPerTrigger '1', columnNameOfCorruptRecord 'bad.`text')
  TIMESTAMP BY ts;
CREATE STREAM objects (ts TIMESTAMP, k STRING, v INT)
  USING json OPTIONS (path '{folder}/json', maxFilesPerTrigger '1') TIMESTAMP BY ts;
CREATE SINK from_lines USING parquet OPTIONS (path '{folder}/from_lines');
CREATE SINK from_objects USING parquet OPTIONS (path '{folder}/from_objects');
CREATE SINK bad USING parquet OPTIONS (path '{folder}/bad') FOR REJECTED;
INSERT INTO from_lines SELECT k, SUM(v) AS total FROM lines [RANGE 10 SECONDS SLIDE 10 SECONDS] GROUP BY k;
INSERT INTO from_objects SELECT k, SUM(v) AS total FROM objects [RANGE 10 SECONDS SLIDE 10 SECONDS] GROUP BY k;
"""
CSV = [
    "ts,k,v\n2023-11-14 22:14:01,a,1\n2023-11-14 22:14:02,a,many\n,b,7\nyesterday,b,8\n2023-11-14 22:14:31,a,2\n",
    "ts,k,v\n2023-11-14 22:14:05,a,100\n2023-11-14 22:14:32,a,4\n2023-11-14 22:14:33,a,5,and more\n",
]
JSON = [
    """{"ts": "2023-11-14 22:14:01", "k": "a", "v": 1}
{"ts": "2023-11-14 22:14:02", "k": "a", "v": "many"}
{"k": "b", "v": 7}
{"ts": null, "k": "b", "v": 8}
{"ts": "2023-11-14 22:14:31", "k": "a", "v": 2}
""",
    """{"ts": "2023-11-14 22:14:05", "k": "a", "v": 100}
{"ts": "2023-11-14 22:14:32", "k": "a", "v": 4}
{"ts": "2023-11-14 22:14:33",
""",
]
CORRUPT = {"lines": "bad.`text", "objects": "_corrupt_record"}


def write_texts(folder: Path, texts: list[str]) -> None:
    folder.mkdir()
    for number, text in enumerate(texts):
        (folder / f"{number}.txt").write_text(text)
        os.utime(folder / f"{number}.txt", (1_700_000_000 + number,) * 2)


def test_rows_of_texts_are_rejected_by_cause_and_kept(spark: SparkSession, tmp_path: Path):
    write_texts(tmp_path / "csv", CSV)
    write_texts(tmp_path / "json", JSON)
    application = Application(windrow.Session(spark, shards=2), SCRIPT.format(folder=tmp_path))
    checkpoint = str(tmp_path / "checkpoint")
    job = application.session.start(
        checkpoint, application.sinks, trigger="available now", rejected=application.rejected
    )
    finish(job)

    for stream, unreadable, untimed in (("lines", 3, 1), ("objects", 2, 2)):
        figures = job.progress()[stream]
        assert figures["rejected"] == {"late": 1, "no time": untimed, "unreadable": unreadable}
        answers = {(row["window_end"] - START, row["k"], row["total"]) for row in rows_of(tmp_path / f"from_{stream}")}
        assert answers == {(10 * SECOND, "a", 1), (40 * SECOND, "a", 6)}

    rows = rows_of(tmp_path / "bad")
    causes = Counter((row["stream"], row["cause"]) for row in rows)
    assert causes == {
        ("lines", "unreadable"): 3,
        ("lines", "no time"): 1,
        ("lines", "late"): 1,
        ("objects", "unreadable"): 2,
        ("objects", "no time"): 2,
        ("objects", "late"): 1,
    }
    for row in rows:
        event = json.loads(row["row"])
        match row["cause"]:
            case "late":
                assert (row["time"], event["k"], event["v"]) == (START + 5 * SECOND, "a", 100)
            case "no time":
                assert row["time"] is None and event["k"] == "b"
            case "unreadable":
                assert event[CORRUPT[row["stream"]]].strip()
    texts = {json.loads(row["row"])[CORRUPT["lines"]] for row in rows if row["stream"] == "lines"} - {None}
    assert texts == {"2023-11-14 22:14:02,a,many", "yesterday,b,8", "2023-11-14 22:14:33,a,5,and more"}


def test_late_events_are_those_whose_windows_had_been_answered_before_their_batch(spark: SparkSession, tmp_path: Path):
    """Windows of 7 seconds every 3, from 1 on."""
    random = np.random.default_rng(8)
    batches = [
        (START + (n * 12 + random.integers(-30, 12, 50)) * SECOND + random.integers(0, 2, 50) * (SECOND - 1)).tolist()
        for n in range(4)
    ]
    put(tmp_path / "in", *(pa.table({"ts": instants([*batch, None]), "n": range(51)}) for batch in batches))
    session = windrow.Session(spark, shards=2)
    session.stream(
        "ticks", stream_of(spark, tmp_path / "in", "ts TIMESTAMP, n BIGINT"), time="ts", lateness="5 seconds"
    )
    session.query("counts", "SELECT COUNT(*) AS n FROM ticks [RANGE 7 SECONDS SLIDE 3 SECONDS OFFSET 1 SECOND]")
    sinks = {"counts": windrow.sink("parquet", path=tmp_path / "counts")}
    checkpoint, rejected = str(tmp_path / "checkpoint"), windrow.sink("memory")
    job = session.start(checkpoint, sinks, trigger="available now", rejected=rejected)
    finish(job)

    late, in_part, counts, clock = [], 0, Counter(), 0
    for batch in batches:
        for time in batch:
            ends = [end * SECOND for end in range(time // SECOND + 1, time // SECOND + 8) if end % 3 == 1]
            ends = [end for end in ends if end - 7 * SECOND <= time]
            coming = [end for end in ends if end > clock]
            counts.update(coming)
            late += [] if coming else [time]
            in_part += 0 < len(coming) < len(ends)
        clock = max(clock, max(batch) - 5 * SECOND)
    assert len(late) > 20 and in_part > 5
    assert job.progress()["ticks"]["late_in_part"] == in_part
    assert job.progress()["ticks"]["rejected"] == {"late": len(late), "no time": len(batches), "unreadable": 0}
    kept = rows_of(spark.table("rejected_ticks"))
    assert sorted(row["time"] for row in kept if row["cause"] == "late") == sorted(late)
    assert Counter(json.loads(row["row"])["n"] for row in kept if row["cause"] == "no time") == {50: len(batches)}
    assert {row["window_end"]: row["n"] for row in rows_of(tmp_path / "counts")} == counts


@pytest.mark.slow
def test_events_that_come_late_to_a_join_are_kept_too(spark: SparkSession, tmp_path: Path):
    """Also where the query runs in stages."""
    schema, seconds = "ts TIMESTAMP, k BIGINT", {"a": [[1, 30, None], [2, 29, 40]], "b": [[1, 30], [30, None, 3]]}
    session = windrow.Session(spark, shards=2)
    for name, batches in seconds.items():
        tables = []
        for batch in batches:
            times = [None if second is None else START + second * SECOND for second in batch]
            tables.append(pa.table({"ts": instants(times), "k": range(len(batch))}))
        put(tmp_path / name, *tables)
        session.stream(name, stream_of(spark, tmp_path / name, schema), time="ts", lateness="1 second")
    session.query(
        "pairs",
        """SELECT n, COUNT(*) AS m FROM (SELECT a.k, COUNT(*) AS n FROM a, b WHERE a.k = b.k GROUP BY a.k
           WINDOW 5 SECONDS) AS counts GROUP BY n""",
    )
    sinks, bad = {"pairs": windrow.sink("noop")}, windrow.sink("parquet", path=tmp_path / "bad")
    job = session.start(str(tmp_path / "checkpoint"), sinks, trigger="available now", rejected=bad)
    finish(job)
    (figures,) = job.progress().values()
    assert figures["rejected"] == {"late": 2, "no time": 2, "unreadable": 0}
    kept = [(row["stream"], row["cause"], json.loads(row["row"])["k"]) for row in rows_of(tmp_path / "bad")]
    assert sorted(kept) == [("a", "late", 0), ("a", "no time", 2), ("b", "late", 2), ("b", "no time", 1)]


@pytest.mark.slow
def test_a_file_that_is_broken_stops_the_job_and_is_named(spark: SparkSession, tmp_path: Path):
    folder = tmp_path / "in put"
    put(folder, pa.table({"ts": instants([START])}))
    (folder / "00001 broken.parquet").write_bytes(b"PAR1 and then nothing that makes sense PAR1")
    session = windrow.Session(spark, shards=1)
    session.stream("ticks", stream_of(spark, folder, "ts TIMESTAMP"), time="ts")
    session.query("counts", "SELECT COUNT(*) AS n FROM ticks [RANGE 7 SECONDS SLIDE 3 SECONDS]")
    job = session.start(str(tmp_path / "checkpoint"), {"counts": windrow.sink("noop")}, trigger="available now")
    with pytest.raises(JobError, match=r"the file \S*00001.*broken\.parquet cannot be read; remove it or mend it"):
        job.wait(PATIENCE)
    assert not job.is_active


def test_an_event_that_several_spark_queries_reject_is_kept_once(spark: SparkSession, tmp_path: Path):
    session = windrow.Session(spark, shards=1)
    for name, seconds in {"a": [1, 30, None], "b": [2, 30, None, None]}.items():
        times = [None if second is None else START + second * SECOND for second in seconds]
        put(tmp_path / name, pa.table({"ts": instants(times), "k": range(len(seconds))}))
        session.stream(name, stream_of(spark, tmp_path / name, "ts TIMESTAMP, k BIGINT"), time="ts")
    session.query("pairs", "SELECT a.k FROM a [RANGE 5 SECONDS], b [RANGE 5 SECONDS] WHERE a.k = b.k")
    session.query("counts", "SELECT COUNT(*) AS n FROM a [RANGE 7 SECONDS SLIDE 3 SECONDS]")
    sinks, bad = dict.fromkeys(("pairs", "counts"), windrow.sink("noop")), windrow.sink("json", path=tmp_path / "bad")
    job = session.start(str(tmp_path / "checkpoint"), sinks, trigger="available now", rejected=bad)
    finish(job, flush=False)
    assert {name: figures["rejected"]["no time"] for name, figures in job.progress().items()} == {
        "changes-a+b": 3,
        "a": 1,
    }
    kept = [(row["stream"], row["cause"], json.loads(row["row"])["k"]) for row in rows_of(tmp_path / "bad")]
    assert sorted(kept) == [("a", "no time", 2), ("b", "no time", 2), ("b", "no time", 3)]


def test_a_file_that_is_gone_stops_the_job_by_name_or_is_counted(spark: SparkSession, tmp_path: Path):
    folder = tmp_path / "in put%20"
    put(folder, *(pa.table({"ts": instants([START + second * SECOND])}) for second in (1, 2)))
    checkpoint, sinks = tmp_path / "checkpoint", {"counts": windrow.sink("parquet", path=tmp_path / "out")}

    def started(**options: str) -> Job:
        session = windrow.Session(spark, shards=1)
        reader = spark.readStream.schema("ts TIMESTAMP").option("maxFilesPerTrigger", 1).options(**options)
        session.stream("ticks", reader.parquet(str(folder)), time="ts")
        session.query("counts", "SELECT COUNT(*) AS n FROM ticks [RANGE 1 SECOND SLIDE 1 SECOND]")
        return session.start(str(checkpoint), sinks, trigger="available now")

    finish(started(), flush=False)
    before = sorted(os.listdir(tmp_path / "out"))
    for name in ("1", ".1.crc"):  # as if it had been killed before it was done
        (checkpoint / "ticks" / "spark" / "commits" / name).unlink(missing_ok=True)
    (folder / "00001.parquet").rename(tmp_path / "elsewhere")
    with pytest.raises(JobError, match=r"the file \S+/in put%20/00001\.parquet is gone since Spark noted what to read"):
        started().wait(PATIENCE)
    assert sorted(os.listdir(tmp_path / "out")) == before
    job = started(ignoreMissingFiles="true")
    finish(job, flush=False)
    figures = job.progress()["ticks"]
    assert (figures["missing_files"], figures["events"]) == (1, 0)


@pytest.mark.slow
def test_no_file_is_missed_that_was_read(spark: SparkSession, tmp_path: Path):
    """Two sources, names with spaces and per cent signs, empty files, compacted notes, files removed when done."""
    own = spark.newSession()
    own.conf.set("spark.sql.streaming.fileSource.log.compactInterval", 2)
    own.conf.set("spark.sql.session.timeZone", "UTC")
    texts = [f"2023-11-14 22:14:0{n}\n" for n in range(1, 4)]
    frames = []
    for folder in (tmp_path / "a b", tmp_path / "50%25+é"):
        write_texts(folder, ["", *texts])
        (folder / "1.txt").rename(folder / "1 %20 #?.txt")
        reader = own.readStream.schema("ts TIMESTAMP").option("maxFilesPerTrigger", 1)
        frames.append(reader.option("cleanSource", "delete").csv(str(folder)))
    session = windrow.Session(own, shards=1)
    session.stream("ticks", frames[0].where("second(ts) > 1").union(frames[1]), time="ts")
    session.query("counts", "SELECT COUNT(*) AS n FROM ticks [RANGE 1 MINUTE SLIDE 1 MINUTE]")
    sinks = {"counts": windrow.sink("parquet", path=tmp_path / "out")}
    job = session.start(str(tmp_path / "check %20"), sinks, trigger="available now")
    finish(job)
    assert [row["n"] for row in rows_of(tmp_path / "out")] == [5]
    assert job.progress()["ticks"]["missing_files"] == 0
    notes = os.listdir(tmp_path / "check %20" / "ticks" / "spark" / "sources" / "0")
    assert [name for name in notes if name.endswith(".compact")]


@pytest.mark.slow
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside windows"])
def test_what_no_session_took_is_rejected_and_what_one_still_took_is_not(spark: SparkSession, tmp_path: Path, beside):
    """Sessions of 10 seconds: at 24 the row at 6 reaches the open session from 15 on, and the row of b at 2 none."""
    batches = [[(0, "a")], [(15, "a"), (24, "b")], [(6, "a"), (2, "b")], [(40, "c")]]
    put(
        tmp_path / "in",
        *(
            pa.table({"ts": instants(START + second * SECOND for second, _ in rows), "k": [key for _, key in rows]})
            for rows in batches
        ),
    )
    session = windrow.Session(spark, shards=2)
    session.stream("ticks", stream_of(spark, tmp_path / "in", "ts TIMESTAMP, k STRING"), time="ts")
    session.query("sessions", "SELECT k, COUNT(*) AS n FROM ticks [PARTITION BY k SESSION 10 SECONDS]")
    sinks = {"sessions": windrow.sink("parquet", path=tmp_path / "out")}
    if beside:
        session.query("counts", "SELECT COUNT(*) AS n FROM ticks [RANGE 5 SECONDS SLIDE 5 SECONDS]")
        sinks["counts"] = windrow.sink("parquet", path=tmp_path / "counts")
    checkpoint, rejected = str(tmp_path / "checkpoint"), windrow.sink("memory")
    job = session.start(checkpoint, sinks, trigger="available now", rejected=rejected)
    finish(job)
    assert {(row["window_end"] - START, row["k"], row["n"]) for row in rows_of(tmp_path / "out")} == {
        (10 * SECOND, "a", 1),
        (25 * SECOND, "a", 2),
        (34 * SECOND, "b", 1),
        (50 * SECOND, "c", 1),
    }
    (kept,) = rows_of(spark.table("rejected_ticks"))
    assert (kept["cause"], kept["time"] - START, json.loads(kept["row"])["k"]) == ("late", 2 * SECOND, "b")
    figures = job.progress()["ticks"]
    assert (figures["rejected"]["late"], figures["late_in_part"]) == (1, 1 if beside else 0)
