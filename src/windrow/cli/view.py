"""What is seen of a job while it runs: a table that changes in a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Protocol, Self, TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from windrow.cli.figures import Figures, line_of, rows_of

LOG_SECONDS = 5.0


class View(Protocol):
    """Shows the figures of a job's streams, and what there is to say in between."""

    def show(self, streams: Mapping[str, Figures]) -> None: ...
    def say(self, words: str) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, kind: object, error: object, trace: TracebackType | None) -> None: ...


class LogView:
    """A line a stream every few seconds, if it has come further since the last one."""

    def __init__(self, every: float = LOG_SECONDS) -> None:
        self._every, self._last = every, time.monotonic()
        self._batches: dict[str, int] = {}

    def show(self, streams: Mapping[str, Figures]) -> None:
        if time.monotonic() - self._last < self._every:
            return
        self._last = time.monotonic()
        for stream, figures in streams.items():
            if self._batches.get(stream, 0) != figures["batches"]:
                self._batches[stream] = figures["batches"]
                self.say(line_of(stream, figures))

    def say(self, words: str) -> None:
        print(words, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: TracebackType | None) -> None:
        pass


class LiveView:
    """A table at the foot of the terminal; what is printed meanwhile scrolls by above it."""

    def __init__(self, console: Console, notice: str = "Ctrl-C stops after the batch under way") -> None:
        self._console, self._notice = console, notice
        self._streams: Mapping[str, Figures] = {}
        self._live = Live(
            self._drawn(), console=console, refresh_per_second=4, redirect_stdout=False, redirect_stderr=False
        )

    def show(self, streams: Mapping[str, Figures]) -> None:
        self._streams = streams
        self._live.update(self._drawn())

    def say(self, words: str) -> None:
        self._notice = words
        self._live.update(self._drawn(), refresh=True)

    def __enter__(self) -> Self:
        self._plain = sys.stdout, sys.stderr
        self._live.start()
        sys.stdout, sys.stderr = (_Above(self._console, stream) for stream in self._plain)
        return self

    def __exit__(self, kind: object, error: object, trace: TracebackType | None) -> None:
        sys.stdout, sys.stderr = self._plain
        self._notice = ""
        self._live.update(self._drawn())
        self._live.stop()

    def _drawn(self) -> RenderableType:
        begun = any(figures["batches"] for figures in self._streams.values())
        drawn = figures_table(self._streams) if begun else Text("the first batch is under way ...")
        return Group(drawn, Text(self._notice, style="dim")) if self._notice else drawn


def figures_table(streams: Mapping[str, Figures]) -> Table:
    """A column a stream, a row a figure."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("stream", style="dim", header_style="dim")
    for stream in streams:
        table.add_column(stream, header_style="bold", overflow="fold")
    columns = [rows_of(figures) for figures in streams.values()]
    for name in columns[0]:
        table.add_row(name, *(column[name] for column in columns))
    return table


class _Above:
    """A stream whose whole lines are printed above the live table: a table of results keeps its lines as they are."""

    def __init__(self, console: Console, stream: TextIO) -> None:
        self._console, self._stream, self._rest, self._lock = console, stream, "", threading.Lock()

    def write(self, text: str) -> int:
        with self._lock:
            *lines, self._rest = (self._rest + text).split("\n")
        if lines:
            self._console.print("\n".join(lines), markup=False, highlight=False, emoji=False, soft_wrap=True)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def view_for(console: Console) -> View:
    """The view that suits where the output goes."""
    return LiveView(console) if console.is_terminal else LogView()
