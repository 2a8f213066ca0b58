"""Demos: a stream that is made up as it goes, a script of queries over it, and their answers as they change."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import typer

from windrow.cli.console import JobConsole
from windrow.cli.demos.clusters.demo import ClustersDemo
from windrow.cli.demos.demo import Demo, Watched
from windrow.cli.demos.show import show
from windrow.cli.demos.ticks.demo import TicksDemo
from windrow.cli.launch import Launch, started
from windrow.cli.mistakes import DIED
from windrow.cli.run import kept
from windrow.cli.watch import StopSignals
from windrow.errors import SettingsError
from windrow.plan.sink import Sink

DEMOS: dict[str, Callable[[Path | None], Demo]] = {TicksDemo.name: TicksDemo, ClustersDemo.name: ClustersDemo}
WRITTEN_AS = "demo-out"
"""The folder in a script as it is written; replaced by the real one."""

MOST = 4
"""So many folders are named at the end."""


def run_demo(name: str, seconds: float, out: Path | None, data: Path | None = None) -> None:
    """Run the demo called `name` for `seconds` after its first answers, and check the last ones."""
    if name not in DEMOS:
        raise SettingsError(f"there is no demo {name!r}; demos: {', '.join(DEMOS)}")
    demo = DEMOS[name](data)
    folder = _folder(out)
    (folder / demo.stream).mkdir()
    script = folder / f"{name}.sql"
    script.write_text(demo.script.replace(WRITTEN_AS, str(folder)))
    typer.echo(f"{demo.headline}, queried by {script}")
    with kept(None) as checkpoint, started(Launch()) as session, demo.live_files(folder / demo.stream):
        from windrow.application import Application

        application = Application(session, script.read_text())
        with StopSignals() as stop:
            job = session.start(checkpoint, application.sinks)
            with suppress(SettingsError):  # without the packages of the console the demo runs all the same
                typer.echo(f"console, while it runs: {JobConsole(session, job, application.texts).open('127.0.0.1')}")
            watched = demo.watched(folder)
            answered = show(demo, job, watched, seconds, stop)
            job.stop()
    if not answered:
        typer.echo("stopped before the first answer")
        return
    conclude(demo, watched)
    typer.echo(f"all answers are in {folder}/{_choice(list(dict.fromkeys(_folders(application.sinks))))}")


def conclude(demo: Demo, watched: Watched) -> None:
    """Leave the keepsake, compute the newest windows again from the files of events alone, and say how that went."""
    watched.refresh()
    keepsake = watched.keepsake()
    if keepsake is not None:
        typer.echo(keepsake)
    typer.echo(f"the newest windows, computed again from the files of {demo.events} by pyarrow:")
    comparisons = watched.compare()
    for found in comparisons:
        typer.echo(found.line(demo.events))
    if not all(found.matches for found in comparisons):
        raise typer.Exit(DIED)


def _folders(sinks: Mapping[str, Sink]) -> Iterator[str]:
    """The folders that queries write to, by name."""
    for name, sink in sinks.items():
        yield Path(sink.path).name if sink.path else name


def _choice(names: list[str]) -> str:
    """A folder's name, or several as a shell understands them; of many the first few.

    >>> _choice(["vwap"]), _choice(["vwap", "top"]), _choice(["a", "b", "c", "d", "e"])
    ('vwap', '{vwap,top}', '{a,b,c} and 2 more')
    """
    if len(names) == 1:
        return names[0]
    few = names if len(names) <= MOST else names[: MOST - 1]
    return f"{{{','.join(few)}}}" + (f" and {len(names) - len(few)} more" if len(few) < len(names) else "")


def _folder(out: Path | None) -> Path:
    if out is None:
        return Path(tempfile.mkdtemp(prefix="windrow-demo-"))
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SettingsError(f"--out {out} is not empty: give a new folder")
    out.mkdir(parents=True, exist_ok=True)
    return out
