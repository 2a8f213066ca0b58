"""`windrow doctor`: what every executor is like, and whether a job would run there."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from windrow.cli.launch import Launch, read_script
from windrow.cli.mistakes import DIED
from windrow.errors import SettingsError
from windrow.language import parse_script
from windrow.language.variables import with_variables
from windrow.plan.memory import size_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from windrow.spark.doctor.trial_places import Trial

NARROWEST = 100


def examine_cluster(
    script: Path | None,
    checkpoint: str | None,
    launch: Launch,
    remote: str | None,
    variables: Sequence[str],
    patience: float,
) -> None:
    """Examine all executors, print what was found, and end with 1 if a job would not run."""
    text = None if script is None else read_script(script, variables)
    statements = [] if text is None else parse_script(with_variables(text))
    with spark_to_examine(launch, remote) as spark:
        from windrow.spark.doctor.examine import facts
        from windrow.spark.doctor.findings import findings
        from windrow.spark.doctor.trial_places import places_needed, tried_here
        from windrow.spark.doctor.visit import visit_executors
        from windrow.spark.fs_settings import fs_settings

        if text is not None and remote is None:
            _check_script(spark, launch, text)
        needed = places_needed(statements, checkpoint)
        waiting = Console(file=sys.stderr).status("visiting executors")
        with tried_here(needed, fs_settings(spark)) as trials, waiting:
            visits = visit_executors(spark, trials, patience)
        here = facts(())
        found = findings(here, visits.executors, trials, visits.failure)
    console = Console(file=sys.stdout)
    if not console.is_terminal:
        console.width = max(console.width, NARROWEST)
    show(console, here, visits.executors, trials)
    for remark in found.remarks:
        typer.echo(f"remark: {remark}")
    for problem in found.wrong:
        typer.echo(problem)
    count = len(visits.executors)
    if found.wrong:
        typer.echo(f"a job would not run here: {len(found.wrong)} to mend")
        raise typer.Exit(DIED)
    typer.echo(f"all is well on {count} {'executor' if count == 1 else 'executors'}")


@contextmanager
def spark_to_examine(launch: Launch, remote: str | None) -> Iterator[SparkSession]:
    """A Spark on the master, or the one behind a Spark Connect server."""
    from windrow.spark.connect import connected
    from windrow.spark.launch import quiet_spark

    with ExitStack() as stack:
        with Console(file=sys.stderr).status("starting Spark"):
            if remote is None:
                spark = stack.enter_context(quiet_spark(launch.master, launch.options))
            else:
                spark = stack.enter_context(connected(remote, launch.options))
        yield spark


def _check_script(spark: SparkSession, launch: Launch, text: str) -> None:
    """Refuse a script that would not start, as `windrow check` does; a path that is not there is told below."""
    from windrow.application import Application
    from windrow.session import Session

    session = Session(spark, shards=launch.shards, memory=launch.memory_bytes, keep=launch.keep, expiry=launch.expiry)
    Application(session, text)


def show(
    console: Console,
    here: Mapping[str, Any],
    executors: Mapping[str, Mapping[str, Any]],
    trials: Sequence[Trial],
) -> None:
    """The tables: executors, packages that tasks load, places."""
    from windrow.spark.doctor.examine import PACKAGES
    from windrow.spark.doctor.findings import skew_seconds

    if executors:
        table = _table("executor", "host", "Python", "Java", "free disk", "free memory", "numba's cache", "clock")
        for told in executors.values():
            cache, skew = told["numba_cache"], skew_seconds(told["ahead"])
            low, high = told["ahead"]
            kept = f"{cache['loops']} loops" if cache["writable"] else "cannot be written"
            table.add_row(
                told["executor"],
                told["host"],
                told["python"],
                str(told["java"]),
                size_text(told["disk_bytes"]),
                "?" if told["memory_bytes"] is None else size_text(told["memory_bytes"]),
                kept,
                f"{skew:+.1f} s" if skew else f"within {max(-low, high):.1f} s",
            )
        console.print(table)
        table = _table("package", "driver", "executors")
        for package in PACKAGES:
            versions = Counter(told["packages"][package] or "missing" for told in executors.values())
            there = ", ".join(f"{version} ({count})" for version, count in versions.items())
            table.add_row(package, here["packages"][package] or "missing", there)
        console.print(table)
        folders = Counter(told["numba_cache"]["place"] for told in executors.values())
        console.print(f"numba's cache is in {', '.join(folder or 'no folder' for folder in folders)}", soft_wrap=True)
        programs = Counter(told["program"] for told in executors.values())
        console.print(f"executors run {', '.join(programs)}", soft_wrap=True, highlight=False)
    if trials:
        table = _table("place", "of", "is", "driver", "executors")
        for trial in trials:
            good = sum(told["places"].get(trial.address) is None for told in executors.values())
            mine = "yes" if trial.wrong is None else "no"
            theirs = f"{good} of {len(executors)}" if trial.wrong is None else "not tried"
            table.add_row(trial.needed.address, trial.needed.what, trial.needed.use, mine, theirs)
        console.print(table)


def _table(*names: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold")
    return table


def read_where(master: str | None, remote: str | None, default: str) -> str:
    """The master; --master and --remote exclude each other."""
    if master is not None and remote is not None:
        raise SettingsError("--master and --remote are two ways to reach Spark: give one of them")
    if remote is not None and not remote.startswith("sc://"):
        raise SettingsError(f"--remote {remote}: the address of a Spark Connect server begins with sc://")
    return master or default
