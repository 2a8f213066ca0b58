"""Spark's workers are forked from a process that has loaded what they need, and end with the program they work for."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from pyspark.serializers import read_int
from pyspark.sql import SparkSession

from windrow.spark.workers.installed import without_archive
from windrow.spark.workers.python import PLACE

PROGRAM = "import sys, windrow.spark.workers.warm as w; w.start_warming(); print(w.os.environ[w.PLACE], flush=True); sys.stdin.read()"
SECRETS = {"PYTHON_WORKER_FACTORY_SECRET": "s", "SPARK_REUSE_WORKER": "1"}


def daemon(place: str) -> subprocess.Popen[bytes]:
    """The daemon as Spark starts it."""
    command = [sys.executable, "-m", "windrow.spark.workers.daemon", "pyspark.worker"]
    environment = {**os.environ, PLACE: place, **SECRETS}
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def worker_of(started: subprocess.Popen[bytes]) -> tuple[socket.socket, int]:
    """A connection to a new worker of a daemon, and its process."""
    assert started.stdout is not None
    line = socket.create_connection(("127.0.0.1", read_int(started.stdout)))
    return line, read_int(line.makefile("rb"))


def loaded_in(process: int) -> bool:
    """Whether a process has Numba's compiler in memory, as one that has loaded all; a bare Python has not."""
    return "llvmlite" in Path(f"/proc/{process}/maps").read_text()


def gone(*processes: int) -> bool:
    deadline = time.monotonic() + 60
    while any(_alive(process) for process in processes):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_worker_of_spark_has_all_loaded_and_the_hashes_of_the_others(spark: SparkSession):
    def told(_: int) -> tuple[bool, bool, str | None, int]:
        return (
            "windrow.runtime.shard" in sys.modules,
            loaded_in(os.getppid()),
            os.environ.get("PYTHONHASHSEED"),
            hash("a"),
        )

    found = spark.sparkContext.parallelize(range(2), 2).map(told).collect()
    plain = subprocess.run(
        [sys.executable, "-c", "print(hash('a'))"],
        env=os.environ | {"PYTHONHASHSEED": "0"},
        capture_output=True,
        check=True,
    )
    assert found == [(True, True, "0", int(plain.stdout))] * 2


@pytest.mark.parametrize("way", ["killed", pytest.param("ended", marks=pytest.mark.slow)])
def test_daemons_are_forks_of_the_warm_process_and_nothing_is_left_when_the_program_ends(way: str):
    environment = {name: value for name, value in os.environ.items() if name != PLACE}
    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        place = program.stdout.readline().decode().strip()
        with daemon(place) as first, daemon(place) as second:
            workers = [worker_of(started) for started in (first, second)]
            assert all(loaded_in(process) for _, process in workers)
            assert not loaded_in(first.pid)  # it has only handed its place over
            program.send_signal(signal.SIGKILL if way == "killed" else signal.SIGTERM)
            program.wait()
            for started in (first, second):  # as the JVM does when it ends
                assert started.stdin is not None
                started.stdin.close()
            for line, _ in workers:
                line.close()
            assert gone(*(process for _, process in workers), first.pid, second.pid)
    deadline = time.monotonic() + 60
    while Path(place).parent.exists():
        assert time.monotonic() < deadline, "the folder of the warm process is left"
        time.sleep(0.02)


def test_what_spark_starts_as_its_python_is_python_for_all_else(spark: SparkSession):
    launcher = spark.sparkContext.pythonExec
    assert launcher != sys.executable
    asked = "import sys, windrow; print(sys.executable, sys.argv[1:])"
    told = subprocess.run([launcher, "-c", asked, "a b"], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == f"{sys.executable} ['a b']"
    gone = os.environ | {PLACE: "/nowhere"}
    told = subprocess.run(
        [launcher, "-m", "pyspark.daemon"], env=gone, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert len(told.stdout) == 4  # Spark's own daemon has told its port


def test_where_nobody_listens_the_daemon_loads_by_itself(tmp_path: Path):
    with daemon(str(tmp_path / "nobody")) as alone:
        line, process = worker_of(alone)
        assert loaded_in(process)
        alone.stdin.close()  # type: ignore[union-attr]
        line.close()
        assert gone(process, alone.pid)


def test_the_archive_of_sparks_python_is_passed_over_where_the_very_same_is_installed(tmp_path: Path):
    installed, archive = tmp_path / "installed", str(tmp_path / "pyspark.zip")
    (installed / "pyspark").mkdir(parents=True)
    for name in ("worker.py", "version.py"):
        (installed / "pyspark" / name).write_text(f"# {name}")
    with zipfile.ZipFile(archive, "w") as packed:
        for name in ("pyspark/worker.py", "pyspark/version.py", "pyspark/tests/test_worker.py"):
            packed.writestr(name, f"# {name.rpartition('/')[2]}")
    path = ["here", archive, "py4j.zip", str(installed)]
    assert without_archive(path) == ["here", "py4j.zip", str(installed)]
    assert without_archive(path[:-1]) == path[:-1]  # nothing is installed
    (installed / "pyspark" / "version.py").write_text("# another")
    assert without_archive(path) == path
    assert without_archive(["no pyspark.zip", str(installed)]) == ["no pyspark.zip", str(installed)]
