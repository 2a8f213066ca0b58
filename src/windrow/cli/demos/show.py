"""A demo's answers for as long as it runs: a picture that changes in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from windrow.cli.demos.demo import Demo, Watched
from windrow.cli.watch import LOOK_SECONDS, StopSignals

if TYPE_CHECKING:
    from windrow.spark.job.job import Job

LINE_SECONDS = 2.0
"""Where there is no screen, a line is printed so often."""

START_SECONDS, SHORTEST_SECONDS = 45, 5
"""Where the first answer takes longer than this, the rest is cut short, but not below that."""


def show(demo: Demo, job: Job, watched: Watched, seconds: float, stop: StopSignals) -> bool:
    """Show answers for `seconds` from the first one on; False if it was stopped before there was any."""
    console = Console(file=sys.stdout)
    live = Live(Text(demo.waiting, style="dim"), console=console, refresh_per_second=4) if console.is_terminal else None
    if live is None:
        typer.echo(demo.waiting)
    began, until, told, line = time.monotonic(), None, 0.0, ""
    with live or nullcontext():
        while not stop.asked and (until is None or time.monotonic() < until):
            job.wait(LOOK_SECONDS)
            answered, now, figures = watched.refresh(), time.monotonic(), job.progress()[demo.stream]
            if not answered:
                continue
            if until is None:
                until = now + max(SHORTEST_SECONDS, min(seconds, began + seconds + START_SECONDS - now))
            if live is not None:
                live.update(watched.screen(figures, [f"{max(0, until - now):.0f} s to go; Ctrl-C ends it now"]))
            elif now - told > LINE_SECONDS and line != (line := watched.line(figures)):
                told = now
                typer.echo(line)
        if live is not None and until is not None:
            live.update(watched.screen(job.progress()[demo.stream], []))
    return until is not None
