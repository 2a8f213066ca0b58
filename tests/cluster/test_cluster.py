"""A cluster whose machines die: a master and two workers on loopback, and rows equal to those of an unbroken run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tortured_job
from blows import BLOWS
from standalone import Standalone
from torture import rows_of, torture, write_events

import windrow

TWO_HOSTS = ("127.0.0.1", "127.0.0.2")


@pytest.fixture(autouse=True)
def seen_by_processes(monkeypatch):
    """What we start finds this folder, the tests and Windrow, and so do the executors that it asks for."""
    ours = [str(Path(__file__).parent), str(Path(__file__).parents[1]), str(Path(windrow.__file__).parents[1])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(ours))


def replayed(source: Path, name: str) -> list[tuple]:
    """What the query answers without Spark, without batches, without a cluster."""
    events = pa.concat_tables([pq.read_table(path) for path in sorted((source / "ev").glob("*.parquet"))])
    return sorted(windrow.replay(tortured_job.SHORT[name], ev=events, flush=True).to_pylist(), key=repr)


def written(output: Path, name: str) -> list[tuple]:
    return sorted(pq.read_table(output / name).to_pylist(), key=repr)


def test_a_job_on_a_cluster_ends_by_itself_with_all_rows_though_an_executor_is_killed(tmp_path):
    write_events(tmp_path / "in", batches=3, rows=60)
    with Standalone(tmp_path / "cluster") as cluster:
        told = torture("short", cluster, tmp_path / "in", tmp_path / "job", 1, 1, ["executor"])
    assert told.ended_well, told.log[-4000:]
    assert [blow.what for blow in told.blows] == ["executor"]
    for name in tortured_job.SHORT:
        expected = replayed(tmp_path / "in", name)
        assert len(expected) > 5 and written(tmp_path / "job", name) == expected


@pytest.mark.slow
@pytest.mark.parametrize("what", BLOWS)
def test_whatever_is_lost_all_rows_are_there_once(what, tmp_path):
    write_events(tmp_path / "in", batches=6)
    with Standalone(tmp_path / "cluster") as cluster:
        whole = torture("joined", cluster, tmp_path / "in", tmp_path / "whole", 0, 0)
        told = torture("joined", cluster, tmp_path / "in", tmp_path / "job", 2, 5, [what])
    assert whole.ended_well and told.ended_well, told.log[-4000:]
    assert told.blows
    for name in tortured_job.JOINED:
        expected = rows_of(tmp_path / "whole" / name)
        assert expected and rows_of(tmp_path / "job" / name) == expected


@pytest.mark.slow
def test_of_a_task_that_is_slow_a_copy_runs_on_the_other_host_and_one_of_them_counts(tmp_path, monkeypatch):
    eager = {"spark.speculation": "true", "spark.speculation.interval": "200ms", "spark.speculation.quantile": "0.4"}
    eager |= {"spark.speculation.minTaskRuntime": "3s", "spark.speculation.efficiency.enabled": "false"}
    monkeypatch.setenv("TORTURED_OPTIONS", json.dumps(eager))
    monkeypatch.setenv("TORTURED_TIMEOUT", "10 minutes")  # nobody but the copy helps
    write_events(tmp_path / "in", batches=4)
    with Standalone(tmp_path / "cluster", TWO_HOSTS) as cluster:
        whole = torture("sliding", cluster, tmp_path / "in", tmp_path / "whole", 0, 0)
        told = torture("sliding", cluster, tmp_path / "in", tmp_path / "job", 1, 2, ["hang"])
    assert whole.ended_well and told.ended_well, told.log[-4000:]
    assert told.restarts == 0
    for name in tortured_job.SLIDING:
        expected = rows_of(tmp_path / "whole" / name)
        assert expected and rows_of(tmp_path / "job" / name) == expected


@pytest.mark.slow
def test_executors_run_the_python_that_was_packed_for_them(tmp_path, monkeypatch):
    """As docs/cluster.md tells: the archive is unpacked by each executor, which finds Windrow nowhere else."""
    pytest.importorskip("venv_pack")
    archive = tmp_path / "environment.tar.gz"
    windrow_command = [sys.executable, "-c", "from windrow.cli.main import app; app()"]
    subprocess.run([*windrow_command, "pack", str(archive)], check=True)
    options = {"spark.archives": f"{archive}#environment", "spark.pyspark.python": "./environment/bin/python"}
    asked = [word for name, value in options.items() for word in ("--set", f"{name}={value}")]
    driver = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"}
    monkeypatch.delenv("PYTHONPATH")
    with Standalone(tmp_path / "cluster") as cluster:
        command = [*windrow_command, "doctor", "--master", cluster.url, *asked]
        told = subprocess.run(command, check=False, capture_output=True, text=True, env=driver)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "/environment/bin/python" in told.stdout and "all is well on 2 executors" in told.stdout
