"""Figures of the console, a JSON line each: how soon the page is usable, 1,000 queries listed, requests and readers.

    .venv/bin/python scripts/console_figures.py
    .venv/bin/python scripts/console_figures.py --open 60      how much memory a page takes that is open for an hour

Chromium and wrk are used where they are there (Debian: apt-get install chromium wrk); what lacks its tool says so.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
import time
from copy import deepcopy
from typing import Any

import numpy as np

import windrow
from windrow.console.door import serve_backend
from windrow.console.of_replay import ReplayBackend
from windrow.serve.server import Server

LONG_TASKS = """
window.longest = 0;
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) window.longest = Math.max(window.longest, task.duration);
}).observe({ type: "longtask", buffered: true });
"""


class Many(ReplayBackend):
    """The sample streams and queries under many names: 100 streams and 1,000 queries, all of whose figures change."""

    def overview(self, since: float) -> dict[str, Any]:
        told = super().overview(since)
        streams, queries, history = told["streams"], told["queries"], told["history"]
        told["streams"] = [{**own, "name": f"{own['name']}_{i}"} for i in range(50) for own in streams]
        told["queries"] = [{**deepcopy(own), "name": f"{own['name']}_{i}"} for i in range(250) for own in queries]
        told["history"] = {f"{name}_{i}": points for i in range(50) for name, points in history.items()}
        return told


def tell(**figures: object) -> None:
    print(json.dumps(figures), flush=True)


def page(chromium: str) -> None:
    """How soon the page is usable, and how long it ever is busy with 1,000 queries and 100 streams."""
    from playwright.sync_api import sync_playwright

    for backend, what in ((ReplayBackend(), "4 queries, 2 streams"), (Many(), "1,000 queries, 100 streams")):
        with serve_backend(backend, port=0) as server, sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            shown = browser.new_context(viewport={"width": 1280, "height": 860}).new_page()
            shown.add_init_script(LONG_TASKS)
            shown.goto("about:blank")
            began = time.perf_counter()
            shown.goto(server.link)
            shown.wait_for_selector("section.panel .big")
            shown.wait_for_selector("td a")
            usable = time.perf_counter() - began
            shown.evaluate("window.longest = 0")
            for _ in range(15):
                shown.wait_for_timeout(1000)
                shown.mouse.wheel(0, 600)
            busy = shown.evaluate("window.longest")
            tell(figure="page", shows=what, usable_seconds=round(usable, 2), longest_task_ms=round(busy))
            browser.close()
        backend.close()


def memory(chromium: str, minutes: float) -> None:
    """What a page that stays open keeps in memory, each minute, after its garbage is collected."""
    from playwright.sync_api import sync_playwright

    backend = ReplayBackend()
    with serve_backend(backend, port=0) as server, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        shown = browser.new_context(viewport={"width": 1280, "height": 860}).new_page()
        shown.goto(server.link)
        shown.wait_for_selector("td a")
        inside = shown.context.new_cdp_session(shown)
        inside.send("Performance.enable")
        until = time.monotonic() + 60 * minutes
        while time.monotonic() < until:
            shown.wait_for_timeout(60_000)
            inside.send("HeapProfiler.collectGarbage")
            held = {each["name"]: each["value"] for each in inside.send("Performance.getMetrics")["metrics"]}
            tell(figure="memory", heap_mb=round(held["JSHeapUsedSize"] / 1e6, 2), nodes=int(held["Nodes"]))
        browser.close()
    backend.close()


def requests(server: Server) -> None:
    """GET /answers by key: requests a second, and how long the slowest of a hundred take."""
    wrk = shutil.which("wrk")
    if wrk is None:
        tell(figure="requests", lacks="wrk")
        return
    address = f"http://127.0.0.1:{server.port}/answers/vwap?symbol=AEL"
    told = subprocess.run(
        [wrk, "-t1", "-c8", "-d10s", "--latency", address], capture_output=True, text=True, check=True
    ).stdout
    rate, p99 = re.search(r"Requests/sec:\s+([\d.]+)", told), re.search(r"99%\s+(\S+)", told)
    wrong = re.search(r"Non-2xx.*?(\d+)", told)
    tell(figure="requests", a_second=rate and float(rate[1]), p99=p99 and p99[1], refused=int(wrong[1]) if wrong else 0)


def readers(backend: ReplayBackend, server: Server, count: int) -> None:
    """How long a commit takes with and without readers of events, at 10 answers a second."""
    client, ended = windrow.connect(server.link), threading.Event()

    def read() -> None:
        for _ in client.subscribe("vwap"):
            if ended.is_set():
                return

    rows = backend.answers.kept("vwap").answer
    assert rows is not None
    taken: dict[int, list[float]] = {0: [], count: []}
    for many, times in taken.items():
        threads = [threading.Thread(target=read, daemon=True) for _ in range(many)]
        for thread in threads:
            thread.start()
        time.sleep(3)
        for number in range(60):
            with backend._lock:
                began = time.perf_counter()
                backend.answers.take("vwap", rows.table, 1_000_000 + number)
                backend.answers.commit(["vwap"], 1_000_000 + number, None)
                times.append(time.perf_counter() - began)
            time.sleep(0.1)
    ended.set()
    p50 = {many: round(1e3 * float(np.median(times)), 3) for many, times in taken.items()}
    tell(figure="readers", readers=count, commit_ms_without=p50[0], commit_ms_with=p50[count])


def main() -> None:
    chromium = next((path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None)
    if chromium is None:
        tell(figure="page", lacks="chromium")
    elif "--open" in sys.argv:
        memory(chromium, float(sys.argv[sys.argv.index("--open") + 1]))
        return
    else:
        page(chromium)
    backend = ReplayBackend()
    with serve_backend(backend, port=0) as server:
        requests(server)
        readers(backend, server, 100)
    backend.close()


if __name__ == "__main__":
    main()
