"""Paths and URIs: what is on this machine is the same folder however it is written, and nothing is made by mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from windrow.cli.main import app
from windrow.errors import SettingsError
from windrow.places.addresses import local_path

SCRIPT = """
CREATE STREAM ticks (ts TIMESTAMP, price DOUBLE) USING json OPTIONS (path '{source}') TIMESTAMP BY ts;
CREATE SINK sums USING json OPTIONS (path '{sink}');
INSERT INTO sums SELECT SUM(price) AS total FROM ticks [RANGE 4 SECONDS SLIDE 2 SECONDS];
"""


def test_a_file_of_another_machine_is_refused_by_its_name():
    with pytest.raises(SettingsError, match=r"is on the machine other\nhint: .*file:///x"):
        local_path("file://other/x")


def test_a_checkpoint_and_a_sink_by_uri_are_the_folders_that_they_name(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    lines = [f'{{"ts": "2024-01-01T00:00:{second:02d}Z", "price": 1.0}}' for second in range(9)]
    (tmp_path / "in" / "a.json").write_text("\n".join(lines))
    script, kept, out = tmp_path / "app.sql", tmp_path / "kept", tmp_path / "out"
    script.write_text(SCRIPT.format(source=tmp_path / "in", sink=f"file:{out}"))
    arguments = ["run", str(script), "--checkpoint", f"file://{kept}", "--available-now", "--set", "shards=1"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert (kept / "windrow.json").is_file() and list(out.glob("*.json"))
    assert {path.name for path in tmp_path.iterdir()} <= {"in", "app.sql", "kept", "out", "spark-warehouse"}
    cleaned = CliRunner().invoke(app, ["compact", f"file:{out}"])
    assert cleaned.exit_code == 0, cleaned.output
