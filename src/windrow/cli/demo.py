"""The demo: a market that is made up as it goes, a script of queries over it, and their answers as they change."""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import nullcontext
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from windrow.cli.demo_answers import Answers
from windrow.cli.demo_check import compare
from windrow.cli.demo_screen import plain_line, screen
from windrow.cli.demo_ticks import Market, TickWriter
from windrow.cli.launch import Launch, started
from windrow.cli.mistakes import DIED
from windrow.cli.watch import StopSignals
from windrow.errors import SettingsError

if TYPE_CHECKING:
    from windrow.spark.job import Job

DEMOS = {"ticks": "100 stocks, four queries, each answered every second"}
WRITTEN_AS = "demo-out"
"""The folder in the script as it is written; replaced by the real one."""

WAITING = "five minutes of history come first ..."
LINE_SECONDS = 2.0
"""Where there is no screen, a line is printed so often."""

RATE = 5_000
START_SECONDS, SHORTEST_SECONDS = 45, 5
"""Where the first answer takes longer than this, the rest is cut short, but not below that."""

HISTORY_SECONDS = 300
"""So that the longest window is full when the demo begins."""


def run_demo(name: str, seconds: float, out: Path | None) -> None:
    """Run the demo called `name` for `seconds` after its first answers, and check the last ones."""
    if name not in DEMOS:
        raise SettingsError(f"there is no demo {name!r}; demos: {', '.join(DEMOS)}")
    folder = _folder(out)
    (folder / "ticks").mkdir()
    script = folder / "ticks.sql"
    script.write_text(demo_script().replace(WRITTEN_AS, str(folder)))
    typer.echo(f"{RATE:,} ticks a second of 100 stocks, queried by {script}")
    with TickWriter(Market(RATE), folder / "ticks", HISTORY_SECONDS), started(Launch()) as session:
        from windrow.application import Application

        application = Application(session, script.read_text())
        with StopSignals() as stop, tempfile.TemporaryDirectory(prefix="windrow-", ignore_cleanup_errors=True) as kept:
            job = session.start(kept, application.sinks)
            answered = _show(job, Answers(folder), seconds, stop)
            job.stop()
    if answered:
        _check(folder)
        typer.echo(f"all answers are in {folder}/{{{','.join(application.sinks)}}}")


def demo_script() -> str:
    """The demo's queries, as they come with the package."""
    return (files("windrow.cli") / "demo_ticks.sql").read_text(encoding="utf-8")


def _show(job: Job, answers: Answers, seconds: float, stop: StopSignals) -> bool:
    """Show answers for `seconds` from the first one on; False if it was stopped before there was any."""
    console = Console(file=sys.stdout)
    live = Live(Text(WAITING), console=console, refresh_per_second=4) if console.is_terminal else None
    if live is None:
        typer.echo(WAITING)
    began, until, told = time.monotonic(), None, 0.0
    with live or nullcontext():
        while not stop.asked and (until is None or time.monotonic() < until):
            job.wait(0.25)
            answers.refresh()
            now, figures = time.monotonic(), job.progress()["ticks"]
            if until is None and answers.window_end is not None:
                until = now + max(SHORTEST_SECONDS, min(seconds, began + seconds + START_SECONDS - now))
            if live is not None:
                live.update(screen(answers, figures, until and until - now, WAITING))
            elif until is not None and now - told > LINE_SECONDS:
                told = now
                typer.echo(plain_line(answers, figures))
        if live is not None:
            live.update(screen(answers, job.progress()["ticks"], None, WAITING))
    return until is not None


def _check(folder: Path) -> None:
    """Compute the newest windows again, from the files of ticks alone."""
    typer.echo("the newest windows, computed again from the files of ticks by pyarrow:")
    comparisons = compare(folder)
    for found in comparisons:
        verdict = "match" if found.matches else "DIFFER"
        typer.echo(
            f"  {found.query:<10}  {found.begin:%H:%M:%S} - {found.end:%H:%M:%S}  {found.values} values of"
            f" {found.ticks:,} ticks {verdict}, to {found.difference:.0e}"
        )
    if not all(found.matches for found in comparisons):
        raise typer.Exit(DIED)


def _folder(out: Path | None) -> Path:
    if out is None:
        return Path(tempfile.mkdtemp(prefix="windrow-demo-"))
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SettingsError(f"--out {out} is not empty: give a new folder")
    out.mkdir(parents=True, exist_ok=True)
    return out
