"""The example of fraud runs from first to last, and its answers are DuckDB's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lab.broker import missing
from lab.postgres import missing_postgres

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_example_ends_with_what_duckdb_says(tmp_path: Path) -> None:
    pytest.importorskip("deltalake")
    lacks = missing("broker", "kafka", "postgresql") or missing_postgres()
    if lacks is not None:
        pytest.skip(lacks)
    command = [sys.executable, str(ROOT / "examples" / "fraud" / "run.py"), str(tmp_path / "fraud")]
    paths = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    told = subprocess.run(
        command, capture_output=True, text=True, check=False, env=dict(os.environ) | {"PYTHONPATH": paths}
    )
    assert told.returncode == 0, told.stdout + told.stderr
    assert told.stdout.count("each once, as DuckDB has them") == 3
