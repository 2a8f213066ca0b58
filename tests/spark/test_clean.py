"""`windrow clean`: state that the queries of a job's last run do not know is listed, and deleted by the next batch."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

import windrow
from windrow.cli.main import app
from windrow.spark.job.checkpoint import QueryEdits
from windrow.spark.job.clean_state import leftovers

from . import changed_job
from .streams import finish, put, stream_of
from .test_changes import caught_up, events

COUNTS = "SELECT COUNT(*) AS n FROM ticks [RANGE 30 SECONDS SLIDE 3 SECONDS]"
SUMS = "SELECT k, SUM(x) AS s FROM ticks [RANGE 20 SECONDS SLIDE 2 SECONDS] WHERE i > 0 GROUP BY k"
KINDS = "SELECT DISTINCT k FROM ticks [RANGE 20 SECONDS] EMIT CHANGES"
PAIRS = "SELECT DISTINCT i FROM ticks [RANGE 20 SECONDS] EMIT CHANGES"
HELD = ("panes/1 of ticks where `i` > 0 by `k` string", "answer/1 CHANGES at each change of distinct/1")


def clean(*arguments: object, answer: str | None = None) -> Result:
    return CliRunner().invoke(app, ["clean", *map(str, arguments)], input=answer)


def run(spark: SparkSession, folder: Path, number: int, **texts: str) -> None:
    """One more file of events, worked off by the queries in `texts`."""
    put(folder / "in", events(number))
    session = windrow.Session(spark, shards=2)
    session.stream("ticks", stream_of(spark, folder / "in", changed_job.SCHEMA), time="ts")
    for name, text in texts.items():
        session.query(name, text)
    sinks = {name: windrow.sink("noop") for name in texts}
    finish(session.start(str(folder / "checkpoint"), sinks, trigger="available now"), flush=False)


@pytest.mark.slow
def test_what_the_last_run_did_not_know_is_listed_and_deleted_by_the_next(spark: SparkSession, tmp_path: Path):
    checkpoint = tmp_path / "checkpoint"
    run(spark, tmp_path, 0, counts=COUNTS, sums=SUMS, kinds=KINDS, pairs=PAIRS)
    nothing = clean(checkpoint)
    assert (nothing.exit_code, "holds nothing that its queries do not know" in nothing.output) == (0, True)
    run(spark, tmp_path, 1, counts=COUNTS, pairs=PAIRS)
    found = leftovers(spark, str(checkpoint))
    assert len(found) == len(HELD) and all(any(one.held.startswith(held) for one in found) for held in HELD)
    for one in found:
        assert one.stream == "ticks" and one.bytes > 0 and one.since_us is not None
    asked = clean(checkpoint, answer="n\n")
    assert asked.exit_code == 1 and "delete 2 parts of its state?" in asked.output
    for held in HELD:
        line = r"ticks  \w{16}  [\d.,]+ [kKM]?B, not asked for since 20\d\d-\d\d-\d\d .* UTC\n  " + re.escape(held)
        assert re.search(line, asked.output)
    assert leftovers(spark, str(checkpoint)) == found
    agreed = clean(checkpoint, "--yes")
    assert agreed.exit_code == 0, agreed.output
    assert "2 parts of its state: deleted by the first batch when the job is started again" in agreed.output
    assert leftovers(spark, str(checkpoint)) == []  # they are as good as gone
    run(spark, tmp_path, 2, counts=COUNTS, pairs=PAIRS)
    QueryEdits().write(str(checkpoint))  # even for one who does not know what was agreed to
    assert leftovers(spark, str(checkpoint)) == []


@pytest.mark.slow
def test_what_is_asked_for_again_is_not_to_be_deleted_any_more(spark: SparkSession, tmp_path: Path):
    checkpoint = tmp_path / "checkpoint"
    run(spark, tmp_path, 0, counts=COUNTS, sums=SUMS)
    run(spark, tmp_path, 1, counts=COUNTS)
    assert clean(checkpoint, "--yes").exit_code == 0
    assert QueryEdits.read(str(checkpoint)).forgotten["ticks"]
    run(spark, tmp_path, 2, counts=COUNTS, sums=SUMS)
    assert QueryEdits.read(str(checkpoint)).forgotten == {"ticks": []}
    run(spark, tmp_path, 3, counts=COUNTS)
    (left,) = leftovers(spark, str(checkpoint))
    assert left.held == HELD[0]


def test_drop_deletes_what_only_that_query_kept(spark: SparkSession, tmp_path: Path):
    source, out = tmp_path / "in", tmp_path / "out"
    put(source, events(0))
    job = changed_job.start(spark, source, out)
    caught_up(job, 1)
    refused = clean(out / "checkpoint")
    assert refused.exit_code == 2 and "a job runs on the checkpoint" in refused.output
    job.add("sums of some", SUMS, windrow.sink("noop"))
    put(source, events(1))
    caught_up(job, 2)
    job.drop("last")
    job.drop("sums of some")
    put(source, events(2))
    caught_up(job, 3)
    job.stop()
    assert len(QueryEdits.read(str(out / "checkpoint")).forgotten["ticks"]) == 2
    QueryEdits(dropped=["last"]).write(str(out / "checkpoint"))
    assert leftovers(spark, str(out / "checkpoint")) == []


@pytest.mark.parametrize("made", [False, True])
def test_what_is_no_checkpoint_is_refused_without_starting_anything(tmp_path: Path, made: bool):
    place = tmp_path / "nowhere"
    if made:
        place.mkdir()
    result = clean(place)
    assert result.exit_code == 2 and f"there is no checkpoint {place}: name the folder" in result.output
