"""A job with all its processes is killed at random moments of its batches, started again, and in the end left alone."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent


def kill_again_and_again(program: str, arguments: Sequence[str], folder: Path, kills: int) -> None:
    """Kill the job that `program` runs `kills` times, in the middle of a batch, and then let it come to its end.

    Its checkpoint is in `folder`, and it puts a file `done` there when all is done. Progress is printed.
    """
    draw, checkpoint, begun = random.Random(7), folder / "checkpoint" / "tx" / "spark", time.monotonic()
    environment = dict(os.environ) | {"PYTHONPATH": os.pathsep.join([str(HERE.parent), *sys.path])}
    for kill in range(kills + 1):
        # a batch that begins, or one that is done: then the next one is under way
        watched = checkpoint / ("offsets" if kill % 3 == 2 else "commits")
        before, until = _newest(watched), time.monotonic() + (300 if kill < kills else 1500)
        with open(folder / "job.log", "ab") as log:
            job = subprocess.Popen(
                [sys.executable, str(HERE / program), *arguments],
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            while job.poll() is None and (kill == kills or _newest(watched) <= before):
                assert time.monotonic() < until, _log(folder)
                time.sleep(0.02)
            if kill < kills:
                time.sleep(draw.random() * 1.5)
                assert job.poll() is None, f"the job has ended before its kill {kill + 1}: {_log(folder)}"
        finally:
            if job.poll() is None:
                os.killpg(job.pid, signal.SIGKILL)
            job.wait()
        if kill < kills:
            done = _newest(checkpoint / "commits")
            print(f"kill {kill + 1} of {kills}, batch {done} done, {time.monotonic() - begun:.0f} s", flush=True)
    assert (folder / "done").exists(), _log(folder)


def _newest(log: Path) -> int:
    return max((int(file.name) for file in log.glob("[0-9]*")), default=-1)


def _log(folder: Path) -> str:
    return (folder / "job.log").read_text()[-3000:]
