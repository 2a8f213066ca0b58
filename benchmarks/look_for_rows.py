"""Who waits for results, in a process of its own: it looks for new files, and tells when it has seen which rows."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
import time
import traceback
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

LOOK = 0.01
"""So often, in seconds, a reader looks for new files."""

SETTLED_NS = 20_000_000
"""The clock of a file system may go by so many nanoseconds at once."""


class Reader(threading.Thread):
    """By folder, when the first row of each instant in a column was seen; instants are in microseconds."""

    def __init__(self, folders: list[Path], column: str) -> None:
        super().__init__(daemon=True)
        self.seen: list[dict[int, float]] = [{} for _ in folders]
        self._failure = ""
        spawn = multiprocessing.get_context("spawn")
        self._news, theirs = spawn.Pipe(duplex=False)
        self._process = spawn.Process(target=look_and_tell, args=(folders, column, theirs), daemon=True)
        self._process.start()
        theirs.close()

    def run(self) -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                number, instants, at = self._news.recv()
                if number is None:
                    self._failure = instants
                    return
                for instant in instants:
                    self.seen[number].setdefault(instant, at)

    def check(self) -> None:
        """Raise if nobody looks any more: who waits for rows would wait for ever."""
        if self._failure or not self._process.is_alive():
            raise RuntimeError(f"the reader has ended (exit {self._process.exitcode}): {self._failure}")

    def stop(self) -> None:
        self._process.terminate()
        self._process.join()
        self.join()


def look_and_tell(folders: list[Path], column: str, news: Connection) -> None:
    """Look for rows, and send why if that fails: what a process prints while Spark runs may reach nobody."""
    try:
        look_for_rows(folders, column, news)
    except Exception:
        news.send((None, traceback.format_exc(), time.time()))


def look_for_rows(folders: list[Path], column: str, news: Connection) -> None:
    """Send what each new file holds; a folder in which nothing is new is not read again."""
    known = [set[str]() for _ in folders]
    changed_ns = [0] * len(folders)
    while True:
        time.sleep(LOOK)
        for number, folder in enumerate(folders):
            now_ns = folder.stat().st_mtime_ns if folder.exists() else 0
            if now_ns == changed_ns[number]:
                continue
            names = {name for name in os.listdir(folder) if not name.startswith(("_", "."))}
            for name in names - known[number]:
                instants = pq.read_table(folder / name, columns=[column])[column].cast(pa.int64()).to_numpy()
                news.send((number, np.unique(instants).tolist(), time.time()))
            known[number] |= names
            if time.time_ns() - now_ns > SETTLED_NS:  # else a file may come that the time does not tell from this one
                changed_ns[number] = now_ns
