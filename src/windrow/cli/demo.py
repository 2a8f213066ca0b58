"""The demo: a market that is made up as it goes, a script of queries over it, and their answers as they change."""

from __future__ import annotations

import sys
import tempfile
import time
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from windrow.cli.demo_answers import Answers, compare
from windrow.cli.demo_screen import plain_line, screen
from windrow.cli.demo_ticks import Market, TickWriter
from windrow.cli.launch import Launch, started
from windrow.cli.watch import StopSignals
from windrow.errors import JobError, SettingsError

if TYPE_CHECKING:
    from windrow.spark.job import Job

DEMOS = {"ticks": "100 stocks, four queries, each answered every second"}
WRITTEN_AS = "demo-out"
"""The folder in the script as it is written; replaced by the real one."""

RATE = 5_000
HISTORY_SECONDS = 300
"""So that the longest window is full when the demo begins."""


def run_demo(name: str, seconds: float, out: Path | None) -> None:
    """Run the demo called `name` for `seconds` after its first answers; raises if an answer was wrong."""
    if name not in DEMOS:
        raise SettingsError(f"there is no demo {name!r}; demos: {', '.join(DEMOS)}")
    folder = _folder(out)
    (folder / "ticks").mkdir()
    script = folder / "ticks.sql"
    script.write_text(demo_script().replace(WRITTEN_AS, str(folder)))
    typer.echo(f"{RATE:,} ticks a second of 100 stocks go to {folder / 'ticks'}; the queries are in {script}")
    with TickWriter(Market(RATE), folder / "ticks", HISTORY_SECONDS), started(Launch()) as session:
        from windrow.application import Application

        application = Application(session, script.read_text())
        with StopSignals() as stop, tempfile.TemporaryDirectory(prefix="windrow-", ignore_cleanup_errors=True) as kept:
            job = session.start(kept, application.sinks)
            _show(job, Answers(folder), seconds, stop)
            job.stop()
    _check(folder)
    typer.echo(f"the answers are in {', '.join(str(folder / name) for name in application.sinks)}")


def demo_script() -> str:
    """The demo's queries, as they come with the package."""
    return (files("windrow.cli") / "demo_ticks.sql").read_text(encoding="utf-8")


def _show(job: Job, answers: Answers, seconds: float, stop: StopSignals) -> None:
    """Show answers for `seconds` from the first one on."""
    console = Console(file=sys.stdout)
    waiting = "five minutes of history are worked off first ..."
    if not console.is_terminal:
        typer.echo(waiting)
    until, told = None, 0.0
    with Live(Text(waiting), console=console, refresh_per_second=4, transient=not console.is_terminal) as live:
        while not stop.asked and (until is None or time.monotonic() < until):
            job.wait(0.25)
            answers.refresh()
            now, figures = time.monotonic(), job.progress()["ticks"]
            if until is None and answers.window_end is not None:
                until = now + seconds
            if console.is_terminal:
                live.update(screen(answers, figures, until and until - now, waiting if until is None else ""))
            elif answers.window_end is not None and now - told > 2:
                told = now
                print(plain_line(answers, figures), flush=True)
        if console.is_terminal:
            live.update(screen(answers, job.progress()["ticks"], None, ""))


def _check(folder: Path) -> None:
    """Compute one window of three queries again, from the files alone."""
    for found in compare(folder):
        window = f"{found.begin:%H:%M:%S} - {found.end:%H:%M:%S}"
        typer.echo(
            f"{found.query}, window {window}: {found.values} values computed again from {found.ticks:,} ticks in the files"
            f" {'match' if found.matches else 'DIFFER'} (largest difference {found.difference:.1e})"
        )
        if not found.matches:
            raise JobError(f"{found.query} is not what its ticks give")


def _folder(out: Path | None) -> Path:
    if out is None:
        return Path(tempfile.mkdtemp(prefix="windrow-demo-"))
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SettingsError(f"--out {out} is not empty: give a new folder")
    out.mkdir(parents=True, exist_ok=True)
    return out
