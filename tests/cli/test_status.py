"""`windrow status`: what a job has noted of itself, while it runs and afterwards."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from windrow.cli.main import app
from windrow.spark.job import status_note
from windrow.spark.job.hold import Hold
from windrow.spark.job.progress import Progress, StreamProgress
from windrow.spark.job.status_note import STATUS, StatusNote

FIGURES = StreamProgress(
    batches=7,
    events=40,
    stream_rate=2.0,
    events_per_second=20.0,
    clock=None,
    windows=5,
    rejected={"late": 3},
    late_in_part=0,
    missing_files=0,
    failed=0,
    dropped=0,
    duplicates=0,
    delay=None,
    groups=9,
    state_bytes=1000,
    memory_bytes=500,
    seconds={"scan": 1.5},
    rows={"alerts": 12},
    rows_per_second={},
    waiting=False,
    restarts=2,
    lag={"tx/0": 5},
)


def told(checkpoint: Path) -> dict[str, object]:
    result = CliRunner().invoke(app, ["status", str(checkpoint), "--json"])
    assert result.exit_code == 0, result.output
    found: dict[str, object] = json.loads(result.output)
    return found


def test_a_job_is_running_then_killed_or_stopped(tmp_path: Path) -> None:
    (tmp_path / "windrow.json").write_text("{}")
    (tmp_path / "tx" / "spark" / "commits").mkdir(parents=True)
    for number in range(12):
        (tmp_path / "tx" / "spark" / "commits" / str(number)).write_text("v1")
    hold = Hold(tmp_path)
    hold.take()
    note = StatusNote(tmp_path, lambda: Progress({"tx": FIGURES}), lambda: ["alerts"], lambda: True)
    until = time.monotonic() + 20
    while not (tmp_path / STATUS).exists() and time.monotonic() < until:
        time.sleep(0.05)
    running = told(tmp_path)
    assert running["state"] == "running" and running["queries"] == ["alerts"]
    assert running["batches"] == {"tx": 11} and running["streams"]["tx"]["lag"] == {"tx/0": 5}  # type: ignore[index]
    hold.release()
    assert told(tmp_path)["state"] == "killed"
    note.end()
    assert told(tmp_path)["state"] == "stopped"
    text = CliRunner().invoke(app, ["status", str(tmp_path)]).output
    rows = dict(line.strip().split(maxsplit=1) for line in text.splitlines() if line.startswith("  "))
    assert rows["events"].startswith("40 ") and rows["restarts"] == "2" and rows["rejected"] == "3 late"
    assert "\n  not read yet tx/0 5\n" in text and "\n  last batch   11\n" in text
    assert text.startswith("stopped, begun 20") and "\nqueries: alerts\ntx\n  events " in text


def test_a_job_that_ends_by_itself_has_ended_and_may_live_again(tmp_path: Path) -> None:
    (tmp_path / "windrow.json").write_text("{}")
    note = StatusNote(tmp_path, lambda: Progress({"tx": FIGURES}), lambda: ["alerts"], lambda: True)
    note.over()
    assert told(tmp_path)["state"] == "ended"
    note._write("running")  # it was asked to flush, and is killed
    assert told(tmp_path)["state"] == "killed"
    note.over()
    note.end()
    assert told(tmp_path)["state"] == "ended"


def test_a_spark_that_is_gone_ends_the_notes_without_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pytest fails a test one of whose threads dies of an error."""
    monkeypatch.setattr(status_note, "EVERY_SECONDS", 0.01)

    def gone() -> bool:
        raise ConnectionRefusedError("no JVM listens")

    note = StatusNote(tmp_path, lambda: Progress({}), list, gone)
    note._thread.join(20)
    assert not note._thread.is_alive() and not (tmp_path / STATUS).exists()


def test_what_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["status", str(tmp_path)])
    assert result.exit_code == 2 and "is no checkpoint of a job" in result.output


def test_a_stream_that_is_read_in_several_stages_has_its_figures_under_its_own_name_too() -> None:
    progress = Progress({"changes-3-tx": FIGURES, "changes-a+b": replace(FIGURES, events=1)})
    assert progress["tx"] is progress["changes-3-tx"] is FIGURES
    assert "tx" in progress and "a" not in progress and list(progress) == ["changes-3-tx", "changes-a+b"]
