"""What the commands that start nothing print."""

from __future__ import annotations

from pathlib import Path

import pytest
from tick_files import QUERY, SINK, STREAM, placed, write_ticks
from typer.testing import CliRunner

from windrow.cli.main import app


@pytest.fixture
def script(spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    write_ticks(tmp_path / "ticks", files=1)
    monkeypatch.chdir(tmp_path)
    Path("app.sql").write_text(placed(STREAM + SINK + QUERY + QUERY, tmp_path))
    return "app.sql"


def test_explain_names_every_query_and_writes_nothing(script: str) -> None:
    result = CliRunner().invoke(app, ["explain", script, "--set", "shards=3"])
    assert result.exit_code == 0, result.output
    assert "vwap" in result.stdout
    assert "query_1" in result.stdout
    assert not Path("out").exists()


def test_check_says_that_a_script_is_right(script: str) -> None:
    result = CliRunner().invoke(app, ["check", script])
    assert (result.exit_code, result.stdout) == (0, "app.sql is right: 2 queries\n")


@pytest.mark.parametrize("command", ["run", "explain", "check", "clean", "compact", "demo", "bench"])
def test_help_has_an_example(command: str) -> None:
    result = CliRunner().invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert f"windrow {command}" in result.stdout


def test_help_names_all_commands() -> None:
    result = CliRunner().invoke(app, ["--help"])
    assert all(f"\n  {command} " in result.stdout for command in ("run", "explain", "check", "clean", "demo", "bench"))
