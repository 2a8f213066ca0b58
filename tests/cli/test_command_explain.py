"""What the commands that start nothing print."""

from __future__ import annotations

import os
import subprocess
import sys
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


def test_check_and_explain_need_no_java_where_columns_are_declared(tmp_path: Path) -> None:
    write_ticks(tmp_path / "ticks", files=1)
    (tmp_path / "app.sql").write_text(placed(STREAM + SINK + QUERY, tmp_path))
    nowhere = {"PATH": str(tmp_path), "JAVA_HOME": str(tmp_path), "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    for command, told in (("check", "is right: 1 query"), ("explain", "written by the tasks that slide")):
        line = [sys.executable, "-m", "windrow.cli.main", command, str(tmp_path / "app.sql")]
        ended = subprocess.run(line, env=nowhere, check=False, capture_output=True, text=True, timeout=120)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert told in ended.stdout


def test_check_and_explain_load_nothing_that_takes_long(tmp_path: Path) -> None:
    """Spark, pandas and Numba take half a second each, and a right script needs none of them to be read."""
    write_ticks(tmp_path / "ticks", files=1)
    changes = SINK.replace("vwap", "moves") + QUERY.replace(";", " EMIT CHANGES;")
    (tmp_path / "app.sql").write_text(placed(STREAM + SINK + QUERY + changes, tmp_path))
    program = (
        "import sys; from windrow.cli.main import app; app(['check', sys.argv[1]], standalone_mode=False);"
        "app(['explain', sys.argv[1]], standalone_mode=False);"
        "print([name for name in ('pyspark', 'pandas', 'numba', 'duckdb') if name in sys.modules])"
    )
    line = [sys.executable, "-c", program, str(tmp_path / "app.sql")]
    told = subprocess.run(line, check=True, capture_output=True, text=True).stdout
    assert "is right: 2 queries" in told
    assert told.endswith("written by the tasks that slide\n[]\n")


def test_check_finds_a_shard_that_there_is_not(tmp_path: Path) -> None:
    write_ticks(tmp_path / "ticks", files=1)
    branch = "CREATE STREAM some AS SPLIT ticks (SELECT * DISTRIBUTE BY 2);"
    text = placed(STREAM + branch + SINK + QUERY.replace("ticks", "some"), tmp_path)
    (tmp_path / "app.sql").write_text(text)
    command = ["check", str(tmp_path / "app.sql"), "--master", "local[2]"]
    result = CliRunner().invoke(app, command)
    assert (
        result.exit_code == 2
        and "DISTRIBUTE BY 2 sends no event of 'ticks' anywhere: shards are 0 to 1" in result.output
    )
    assert CliRunner().invoke(app, [*command, "--set", "shards=3"]).exit_code == 0


def test_check_says_why_it_starts_spark(script: str) -> None:
    text = Path(script).read_text()
    Path(script).write_text(text.replace("SUM(volume)", "SUM(length(to_csv(struct(symbol))))"))
    result = CliRunner().invoke(app, ["check", script])
    assert (result.exit_code, result.stdout) == (0, "app.sql is right: 2 queries\n")
    assert result.stderr.startswith("starting Spark: only Spark knows to_csv\n")


@pytest.mark.parametrize("command", ["run", "explain", "check", "clean", "compact", "demo", "bench"])
def test_help_has_an_example(command: str) -> None:
    result = CliRunner().invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert f"windrow {command}" in result.stdout


def test_help_names_all_commands() -> None:
    result = CliRunner().invoke(app, ["--help"])
    assert all(f"\n  {command} " in result.stdout for command in ("run", "explain", "check", "clean", "demo", "bench"))


def test_the_readme_names_all_commands() -> None:
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text()
    commands = [
        line.split()[0]
        for line in CliRunner().invoke(app, ["--help"]).stdout.split("Commands:")[1].splitlines()
        if line[2:3].isalpha()
    ]
    assert len(commands) > 15
    assert [command for command in commands if f"\nwindrow {command}" not in readme] == []
