"""A PostgreSQL on this machine: Debian's, with its files in a folder, gone with its block."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Postgres:
    """A running server, asked by its own client."""

    def __init__(self, port: int, psql: str) -> None:
        self.url = f"jdbc:postgresql://127.0.0.1:{port}/postgres?user=postgres"
        self._asking = [
            psql,
            "-h",
            "127.0.0.1",
            "-p",
            str(port),
            "-U",
            "postgres",
            "-d",
            "postgres",
            "-qAtX",
            "-F",
            "|",
        ]

    def ask(self, sql: str) -> list[list[str]]:
        """The rows that a statement gives, as texts."""
        told = subprocess.run([*self._asking, "-c", sql], check=True, capture_output=True, text=True)
        return [line.split("|") for line in told.stdout.splitlines()]


def missing_postgres() -> str | None:
    """What is not here of that which a server needs; None where all of it is."""
    if _programs() is None:
        return "there is no PostgreSQL here: Debian's package postgresql has it"
    if os.getuid() == 0 and subprocess.run(["id", "postgres"], capture_output=True, check=False).returncode != 0:
        return "PostgreSQL does not run as root, and there is no user postgres"
    return None


def _programs() -> Path | None:
    homes = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((home for home in homes if (home / "initdb").exists()), None)


@contextmanager
def running_postgres(folder: Path) -> Iterator[Postgres]:
    """A server until the block ends, with its files in `folder`, where its log stays.

    It does not run as root: another user has it then, and its files are in a folder of that user's, since whoever may
    not look into one above, which pytest shuts whenever it starts, loses them.
    """
    programs = _programs()
    assert programs is not None, missing_postgres()
    psql = shutil.which("psql") or str(programs / "psql")
    with _data_folder(folder) as (data, as_user):
        yield from _served(programs, psql, data, as_user, folder / "postgres.log")


@contextmanager
def _data_folder(folder: Path) -> Iterator[tuple[Path, list[str]]]:
    """Where a server has its files, and how its programs are called to be another user than root."""
    if os.getuid() != 0:
        yield folder / "data", []
        return
    with tempfile.TemporaryDirectory(prefix="windrow-postgres-", ignore_cleanup_errors=True) as data:
        shutil.chown(data, "postgres", "postgres")
        yield Path(data), ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]


def _served(programs: Path, psql: str, data: Path, as_user: list[str], log: Path) -> Iterator[Postgres]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    options = ["-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync"]
    subprocess.run(
        [*as_user, str(programs / "initdb"), "-D", str(data), *options], check=True, capture_output=True, cwd="/"
    )
    sockets = ["-c", "unix_socket_directories=", "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]
    with open(log, "ab") as said:
        command = [*as_user, str(programs / "postgres"), "-D", str(data), "-p", str(port), *sockets]
        server = subprocess.Popen(command, cwd=data, stdout=said, stderr=said)
    try:
        found, until = Postgres(port, psql), time.monotonic() + 120
        while True:
            try:
                found.ask("SELECT 1")
                break
            except subprocess.CalledProcessError:
                assert time.monotonic() < until and server.poll() is None, "PostgreSQL has not started"
                time.sleep(0.1)
        yield found
    finally:
        server.terminate()
        server.wait()
