"""Executors killed in the middle of batches, on a cluster of Spark's own: `make torture`.

Jobs of two kinds run on a master and two workers of this machine: windows that slide, and a join in two stages. While
a batch is under way one of the two executors is killed, again and again. Each job must end by itself, with the rows
of one that nobody disturbed.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).parents[1]))
import tortured_job
from standalone import Standalone, wait_until

BATCHES, FILE_ROWS, FILE_US = 7, 600, 2_000_000
BEGIN_US = 1_700_000_040_000_000


@dataclass
class Told:
    """What became of a job."""

    kind: str
    killed: int
    in_a_batch: int
    lost: int
    ended_well: bool
    rows: dict[str, int]
    equal: bool | None
    seconds: float
    log: str

    def __str__(self) -> str:
        rows = ", ".join(f"{count:,} of {name}" for name, count in self.rows.items())
        fate = "ended by itself" if self.ended_well else "DIED"
        same = {None: "", True: ", equal", False: ", NOT EQUAL"}[self.equal]
        killed = f"{self.killed} killed, {self.in_a_batch} of them in a batch, {self.lost} seen lost by the driver"
        return f"{self.kind}: {killed}; {fate}; rows: {rows}{same} ({self.seconds:.0f} s)"


def write_events(folder: Path) -> None:
    for number, name in enumerate(("ev", "other")):
        (folder / name).mkdir(parents=True)
        draw = np.random.default_rng(number)
        files = BATCHES * tortured_job.FILES_A_BATCH
        for file in range(files):
            times = BEGIN_US + file * FILE_US // tortured_job.FILES_A_BATCH + draw.integers(0, FILE_US // 2, FILE_ROWS)
            events = {
                "ts": pa.array(np.sort(times), pa.timestamp("us", tz="UTC")),
                "k": pa.array(draw.choice(["a", "b", "c", "d", None], FILE_ROWS).tolist()),
                "i": pa.array(draw.integers(0, 300, FILE_ROWS)),
                "x": pa.array(np.round(draw.normal(0, 30, FILE_ROWS), 3)),
            }
            path = folder / name / f"{file:05d}.parquet"
            pq.write_table(pa.table(events), path)
            os.utime(path, (1_700_000_000 + file,) * 2)  # Spark takes files in the order of their age


class Batches:
    """The batches of a job, seen from outside: which were begun, which are committed."""

    def __init__(self, checkpoint: Path) -> None:
        self._checkpoint = checkpoint

    def open(self) -> set[str]:
        return self._names("offsets") - self._names("commits")

    def _names(self, log: str) -> set[str]:
        found = self._checkpoint.glob(f"*/spark/{log}/*")
        return {str(path.parents[1].parent.name) + "/" + path.name for path in found if path.name.isdigit()}


@contextmanager
def driver(kind: str, cluster: Standalone, source: Path, output: Path) -> Iterator[subprocess.Popen[bytes]]:
    output.mkdir(parents=True)
    command = [sys.executable, tortured_job.__file__, kind, cluster.url, str(source), str(output)]
    with open(output / "log", "ab") as log:
        process = subprocess.Popen(command, env=cluster.environment, stdout=log, stderr=log, start_new_session=True)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def torture(kind: str, cluster: Standalone, source: Path, output: Path, kills: int, seed: int) -> Told:
    """Run a job, and kill one of two executors up to `kills` times while a batch is under way."""
    draw, batches = random.Random(seed), Batches(output / "checkpoint")
    killed = inside = 0
    began = time.monotonic()
    with driver(kind, cluster, source, output) as process:
        while process.poll() is None:
            executors = cluster.executors()
            if killed < kills and len(executors) == 2 and (before := batches.open()):
                time.sleep(draw.uniform(0, 1.5))
                victim = draw.choice(executors)
                with suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
                    killed += 1
                    inside += bool(before & batches.open())
                wait_until(partial(cluster.is_without, victim), "it lives on")
                time.sleep(draw.uniform(0.5, 2))
            time.sleep(0.05)
        ended = process.returncode == 0
    rows = {name: len(rows_of(output / name)) for name in tortured_job.QUERIES[kind]}
    log = (output / "log").read_text()
    return Told(kind, killed, inside, log.count("Lost executor"), ended, rows, None, time.monotonic() - began, log)


def rows_of(folder: Path) -> list[tuple]:
    """What a plain reader finds, in some fixed order."""
    if not list(folder.glob("*.parquet")):
        return []
    return sorted(duckdb.sql(f"SELECT * FROM read_parquet('{folder}/*.parquet')").fetchall(), key=repr)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=3, help="jobs of each kind")
    parser.add_argument("--kills", type=int, default=4, help="executors killed in each job, at most")
    parser.add_argument("--kind", choices=list(tortured_job.QUERIES), help="jobs of this kind only")
    parser.add_argument("--seed", type=int, default=1, help="of when and whom to kill")
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that nothing of the cluster is left
    kinds = [chosen.kind] if chosen.kind else list(tortured_job.QUERIES)
    wrong, total = 0, 0
    with tempfile.TemporaryDirectory(prefix="windrow-torture-", ignore_cleanup_errors=True) as kept:
        folder = Path(kept)
        write_events(folder / "in")
        with Standalone(folder / "cluster") as cluster:
            for kind in kinds:
                whole = torture(kind, cluster, folder / "in", folder / kind / "whole", 0, 0)
                print(f"undisturbed, {whole}", flush=True)
                assert whole.ended_well and all(whole.rows.values()), whole.log[-4000:]
                expected = {name: rows_of(folder / kind / "whole" / name) for name in tortured_job.QUERIES[kind]}
                for number in range(chosen.jobs):
                    output = folder / kind / str(number)
                    told = torture(kind, cluster, folder / "in", output, chosen.kills, chosen.seed + number)
                    told.equal = all(rows_of(output / name) == rows for name, rows in expected.items())
                    total += told.killed
                    wrong += not (told.ended_well and told.equal)
                    print(told, flush=True)
                    if not told.ended_well:
                        print(told.log[-4000:], flush=True)
    print(f"{total} executors killed in {chosen.jobs * len(kinds)} jobs: {wrong} jobs died or have other rows")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
