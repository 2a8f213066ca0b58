"""What streams are like is measured, kept in the checkpoint, told, and used when the next plan is made."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import windrow
from windrow.cli.main import app
from windrow.spark.job.statistics import kept_statistics

BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
TEXT = (
    "SELECT k, SUM(x) AS a, MIN(x) AS b, MAX(x) AS c, APPROX_COUNT_DISTINCT(x) AS d FROM ticks"
    " [RANGE 60 SECONDS SLIDE 1 SECOND] WHERE x >= 50 GROUP BY k"
)


def write(folder, number):
    """Ten events a second, each of a group of its own in its minute; half of them pass the WHERE."""
    rows = range(number * 600, (number + 1) * 600)
    times = [BEGIN + timedelta(milliseconds=100 * row) for row in rows]
    table = {"ts": pa.array(times, pa.timestamp("us", "UTC")), "k": [row % 500 for row in rows]}
    pq.write_table(pa.table({**table, "x": [row % 100 for row in rows]}), folder / f"{number}.parquet")


def run(spark, folder, checkpoint, sink):
    session = windrow.Session(spark, memory="3 MB", shards=2)
    session.stream_files("ticks", str(folder), time="ts", maxFilesPerTrigger=1)
    session.query("q", TEXT)
    job = session.start(str(checkpoint), {"q": windrow.sink("parquet", path=str(sink))}, trigger="available now")
    job.wait()
    return session, job


def test_a_restart_plans_by_what_was_measured_and_loses_no_window(spark, tmp_path):
    folder, checkpoint, sink = (tmp_path / name for name in ("in", "checkpoint", "out"))
    folder.mkdir()
    for number in range(3):
        write(folder, number)
    _, job = run(spark, folder, checkpoint, sink)
    (own,) = job.statistics().values()
    assert own.rate == pytest.approx(10, rel=0.05) and own.widths["`x`"] == pytest.approx(8, rel=0.3)
    (grouping,) = own.groupings.values()
    assert grouping.share == pytest.approx(0.5) and 200 <= grouping.groups <= 310 and own.distinct["`x`"] >= 90
    assert job.runs[0].streams[0].spaces[0].keeps == "rows", "a thousand events a second are assumed"
    job.stop()
    assert kept_statistics(checkpoint)["ticks"]["ticks"].groupings == own.groupings
    told = json.loads(CliRunner().invoke(app, ["status", str(checkpoint), "--json"]).output)
    assert told["statistics"]["ticks"]["ticks"]["rate"] == own.rate
    assert "  measured     10 events a second" in CliRunner().invoke(app, ["status", str(checkpoint)]).output

    for number in range(3, 5):
        write(folder, number)
    session, job = run(spark, folder, checkpoint, sink)
    assert job.runs[0].streams[0].spaces[0].keeps == "partials", "of so few events they fit"
    assert "are measured" in session.explain()
    job.stop()
    found = pq.read_table(sink)
    ends = Counter(end.replace(tzinfo=UTC) for end in found["window_end"].to_pylist())
    assert list(sorted(ends)) == [BEGIN + timedelta(seconds=second) for second in range(6, 300)][-len(ends) :]
    rows = range(5 * 600)
    for end, k, a, b in zip(*(found[name].to_pylist() for name in ("window_end", "k", "a", "b"))):
        stop = round((end.replace(tzinfo=UTC) - BEGIN).total_seconds() * 10)
        own = [row % 100 for row in rows[max(0, stop - 600) : stop] if row % 500 == k and row % 100 >= 50]
        assert (a, b) == (sum(own), min(own))


JOIN = "SELECT a.k, b.x FROM ticks [RANGE 10 HOURS] a JOIN ticks [RANGE 10 HOURS] b ON a.k = b.k AND a.x = b.x"


def test_one_batch_is_enough_to_plan_by_and_to_refuse_what_has_no_room(spark, tmp_path, monkeypatch):
    folder, checkpoint, sink = (tmp_path / name for name in ("in", "checkpoint", "out"))
    folder.mkdir()
    write(folder, 0)
    _, job = run(spark, folder, checkpoint, sink)
    assert job.progress()["ticks"].batches == 1 and job.progress()["ticks"].stream_rate is None
    job.stop()
    own = kept_statistics(checkpoint)["ticks"]["ticks"]
    assert own.rate == pytest.approx(10, rel=0.05), "of how far apart the events were"
    assert own.shares["`x` >= 50"] == pytest.approx(0.5) and own.shares["`k`"] == 1
    monkeypatch.chdir(tmp_path)
    columns = "ts TIMESTAMP, k BIGINT, x BIGINT"
    stream = f"CREATE STREAM ticks ({columns}) USING parquet OPTIONS (path '{folder}') TIMESTAMP BY ts;\n"
    to = f"CREATE SINK q USING parquet OPTIONS (path '{sink}');\nINSERT INTO q "
    (tmp_path / "app.sql").write_text(f"{stream}{to}{TEXT}")
    assert "1,000 events a second and 100 groups are assumed" in told("explain", "app.sql")
    seen = told("explain", "app.sql", "--checkpoint", "checkpoint")
    assert "are measured" in seen and "assumed" not in seen
    assert "is no checkpoint of a job" in told("explain", "app.sql", "--checkpoint", "in")
    (tmp_path / "app.sql").write_text(f"{stream}{to}{JOIN}")
    assert "app.sql is right" in told("check", "app.sql", "--set", "memory=2 MB")
    seen = told("check", "app.sql", "--set", "memory=2 MB", "--checkpoint", "checkpoint")
    assert "'q' would hold at least" in seen and "the limit is 2.0 MB" in seen
    assert "app.sql is right" in told("check", "app.sql", "--set", "memory=40 MB", "--checkpoint", "checkpoint")

    session = windrow.Session(spark, memory="2 MB", shards=2)
    session.stream_files("ticks", str(folder), time="ts")
    session.query("joined", JOIN)
    wanted = {"joined": windrow.sink("parquet", path=str(tmp_path / "joined"))}
    with pytest.raises(
        windrow.MemoryLimitError, match=r"'joined' would hold at least .* the left side of the inner join"
    ):
        session.start(str(checkpoint), wanted)
    session.check()
    with pytest.raises(windrow.MemoryLimitError):
        session.check(str(checkpoint))
    assert "(measured)" in session.explain(checkpoint=str(checkpoint)) and "(assumed)" in session.explain()


def told(*command: str) -> str:
    ended = CliRunner().invoke(app, list(command))
    return " ".join(ended.output.split())
