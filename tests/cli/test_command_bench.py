"""The benchmarks that are found, and what they are given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import windrow.cli.bench
from windrow.cli.main import app

BENCHMARK = '''"""How long nothing takes.

More words.
"""
import json


def main(quick, json_path, plot_path):
    print("measured")
    json_path.write_text(json.dumps([quick, str(json_path), plot_path]))
'''


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
    assert "cases" not in result.stdout


def test_a_benchmark_gets_the_arguments(checkout: Path) -> None:
    result = CliRunner().invoke(app, ["bench", "nothing_to_do", "--quick", "--json", "cases.json"])
    assert (result.exit_code, result.stdout) == (0, "measured\n")
    assert json.loads((checkout / "cases.json").read_text()) == [True, "cases.json", None]
