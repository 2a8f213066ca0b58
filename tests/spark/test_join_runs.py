"""Queries of several numbers of stages in one Spark query: with those that come and go, and from older checkpoints."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.session import start

from .streams import SECOND, START, finish, put, rows_of, until
from .test_windows_over_windows import FILES, QUERIES, ROWS, replayed, session_over, sinks_of, some_events, sorted_rows

ONE = "changes-3-a"


def runs_in(checkpoint: Path) -> set[str]:
    return {folder.parent.name for folder in checkpoint.glob("*/control")}


def some_of(*names: str) -> dict[str, str]:
    return {name: QUERIES[name] for name in names}


def test_a_checkpoint_with_a_run_for_each_number_of_stages_goes_on(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    asked = some_of("plain", "same", "fewer", "deep")
    place, sinks = tmp_path / "checkpoint", sinks_of(tmp_path, asked)
    files = [some_events().slice(first, ROWS) for first in range(0, FILES * ROWS, ROWS)]
    put(tmp_path / "a", *files[:2])
    with monkeypatch.context() as before:
        before.setattr(start, "join_runs", lambda queries, there: dict(queries))  # each number of stages by itself
        finish(session_over(spark, tmp_path, asked).start(str(place), sinks, trigger="available now"), flush=False)
    assert runs_in(place) == {"a", "changes-2-a", ONE}
    put(tmp_path / "a", *files[2:])
    job = session_over(spark, tmp_path, asked).start(str(place), sinks, trigger="available now")
    assert {name: plan.run for name, plan in job.plans.items()} == {
        "plain": "a", "same": "a", "fewer": "changes-2-a", "deep": ONE,
    }  # fmt: skip
    finish(job)
    assert runs_in(place) == {"a", "changes-2-a", ONE}
    for name in asked:
        assert sorted_rows(rows_of(tmp_path / "out" / name)) == sorted_rows(rows_of(replayed(name)))


def test_a_run_keeps_its_stages_when_the_query_that_needs_them_is_dropped(spark: SparkSession, tmp_path: Path):
    asked = some_of("plain", "fewer", "deep")
    place, sinks = tmp_path / "checkpoint", sinks_of(tmp_path, asked)
    files = [some_events().slice(first, ROWS) for first in range(0, FILES * ROWS, ROWS)]
    put(tmp_path / "a", *files[:1])
    job = session_over(spark, tmp_path, asked).start(str(place), sinks)
    try:
        until(lambda: job.progress().get(ONE, {}).get("batches", 0) >= 1)
        assert job.progress()[ONE].clock is not None and job.progress()[ONE].windows > 0
        assert set(job.progress()[ONE].query_seconds) >= {"plain", "fewer"}
        job.add("rows", QUERIES["rows"], windrow.sink("parquet", path=tmp_path / "out" / "rows"))
        for name in ("deep", "rows"):
            job.drop(name)
    finally:
        job.stop()
    put(tmp_path / "a", *files[1:])
    job = session_over(spark, tmp_path, asked).start(str(place), sinks, trigger="available now")
    assert {name: plan.run for name, plan in job.plans.items()} == {"plain": ONE, "fewer": ONE}
    finish(job)
    assert runs_in(place) == {ONE}
    for name in ("plain", "fewer"):
        assert sorted_rows(rows_of(tmp_path / "out" / name)) == sorted_rows(rows_of(replayed(name)))

    job = session_over(spark, tmp_path, asked).start(str(place), sinks)
    try:
        job.resume("deep")
        assert job.plans["deep"].run == ONE
        for name in ("deep", "fewer"):
            job.drop(name)
        back = datetime.fromtimestamp(START // SECOND + 30, UTC)
        job.reset_clock("a", back)  # which only windows over the stream itself can go back to
        until(lambda: job.progress().get(ONE, {}).get("batches", 0) >= 1)
        until(lambda: job.progress()[ONE].clock == back)
    finally:
        job.stop()
