"""Executors, workers, Python workers and shuffle files lost in the middle of batches, on a cluster: `make torture`.

Jobs of three kinds run on a master and two workers of this machine: windows that slide and clusters; windows of rows
and over windows; and a join in two stages. While a batch is under way something is taken from it, again and again. Each
job must end by itself, with the rows of one on local Spark that nobody disturbed.
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
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import tortured_job
from blows import BLOWS, Blow, draw_blow
from standalone import Standalone

from quick_spark import use_installed_modules

FILE_ROWS, FILE_US = 600, 2_000_000
BEGIN_US = 1_700_000_040_000_000
LOCAL = "local[2]"


@dataclass
class Told:
    """What became of a job."""

    kind: str
    blows: list[Blow] = field(default_factory=list)
    lost: int = 0
    restarts: int = 0
    ended_well: bool = False
    rows: dict[str, int] = field(default_factory=dict)
    equal: bool | None = None
    seconds: float = 0.0
    log: str = ""

    def __str__(self) -> str:
        rows = ", ".join(f"{count:,} of {name}" for name, count in self.rows.items())
        fate = "ended by itself" if self.ended_well else "DIED"
        same = {None: "", True: ", equal", False: ", NOT EQUAL"}[self.equal]
        within = sum(blow.inside for blow in self.blows)
        seen = f"{self.lost} executors seen lost by the driver, {self.restarts} restarts from the checkpoint"
        told = f"{self.kind}: {len(self.blows)} blows, {within} of them in a batch; {seen}; {fate}; rows: {rows}{same}"
        return "\n".join([f"{told} ({self.seconds:.0f} s)", *(f"  {blow}" for blow in self.blows)])


def write_events(folder: Path, batches: int, rows: int = FILE_ROWS) -> None:
    for number, name in enumerate(("ev", "other")):
        (folder / name).mkdir(parents=True)
        draw = np.random.default_rng(number)
        for file in range(batches * tortured_job.FILES_A_BATCH):
            times = BEGIN_US + file * FILE_US // tortured_job.FILES_A_BATCH + draw.integers(0, FILE_US // 2, rows)
            events = {
                "ts": pa.array(np.sort(times), pa.timestamp("us", tz="UTC")),
                "k": pa.array(draw.choice(["a", "b", "c", "d", None], rows).tolist()),
                "i": pa.array(draw.integers(0, 300, rows)),
                "x": pa.array(np.round(draw.normal(0, 30, rows), 3)),
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
def driver(
    kind: str, master: str, environment: dict[str, str], source: Path, output: Path
) -> Iterator[subprocess.Popen]:
    output.mkdir(parents=True)
    command = [sys.executable, tortured_job.__file__, kind, master, str(source), str(output)]
    with open(output / "log", "ab") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def torture(
    kind: str,
    cluster: Standalone,
    source: Path,
    output: Path,
    count: int,
    seed: int,
    names: list[str] | None = None,
    least: int = 2,
) -> Told:
    """Run a job, and deal up to `count` blows while a batch is under way; without any, on local Spark.

    A blow waits until `least` executors have work: with 1, the second one falls while the first is not back yet.
    """
    draw, batches, told = random.Random(seed), Batches(output / "checkpoint"), Told(kind)
    began = time.monotonic()
    spared: set[str] = set()
    with driver(kind, cluster.url if count else LOCAL, cluster.environment, source, output) as process:
        while process.poll() is None:
            executors = cluster.executors() if len(told.blows) < count else []
            under_way = batches.open()
            if under_way & spared:
                pass  # most are left alone once they were hit, so that others are
            elif len(executors) >= least and under_way:
                time.sleep(draw.uniform(0, 1.5))
                what, before = draw_blow(draw, names or list(BLOWS)), batches.open()
                now = time.monotonic() - began
                whom = BLOWS[what][0](cluster, draw.choice(executors), draw)
                spared = before if draw.random() < 0.8 else set()
                if whom:
                    inside = bool(before & batches.open())
                    told.blows.append(Blow(what, whom, now, tuple(sorted(before)), inside))
                time.sleep(draw.uniform(0.2, 0.5))
            time.sleep(0.05)
        told.ended_well = process.returncode == 0
    told.rows = {name: len(rows_of(output / name)) for name in tortured_job.QUERIES[kind]}
    told.log = (output / "log").read_text()
    told.lost, told.restarts = told.log.count("Lost executor"), told.log.count("was lost, and runs again")
    told.seconds = time.monotonic() - began
    return told


def rows_of(folder: Path) -> list[tuple]:
    """What a plain reader finds, in some fixed order."""
    if not list(folder.glob("*.parquet")):
        return []
    return sorted(duckdb.sql(f"SELECT * FROM read_parquet('{folder}/*.parquet')").fetchall(), key=repr)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=100, help="how many blows in all")
    parser.add_argument("--each", type=int, default=17, help="how many in one job, at most")
    parser.add_argument("--kind", choices=tortured_job.KINDS, help="jobs of this kind only")
    parser.add_argument("--blow", choices=list(BLOWS), action="append", help="only blows of this kind, or these")
    parser.add_argument("--seed", type=int, default=1, help="of when and whom to hit")
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that nothing of the cluster is left
    use_installed_modules()  # executors come and go, and none is to compile Spark's Python from its archive
    kinds = [chosen.kind] if chosen.kind else list(tortured_job.KINDS)
    expected: dict[str, dict[str, list[tuple]]] = {}
    wrong, jobs, dealt, began = 0, 0, Counter[str](), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="windrow-torture-", ignore_cleanup_errors=True) as kept:
        folder = Path(kept)
        write_events(folder / "in", batches=chosen.each + chosen.each // 2 + 1)  # some batches are over before a blow
        with Standalone(folder / "cluster") as cluster:
            while dealt.total() < chosen.kills and jobs < 10 + chosen.kills:
                kind, output = kinds[jobs % len(kinds)], folder / str(jobs)
                if kind not in expected:
                    whole = torture(kind, cluster, folder / "in", folder / f"whole-{kind}", 0, 0)
                    print(f"undisturbed, on {LOCAL}, {whole}", flush=True)
                    assert whole.ended_well and all(whole.rows.values()), whole.log[-4000:]
                    expected[kind] = {name: rows_of(folder / f"whole-{kind}" / name) for name in whole.rows}
                count = min(chosen.each, chosen.kills - dealt.total())
                told = torture(kind, cluster, folder / "in", output, count, chosen.seed + jobs, chosen.blow, least=1)
                told.equal = all(rows_of(output / name) == rows for name, rows in expected[kind].items())
                jobs += 1
                dealt.update(blow.what for blow in told.blows)
                wrong += not (told.ended_well and told.equal)
                print(told, flush=True)
                if not told.ended_well:
                    print(told.log[-4000:], flush=True)
    blows = ", ".join(f"{count} {what}" for what, count in dealt.most_common())
    minutes = (time.monotonic() - began) / 60
    print(f"{dealt.total()} blows ({blows}) in {jobs} jobs and {minutes:.0f} min: {wrong} jobs died or have other rows")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
