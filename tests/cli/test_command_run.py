"""Scripts that are run: to the end of their input, until they die, and in a process of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from tick_files import QUERY, SINK, STREAM, answers, expected, placed, write_ticks
from typer.testing import CliRunner

from quick_spark import SHORT_LIVED
from windrow.cli.main import app

PATIENCE = 300
"""Seconds after which a process hangs rather than works."""


def command(*arguments: str) -> list[str]:
    choices = [part for name, value in SHORT_LIVED.items() for part in ("--set", f"{name}={value}")]
    return [sys.executable, "-m", "windrow.cli.main", *arguments, "--master", "local[2]", *choices]


def test_all_input_is_worked_off_and_every_window_equals_the_oracle(
    spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_ticks(tmp_path / "ticks", files=2)
    (tmp_path / "app.sql").write_text(
        placed(STREAM + SINK + QUERY, tmp_path) + "SELECT MAX(price) AS top FROM ticks [RANGE 1 HOUR SLIDE 1 HOUR];"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    done = CliRunner().invoke(app, ["run", "app.sql", "--available-now", "--flush", "--set", "shards=2"])
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    assert answers(tmp_path / "out" / "vwap") == expected(tmp_path / "ticks")
    assert "no --checkpoint: a restart will begin anew" in done.stdout
    assert "ticks: 600 events" in done.stdout
    assert "rejected: none" in done.stdout
    assert "-- query_1" in done.stdout
    rows = len(expected(tmp_path / "ticks"))
    assert f"\nvwap: {rows:,} rows, parquet " in done.stdout and "\nquery_1: " in done.stdout
    assert done.stdout.endswith("all input is worked off\n")
    assert not list(tmp_path.glob("windrow-*")), "the temporary checkpoint and the log are gone"


def test_ctrl_c_stops_after_a_batch_and_a_restart_completes_the_results(
    spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_ticks(tmp_path / "ticks", files=5)
    (tmp_path / "app.sql").write_text(placed(STREAM + SINK + QUERY, tmp_path))
    out = tmp_path / "out" / "vwap"
    # a session of its own, so that the signal reaches the whole group, the JVM too, as it does from a terminal
    arguments = command("run", "app.sql", "--checkpoint", "checkpoint")
    running = subprocess.Popen(
        arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        began = time.monotonic()
        while not list(out.glob("*.parquet")):
            assert running.poll() is None and time.monotonic() - began < PATIENCE
            time.sleep(0.02)
        os.killpg(running.pid, signal.SIGINT)
        stdout, stderr = running.communicate(timeout=PATIENCE)
    finally:
        running.kill()
    assert (running.returncode, stderr) == (0, "")
    assert "stopping after this batch" in stdout
    assert "stopped after a whole batch" in stdout
    assert set(answers(out)) < set(expected(tmp_path / "ticks"))
    monkeypatch.chdir(tmp_path)
    again = CliRunner().invoke(app, ["run", "app.sql", "--checkpoint", "checkpoint", "--available-now", "--flush"])
    assert again.exit_code == 0, again.output
    assert answers(out) == expected(tmp_path / "ticks")


def test_a_job_that_dies_says_why_and_where_the_log_is(spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ticks").mkdir()
    (tmp_path / "ticks" / "999.parquet").write_text("these are no ticks")
    (tmp_path / "app.sql").write_text(placed(STREAM + SINK + QUERY, tmp_path))
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["run", "app.sql", "--available-now", "--checkpoint", "checkpoint"])
    assert result.exit_code == 1
    assert "999.parquet cannot be read" in result.stderr
    log = Path(result.stderr.rstrip().rpartition("Spark's log: ")[2])
    assert log.exists()
    log.unlink()
