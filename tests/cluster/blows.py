"""What can happen to a machine of a cluster in the middle of a batch: each is dealt to one executor, and has a name."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from standalone import Executor, Standalone, wait_until


@dataclass(frozen=True)
class Blow:
    """One that was dealt: what, to whom, when, and which batches were under way before and after."""

    what: str
    whom: str
    seconds: float
    batches: tuple[str, ...]
    inside: bool

    def __str__(self) -> str:
        where = f"in batch {', '.join(self.batches)}" if self.inside else "between batches"
        return f"{self.seconds:6.1f} s  {self.what:<13} {self.whom:<24} {where}"


def kill_executor(cluster: Standalone, executor: Executor, draw: random.Random) -> str:
    _end(executor.pid)
    wait_until(partial(cluster.is_without, executor), "it lives on")
    return f"process {executor.pid}"


def kill_worker(cluster: Standalone, executor: Executor, draw: random.Random) -> str:
    cluster.kill_worker(executor.worker)
    wait_until(partial(cluster.is_without, executor), "its executor lives on")
    time.sleep(draw.uniform(0, 2))
    cluster.start_worker(executor.worker)
    return executor.worker


def kill_python(cluster: Standalone, executor: Executor, draw: random.Random) -> str:
    """A Python worker in the middle of whatever it does."""
    workers = cluster.pythons(executor)
    for worker in draw.sample(workers, min(1, len(workers))):
        _end(worker)
        return f"process {worker} of {executor.worker}"
    return ""


def lose_shuffle(cluster: Standalone, executor: Executor, draw: random.Random) -> str:
    """The shuffle files of a machine, as with a disk that fails."""
    lost = 0
    for file in cluster.shuffle_files(executor.worker):
        with suppress(FileNotFoundError):
            file.unlink()
            lost += 1
    return f"{lost} files of {executor.worker}" if lost else ""


def hang(cluster: Standalone, executor: Executor, draw: random.Random) -> str:
    """A Python worker that neither goes on nor ends."""
    workers = cluster.pythons(executor)
    if not workers:
        return ""
    worker = draw.choice(workers)
    with suppress(ProcessLookupError):
        os.kill(worker, signal.SIGSTOP)
    return f"process {worker} of {executor.worker}"


Dealt = Callable[[Standalone, Executor, random.Random], str]
BLOWS: dict[str, tuple[Dealt, int]] = {
    "executor": (kill_executor, 5),
    "worker": (kill_worker, 3),
    "Python worker": (kill_python, 3),
    "shuffle files": (lose_shuffle, 2),
    "hang": (hang, 1),
}
"""By name, what is done, and how often it is drawn beside the others. Where it finds nothing to hit, it says nothing."""


def draw_blow(draw: random.Random, names: list[str]) -> str:
    return draw.choices(names, [BLOWS[name][1] for name in names])[0]


def _end(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
