"""The page of a real job in a browser: queries come and go, the job is killed and started again under the open page."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import windrow
from console.browser import opened, until, written

COMMAND = (sys.executable, "-c", "from windrow.cli.main import app; app()")
SCRIPT = """
CREATE STREAM ticks (ts TIMESTAMP, symbol STRING, price DOUBLE)
  USING parquet OPTIONS (path '{folder}/in') TIMESTAMP BY ts LATENESS 1 SECOND;
CREATE SINK totals USING answers;
INSERT INTO totals SELECT symbol, SUM(price) AS total FROM ticks [RANGE 10 SECONDS SLIDE 2 SECONDS] GROUP BY symbol;
CREATE SINK kept USING parquet OPTIONS (path '{folder}/out');
INSERT INTO kept SELECT symbol, COUNT(*) AS n FROM ticks [RANGE 6 SECONDS SLIDE 2 SECONDS] GROUP BY symbol EMIT CHANGES;
"""


def write_events(folder: Path, ended: threading.Event) -> None:
    """A file of events a second, put in place whole."""
    for number in range(10_000):
        now = datetime.now(UTC)
        times = [now + timedelta(milliseconds=20 * i) for i in range(50)]
        rows = {"ts": pa.array(times, pa.timestamp("us", "UTC")), "symbol": [f"S{i % 4}" for i in range(50)]}
        rows["price"] = pa.array([float(number % 7 + i % 3) for i in range(50)])
        pq.write_table(pa.table(rows), folder / f".{number}.parquet")
        (folder / f".{number}.parquet").rename(folder / f"{number}.parquet")
        if ended.wait(1.0):
            return


def start(folder: Path, port: int) -> tuple[subprocess.Popen[str], str]:
    command = [*COMMAND, "run", str(folder / "app.sql")]
    command += ["--checkpoint", str(folder / "checkpoint"), "--console", "--listen", f"127.0.0.1:{port}"]
    job = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert job.stdout is not None
    for line in job.stdout:
        found = re.match(r"console: (http://\S+)", line)
        if found:
            threading.Thread(target=job.stdout.read, daemon=True).start()
            return job, found[1]
    raise AssertionError("the job has not said where its console is")


@pytest.mark.slow
def test_the_page_of_a_job_that_is_killed_and_started_again(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "app.sql").write_text(SCRIPT.format(folder=tmp_path))
    ended, jobs = threading.Event(), []
    writer = threading.Thread(target=write_events, args=(tmp_path / "in", ended), daemon=True)
    writer.start()
    try:
        with opened(viewport={"width": 1280, "height": 860}) as page:
            job, link = start(tmp_path, 0)
            jobs.append(job)
            port = int(re.search(r":(\d+)/", link)[1])
            page.goto(link)
            page.wait_for_selector("td >> text=totals")
            page.goto(f"http://localhost:{port}/#/query/totals")
            page.wait_for_selector("td >> text=S3", timeout=60_000)
            page.keyboard.press("4")
            page.wait_for_selector(".cm-content")
            written(
                page, "SELECT symbol, MAX(prise) AS most FROM ticks [RANGE 4 SECONDS SLIDE 2 SECONDS] GROUP BY symbol"
            )
            page.wait_for_selector(".cm-lintRange-error")
            assert page.inner_text(".cm-lintRange-error") == "prise"
            written(
                page, "SELECT symbol, MAX(price) AS most FROM ticks [RANGE 4 SECONDS SLIDE 2 SECONDS] GROUP BY symbol"
            )
            until(
                page,
                lambda: not page.locator(".cm-lintRange-error").count() and page.locator("button.main").is_enabled(),
            )
            page.wait_for_selector("text=/rows from .* recent events/", timeout=60_000)
            page.fill("input[aria-label='Name of the query']", "most")
            page.click("button.main")
            page.wait_for_url("**/#/query/most", timeout=120_000)
            page.wait_for_selector("td >> text=S3", timeout=60_000)
            page.goto(f"http://localhost:{port}/#/plan")
            page.wait_for_selector("g.node[aria-label='query most']")
            page.goto(f"http://localhost:{port}/#/query/kept")
            page.wait_for_selector("td >> text=S3", timeout=60_000)
            client = windrow.connect(link)
            held = {row["symbol"]: row["n"] for row in client.answer("kept")}
            assert held.keys() <= {f"S{i}" for i in range(4)} and client.answer("kept").since is None

            os.killpg(job.pid, signal.SIGKILL)
            job.wait()
            page.wait_for_selector(".pill.stale", timeout=20_000)
            job, link = start(tmp_path, port)
            jobs.append(job)
            page.wait_for_selector(".pill.live", timeout=30_000)
            asked = [*COMMAND, "console", str(tmp_path / "checkpoint")]
            assert link in subprocess.run(asked, capture_output=True, text=True, check=True).stdout
            page.goto(f"http://localhost:{port}/#/query/most")
            page.wait_for_selector("td >> text=S3", timeout=60_000)
            client = windrow.connect(link)
            until(page, lambda: client.answer("kept").batch >= 0 and len(client.answer("kept")) > 0, 60)
            assert client.answer("kept").since is None  # what changes add up to was kept in the checkpoint

            page.click("button:has-text('Drop')")  # the token is another one now
            page.click("dialog button:has-text('Drop')")
            page.wait_for_selector("text=/token is missing or wrong/")
            page.goto(link)
            page.reload()
            page.goto(f"http://localhost:{port}/#/query/most")
            page.wait_for_selector("text=answers come in")
            page.click("button:has-text('Drop')")
            page.click("dialog button:has-text('Drop')")
            page.wait_for_selector("text=most is dropped", timeout=120_000)
            assert "most" not in {query["name"] for query in client.queries()}
    finally:
        ended.set()
        for job in jobs:
            if job.poll() is None:
                os.killpg(job.pid, signal.SIGTERM)
                try:
                    job.wait(60)
                except subprocess.TimeoutExpired:
                    os.killpg(job.pid, signal.SIGKILL)
