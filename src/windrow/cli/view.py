"""What is seen of a job while it runs: a table that changes in a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Mapping
from types import MappingProxyType, TracebackType
from typing import Any, Protocol, Self, TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from windrow.cli.figures import NONE_YET, ROWS, Figures, line_of, rows_of, shown_name

LOG_SECONDS = 5.0
MOST_QUERIES = 12
"""So many queries have a line on the screen: the busiest. It has other lines to show, too."""


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
        self._stopped: set[str] = set()

    def show(self, streams: Mapping[str, Figures]) -> None:
        for name, why in stopped_in(streams).items():
            if name not in self._stopped:
                self.say(f"query {name} has stopped, the others go on: {why}")
        self._stopped = set(stopped_in(streams))
        if time.monotonic() - self._last < self._every:
            return
        self._last = time.monotonic()
        for stream, figures in streams.items():
            if self._batches.get(stream, 0) != figures["batches"]:
                self._batches[stream] = figures["batches"]
                self.say(line_of(shown_name(stream), figures))

    def say(self, words: str) -> None:
        print(words, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: TracebackType | None) -> None:
        pass


class LiveView:
    """A table at the foot of the terminal; what is printed meanwhile scrolls by above it."""

    def __init__(
        self,
        console: Console,
        sinks: Mapping[str, str] = MappingProxyType({}),
        notice: str = "Ctrl-C stops after the batch under way",
    ) -> None:
        """`sinks` says of each query where its rows go."""
        self._console, self._sinks, self._notice = console, sinks, notice
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
        if not any(figures["batches"] for figures in self._streams.values()):
            waiting = self._streams and all(figures["waiting"] for figures in self._streams.values())
            drawn: list[RenderableType] = [Text("waiting for input" if waiting else "the first batch is under way ...")]
        else:
            drawn = [figures_table(self._streams), Text(), *queries_table(self._streams, self._sinks)]
        return Group(*drawn, Text(self._notice, style="dim")) if self._notice else Group(*drawn)


def figures_table(streams: Mapping[str, Figures]) -> Table:
    """A column a stream, a row a figure."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("stream", style="dim", header_style="dim")
    for stream in streams:
        table.add_column(shown_name(stream), header_style="bold", overflow="fold")
    columns = [rows_of(figures) for figures in streams.values()]
    told = {name for column in columns for name in column}
    for name in (name for name in ROWS if name in told):
        table.add_row(name, *(column.get(name, NONE_YET) for column in columns))
    return table


def queries_table(streams: Mapping[str, Figures], sinks: Mapping[str, str]) -> Iterator[RenderableType]:
    """A line a query: its rows, how many come in a second, and where they go. Of many, the busiest."""
    rows = {name: count for figures in streams.values() for name, count in figures["rows"].items()}
    rates = {name: rate for figures in streams.values() for name, rate in figures["rows_per_second"].items()}
    stopped = stopped_in(streams)
    names = list(dict.fromkeys([*sinks, *rows, *stopped]))
    busiest = set(sorted(names, key=lambda name: -rows.get(name, 0))[:MOST_QUERIES])
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("query", header_style="dim", style="bold", no_wrap=True)
    for title in ("rows", "rows/s"):
        table.add_column(title, header_style="dim", justify="right", no_wrap=True)
    table.add_column("sink", header_style="dim", no_wrap=True)
    for name in names:
        if name in busiest:
            known = (f"{rows[name]:,}", f"{rates.get(name, 0.0):,.0f}") if name in rows else (NONE_YET, NONE_YET)
            table.add_row(_short(name, 22), *known, _short(sinks.get(name, ""), 30))
    yield table
    for name, why in stopped.items():
        yield Text(f"{_short(name, 22)} has stopped: {why}", style="red")
    if len(names) > len(busiest):
        yield Text(f"and {len(names) - len(busiest):,} more queries", style="dim")


def stopped_in(streams: Mapping[str, Figures]) -> dict[str, str]:
    """The queries that have stopped while the others went on, each with why."""
    return {name: why for figures in streams.values() for name, why in figures.get("stopped", {}).items()}


def _short(text: str, most: int) -> str:
    """A text that fits: of a long one its end, which tells it from others."""
    return text if len(text) <= most else f"…{text[1 - most :]}"


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


def view_for(console: Console, sinks: Mapping[str, str]) -> View:
    """The view that suits where the output goes; `sinks` says of each query where its rows go."""
    return LiveView(console, sinks) if console.is_terminal else LogView()
