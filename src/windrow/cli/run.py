"""Running a script: until its input ends, or until it is stopped."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console

from windrow.cli.figures import line_of
from windrow.cli.launch import Launch, read_script, started
from windrow.cli.view import LiveView, view_for
from windrow.cli.watch import StopSignals, watch
from windrow.errors import SettingsError

AVAILABLE_NOW = "available now"


def run_script(
    path: Path, checkpoint: Path | None, launch: Launch, trigger: str | None, available_now: bool, flush: bool
) -> None:
    """Run the script at `path`, showing how it is doing."""
    if available_now and trigger is not None:
        raise SettingsError("--available-now and --trigger exclude each other")
    if flush and not available_now:
        raise SettingsError("--flush says that the input has ended, and goes with --available-now")
    if checkpoint is not None and checkpoint.exists() and not checkpoint.is_dir():
        raise SettingsError(f"--checkpoint {checkpoint} is not a folder")
    text = read_script(path)
    console = Console(file=sys.stdout)
    with console.status("starting Spark") if console.is_terminal else _nothing():
        from windrow.application import Application
        from windrow.spark.job import as_trigger

        chosen = AVAILABLE_NOW if available_now else trigger
        as_trigger(chosen)
        starting = started(launch)
        session = starting.__enter__()
