"""The benchmarks that are found, and what they are given."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import windrow.cli.bench
from windrow.cli.main import app

BENCHMARK = '''"""How long nothing takes.

More words.
"""
import json


def main(size, json_path, plot_path):
    print("measured")
    if json_path is not None:
        json_path.write_text(json.dumps([size, str(json_path), plot_path]))
'''
FAILING = '"""How long it takes to fail."""\n\ndef main(size, json_path, plot_path):\n    assert size == "full", "a wrong answer"\n'


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one benchmark and a module that is none."""
    (tmp_path / "benchmarks_here").mkdir()
    (tmp_path / "benchmarks_here" / "nothing_to_do.py").write_text(BENCHMARK)
    (tmp_path / "benchmarks_here" / "cases.py").write_text('"""Cases for others."""\n')
    monkeypatch.setattr(windrow.cli.bench, "FOLDER", "benchmarks_here")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_name_they_are_listed_with_what_they_ask(checkout: Path) -> None:
    result = CliRunner().invoke(app, ["bench"])
    assert result.exit_code == 0
    assert "nothing_to_do  How long nothing takes.\n" in result.stdout
    assert "Cases for others" not in result.stdout


def test_a_benchmark_gets_the_arguments(checkout: Path) -> None:
    result = CliRunner().invoke(app, ["bench", "nothing_to_do", "--quick", "--json", "cases.json"])
    assert (result.exit_code, result.stdout) == (0, "measured\n")
    assert json.loads((checkout / "cases.json").read_text()) == ["quick", "cases.json", None]


def test_the_help_has_each_by_name_with_a_line(checkout: Path) -> None:
    result = CliRunner().invoke(app, ["bench", "--help"])
    assert "nothing_to_do  How long nothing takes." in result.stdout
    assert "Cases for others" not in result.stdout


@pytest.mark.parametrize("size", ["--quick", "--tiny"])
def test_all_run_with_progress_and_one_that_fails_stops_no_other(
    size: str, checkout: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each in a process of its own, which is left out here."""
    (checkout / "benchmarks_here" / "failing.py").write_text(FAILING)
    monkeypatch.setattr(windrow.cli.bench, "_run_apart", lambda name, given: ran(name, given, size))
    result = CliRunner().invoke(app, ["bench", size])
    assert result.exit_code == 1
    told = re.sub(r"after \d+ s", "after a while", result.stdout)
    assert [line for line in told.splitlines() if line] == [
        "1 of 2: failing",
        "failing: failed, exit code 1 after a while",
        "2 of 2: nothing_to_do",
        "nothing_to_do: done after a while",
    ]
    assert result.stderr == "1 of 2 benchmarks failed: failing\n"


def ran(name: str, given: str, size: str) -> int:
    """The exit code of a benchmark in this process."""
    assert f"--{given}" == size
    return CliRunner().invoke(app, ["bench", name, f"--{given}"]).exit_code


def test_a_process_of_its_own_runs_a_benchmark_and_tells_how_it_ended() -> None:
    assert windrow.cli.bench._run_apart("no_such_benchmark", "tiny") == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nothing"], "there is no benchmark 'nothing'; benchmarks: nothing_to_do"),
        (["--quick", "--tiny"], "--quick and --tiny are two sizes: give one of them"),
        (["--quick", "--json", "x.json"], "--json and --plot are for one benchmark"),
    ],
    ids=["name", "sizes", "file"],
)
def test_what_cannot_be_meant_is_refused(checkout: Path, arguments: list[str], told: str) -> None:
    result = CliRunner().invoke(app, ["bench", *arguments])
    assert result.exit_code == 2 and told in result.stderr
