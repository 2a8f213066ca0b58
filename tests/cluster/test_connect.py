"""Spark Connect, with the server that pyspark brings: what is behind it is examined, and jobs are refused by name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from connect_server import connect_server

import windrow

_REFUSED = """
import sys, windrow
from pyspark.sql import SparkSession
try:
    windrow.Session(SparkSession.builder.remote(sys.argv[1]).getOrCreate())
except windrow.errors.SettingsError as error:
    print(error)
"""


def said_by(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_a_doctor_looks_behind_a_server_and_a_session_refuses_it_by_name(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(windrow.__file__).parents[1]))
    with connect_server(tmp_path) as url:
        asked = ["-c", "from windrow.cli.main import app; app()", "doctor", "--remote", url]
        doctor = said_by([sys.executable, *asked])
        assert doctor.returncode == 0 and "all is well on 1 executor" in doctor.stdout, doctor.stdout + doctor.stderr
        tried = said_by([sys.executable, "-c", _REFUSED, url])
    assert "does not run on Spark Connect yet" in tried.stdout, tried.stderr
