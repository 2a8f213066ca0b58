"""A job that writes tables of lakes is killed again and again: every row is there once, and the answer is whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from .test_lake_jobs import events, expected_rows

HERE = Path(__file__).parent
KILLS = int(os.environ.get("KILLS", "4"))
FILES = 20


@pytest.mark.slow
def test_kills_at_any_moment_lose_nothing_and_repeat_nothing(tmp_path: Path) -> None:
    deltalake = pytest.importorskip("deltalake")
    catalogs = pytest.importorskip("pyiceberg.catalog")
    pytest.importorskip("sqlalchemy")
    (tmp_path / "in").mkdir()
    for number in range(FILES):
        place = tmp_path / "in" / f"{number:02d}.parquet"
        pq.write_table(events(number * 10, number * 10 + 10), place)
        os.utime(place, (1_700_000_000 + number,) * 2)
    draw, kills = random.Random(5), 0
    environment = dict(os.environ) | {"PYTHONPATH": os.pathsep.join([str(HERE.parent), *sys.path])}
    commits = tmp_path / "checkpoint" / "ticks" / "spark" / "commits"
    for _ in range(KILLS * 3):
        with open(tmp_path / "job.log", "ab") as log:
            command = [sys.executable, str(HERE / "killed_lake_job.py"), str(tmp_path)]
            job = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        before, until = len(list(commits.glob("[0-9]*"))), time.monotonic() + 240
        while job.poll() is None and time.monotonic() < until:
            if kills < KILLS and len(list(commits.glob("[0-9]*"))) > before:
                time.sleep(draw.random() * 1.5)  # in the middle of some batch
                break
            time.sleep(0.05)
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
            kills += 1
        job.wait()
        if (tmp_path / "done").exists():
            break
    assert (tmp_path / "done").exists(), (tmp_path / "job.log").read_text()[-3000:]
    assert kills >= min(KILLS, 2)

    expected = expected_rows(FILES * 10)
    catalog = catalogs.load_catalog("here", type="sql", uri=f"sqlite:///{tmp_path}/catalog.db")
    held = [deltalake.DeltaTable(str(tmp_path / name)).to_pyarrow_table() for name in ("plain", "rolled")]
    for table in (*held, catalog.load_table("db.sums").scan().to_arrow()):
        rows = duckdb.from_arrow(table).select("window_end AT TIME ZONE 'UTC', k, total, n").fetchall()
        assert Counter(rows) == expected
    last = max(row[0] for row in expected)
    now = deltalake.DeltaTable(str(tmp_path / "now")).to_pyarrow_table().to_pylist()
    assert Counter((row["k"], row["total"], row["n"]) for row in now) == Counter(
        row[1:] for row in expected.elements() if row[0] == last
    )
