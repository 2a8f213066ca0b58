"""`windrow reset-clock`: the word that it leaves for a job that does not run, the request to one that does, and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from windrow.cli.main import app
from windrow.errors import ChangeError, SettingsError
from windrow.plan.instants import read_instant
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.changes import Scan
from windrow.spark.job.job_requests import Listener, Request
from windrow.spark.job.reset_clock import check_goes_back

NOON = "2024-01-31 12:00:00"
NOON_US = 1_706_702_400_000_000


def reset(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["reset-clock", *map(str, arguments)])


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """Of a job over two streams, one of which is also joined, and one that is timed by arrival."""
    for name in ("ticks", "trades", "changes-2-names+trades", "clicks"):
        (tmp_path / name / "control").mkdir(parents=True)
    (tmp_path / "clicks" / "timing").write_text("arrival")
    (tmp_path / "job.requests").mkdir()
    return tmp_path


def words_in(checkpoint: Path) -> dict[str, list[str]]:
    found = {folder.parent.name: sorted(folder.iterdir()) for folder in checkpoint.glob("*/control")}
    return {name: [file.read_text() for file in files] for name, files in found.items() if files}


def test_a_job_that_does_not_run_finds_the_word_when_it_is_started_again(checkpoint: Path):
    result = reset(checkpoint, "ticks", NOON)
    assert result.exit_code == 0, result.output
    assert (
        "the clock of ticks goes back to 2024-01-31 12:00:00.000000 UTC when the job is started again" in result.output
    )
    assert "answered again; what sinks hold of them stays there" in result.output
    assert reset(checkpoint, "ticks", "2024-01-31T13:00:00+01:00").exit_code == 0
    assert words_in(checkpoint) == {"ticks": [f"reset {NOON_US}"] * 2}


def test_a_job_that_runs_is_sent_a_request(checkpoint: Path):
    asked: list[Request] = []

    def reply(request: Request) -> Request:
        asked.append(request)
        return {"error": "there is no stream 'tocks'"} if request["reset_clock"] == "tocks" else {"reset": "ticks"}

    listener = Listener(str(checkpoint), reply, lambda: True)
    try:
        result = reset(checkpoint, "ticks", NOON)
        assert result.exit_code == 0 and "with its next batch" in result.output, result.output
        wrong = reset(checkpoint, "tocks", NOON)
        assert wrong.exit_code == 2 and "no stream 'tocks'" in wrong.output
    finally:
        listener.end()
    assert [read_instant(request["to"]) for request in asked] == [NOON_US] * 2
    assert words_in(checkpoint) == {}


@pytest.mark.parametrize(
    ("stream", "time", "told"),
    [
        ("tocks", NOON, "the checkpoint has no stream 'tocks'\nhint: it has clicks, ticks, trades"),
        ("../ticks", NOON, "has no stream '../ticks'"),
        ("trades", NOON, "queries over changes of 'trades': the clock of joins"),
        ("names", NOON, "cannot be set back"),
        ("clicks", NOON, "stream 'clicks' is timed by arrival"),
        ("ticks", "yesterday", "'yesterday' is not a time, such as 2024-01-31 12:00:00"),
        ("ticks", "12000-01-01", "is not a time"),
    ],
)
def test_what_cannot_be_set_back_is_refused_by_name_and_nothing_is_written(
    checkpoint: Path, stream: str, time: str, told: str
):
    result = reset(checkpoint, stream, time)
    assert result.exit_code == 2 and told in result.output, result.output
    assert words_in(checkpoint) == {}


def test_a_checkpoint_that_is_not_there_is_said(tmp_path: Path):
    result = reset(tmp_path / "nowhere", "ticks", NOON)
    assert result.exit_code == 2 and "there is no checkpoint" in result.output


def test_a_running_job_refuses_what_it_knows_better():
    pairs = ChangePlan("pairs", ("names", "ticks"), Scan("ticks", (), ()), "CHANGES")
    with pytest.raises(ChangeError, match=r"^pairs: the clock of joins.*cannot be set back"):
        check_goes_back("ticks", NOON_US, [pairs], ["ticks"], None)
    with pytest.raises(SettingsError, match="there is no stream 'tocks'\nhint: running are ticks"):
        check_goes_back("tocks", NOON_US, [pairs], ["ticks"], None)
