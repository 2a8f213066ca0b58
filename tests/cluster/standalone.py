"""A cluster of Spark's own on this machine: a master and some workers on loopback, from pyspark's jars."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from quick_spark import QUICK_JVM

PATIENCE = 120
HOST = "127.0.0.1"


@dataclass(frozen=True)
class Executor:
    """An executor that has work by now: its process, and the worker that has started it."""

    pid: int
    worker: str


class Standalone:
    """A master and a worker of one core on each of `hosts`; at the end of the block nothing of it is left."""

    def __init__(self, folder: Path, hosts: Sequence[str] = (HOST, HOST)) -> None:
        self._folder = folder
        self._hosts = {f"worker-{number}": host for number, host in enumerate(hosts)}
        spec = importlib.util.find_spec("pyspark")
        assert spec is not None and spec.origin is not None
        home = os.environ.get("SPARK_HOME") or str(Path(spec.origin).parent)
        self.environment = os.environ | {
            "SPARK_HOME": home,
            "SPARK_LOCAL_IP": HOST,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": QUICK_JVM,
            "PYSPARK_PYTHON": sys.executable,
        }
        self._command = [str(Path(home) / "bin" / "spark-class")]
        self._port = free_port()
        self.url = f"spark://{HOST}:{self._port}"
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Standalone:
        self._folder.mkdir(parents=True)
        where = ["--host", HOST, "--webui-port", "0"]
        self._start("master", "org.apache.spark.deploy.master.Master", *where, "--port", str(self._port))
        wait_until(lambda: listens(self._port), "the master does not listen")
        for name in self._hosts:
            self.start_worker(name)
        return self

    def __exit__(self, *exception: object) -> None:
        for daemon in self._daemons.values():
            with suppress(ProcessLookupError):
                os.killpg(daemon.pid, signal.SIGKILL)
            daemon.wait()

    def start_worker(self, name: str) -> None:
        """A worker, or another one of that name where it was killed. Its executors keep shuffles in a folder of it."""
        where = ["--host", self._hosts[name], "--webui-port", "0", "--work-dir", str(self._folder / name)]
        own = {"SPARK_LOCAL_DIRS": str(self.scratch(name)), "SPARK_LOCAL_IP": self._hosts[name]}
        size = ["--cores", "1", "--memory", "1g"]
        self._start(name, "org.apache.spark.deploy.worker.Worker", *where, *size, self.url, environment=own)

    def kill_worker(self, name: str) -> None:
        """Kill a worker; its executors find out, and end."""
        daemon = self._daemons[name]
        daemon.kill()
        daemon.wait()

    def scratch(self, name: str) -> Path:
        return self._folder / f"{name}-scratch"

    def shuffle_files(self, name: str) -> list[Path]:
        """What tasks on a worker have written for tasks elsewhere."""
        return list(self.scratch(name).rglob("shuffle_*"))

    def executors(self) -> list[Executor]:
        """The executors that have work by now: children of our workers that have started a Python."""
        workers = {daemon.pid: name for name, daemon in self._daemons.items() if name in self._hosts}
        parents = _parents()
        busy = set(parents.values())
        found = [(pid, parent) for pid, parent in parents.items() if parent in workers and pid in busy]
        return [Executor(pid, workers[parent]) for pid, parent in sorted(found)]

    def pythons(self, executor: Executor) -> list[int]:
        """The Python workers of an executor: forks of the daemon that it has started."""
        parents = _parents()
        daemons = {pid for pid, parent in parents.items() if parent == executor.pid}
        return sorted(pid for pid, parent in parents.items() if parent in daemons)

    def is_without(self, executor: Executor) -> bool:
        return executor.pid not in _parents()

    def _start(self, name: str, *arguments: str, environment: dict[str, str] | None = None) -> None:
        with open(self._folder / f"{name}.log", "ab") as log:
            self._daemons[name] = subprocess.Popen(
                [*self._command, *arguments],
                env=self.environment | (environment or {}),
                stdout=log,
                stderr=log,
                start_new_session=True,
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


def listens(port: int) -> bool:
    with socket.socket() as knocking:
        return knocking.connect_ex((HOST, port)) == 0


def _parents() -> dict[int, int]:
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(FileNotFoundError, ProcessLookupError):
            state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                found[int(pid)] = int(parent)
    return found
