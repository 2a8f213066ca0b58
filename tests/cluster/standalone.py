"""A cluster of Spark's own on this machine: a master and some workers on loopback, from pyspark's jars."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from quick_spark import SMALL_JVM

PATIENCE = 120
HOST = "127.0.0.1"


class Standalone:
    """A master and `workers` of one core each; at the end of the block nothing of it is left."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self._folder, self._count = folder, workers
        spec = importlib.util.find_spec("pyspark")
        assert spec is not None and spec.origin is not None
        home = str(Path(spec.origin).parent)
        self.environment = os.environ | {
            "SPARK_HOME": home,
            "SPARK_LOCAL_IP": HOST,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": SMALL_JVM,
            "PYSPARK_PYTHON": sys.executable,
        }
        self._command = [str(Path(home) / "bin" / "spark-class")]
        self._port = free_port()
        self.url = f"spark://{HOST}:{self._port}"
        self._daemons: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Standalone:
        self._folder.mkdir(parents=True)
        where = ["--host", HOST, "--webui-port", "0"]
        self._start("master", "org.apache.spark.deploy.master.Master", *where, "--port", str(self._port))
        wait_until(lambda: _listens(self._port), "the master does not listen")
        for number in range(self._count):
            own = ["--cores", "1", "--memory", "1g", "--work-dir", str(self._folder / f"work-{number}"), self.url]
            self._start(f"worker-{number}", "org.apache.spark.deploy.worker.Worker", *where, *own)
        return self

    def __exit__(self, *exception: object) -> None:
        for daemon in self._daemons:
            with suppress(ProcessLookupError):
                os.killpg(daemon.pid, signal.SIGKILL)
            daemon.wait()

    def executors(self) -> list[int]:
        """The executors that have work by now, as processes: children of our workers that have started a Python."""
        workers, parents = {daemon.pid for daemon in self._daemons[1:]}, _parents()
        busy = set(parents.values())
        return sorted(pid for pid, parent in parents.items() if parent in workers and pid in busy)

    def is_without(self, executor: int) -> bool:
        return executor not in self.executors()

    def _start(self, name: str, *arguments: str) -> None:
        with open(self._folder / f"{name}.log", "ab") as log:
            self._daemons.append(
                subprocess.Popen(
                    [*self._command, *arguments], env=self.environment, stdout=log, stderr=log, start_new_session=True
                )
            )


def free_port() -> int:
    with socket.socket() as free:
        free.bind((HOST, 0))
        return free.getsockname()[1]


def wait_until(condition: Callable[[], bool], complaint: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, complaint
        time.sleep(0.1)


def _listens(port: int) -> bool:
    with socket.socket() as knocking:
        return knocking.connect_ex((HOST, port)) == 0


def _parents() -> dict[int, int]:
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(FileNotFoundError, ProcessLookupError):
            found[int(pid)] = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return found
