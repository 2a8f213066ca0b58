"""The demo of ticks: a market of 100 stocks, and 24 queries, most of them answered every second."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from rich.console import RenderableType

from windrow.cli.demos.check import Comparison
from windrow.cli.demos.live_files import LiveFiles
from windrow.cli.demos.ticks.answers import Answers
from windrow.cli.demos.ticks.check import compare
from windrow.cli.demos.ticks.market import Market
from windrow.cli.demos.ticks.screen import plain_line, screen
from windrow.cli.figures import Figures
from windrow.errors import SettingsError

RATE = 5_000
HISTORY_SECONDS = 300
"""So that the longest window is full when the demo begins."""


class TicksDemo:
    """A market that is made up as it goes."""

    name, stream, events = "ticks", "ticks", "ticks"
    headline = f"{RATE:,} ticks a second of 100 stocks, 24 queries"
    waiting = "five minutes of history come first ..."

    def __init__(self, data: Path | None = None) -> None:
        if data is not None:
            raise SettingsError("--data gives positions, which windrow demo clusters shows")
        self.script = ticks_script()

    def live_files(self, folder: Path) -> LiveFiles:
        market = Market(RATE)
        market.write_stocks(beside=folder)
        return LiveFiles(market.ticks, folder, HISTORY_SECONDS)

    def watched(self, folder: Path) -> WatchedTicks:
        return WatchedTicks(folder)


class WatchedTicks:
    """Prices, movers and the market."""

    def __init__(self, folder: Path) -> None:
        self._answers = Answers(folder)

    def refresh(self) -> bool:
        self._answers.refresh()
        return self._answers.window_end is not None

    def screen(self, figures: Figures, notes: Sequence[str]) -> RenderableType:
        return screen(self._answers, figures, notes)

    def line(self, figures: Figures) -> str:
        return plain_line(self._answers, figures)

    def compare(self) -> list[Comparison]:
        return compare(self._answers.folder)

    def keepsake(self) -> None:
        return None


def ticks_script() -> str:
    """The queries, as they come with the package."""
    return (files(__package__) / "ticks.sql").read_text(encoding="utf-8")
