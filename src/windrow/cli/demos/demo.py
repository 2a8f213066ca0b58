"""What a demo has to have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from rich.console import RenderableType

from windrow.cli.demos.check import Comparison
from windrow.cli.demos.live_files import LiveFiles
from windrow.cli.figures import Figures


class Watched(Protocol):
    """The answers of a demo that runs, as they are read back from its folder."""

    def refresh(self) -> bool:
        """Read what has come since; whether there is any answer."""
        ...

    def screen(self, figures: Figures, notes: Sequence[str]) -> RenderableType:
        """What is shown in a terminal from the first answer on, in no more than 80 columns and 20 lines."""
        ...

    def line(self, figures: Figures) -> str:
        """The same in a line, for a log."""
        ...

    def compare(self) -> list[Comparison]:
        """The newest windows, computed again without Windrow from the files of events."""
        ...

    def keepsake(self) -> str | None:
        """Whatever else is left in the folder at the end, and what is said of it."""
        ...


class Demo(Protocol):
    """A stream that is written as it happens, and a script of queries over it."""

    name: str
    stream: str
    """The stream of the script, which is also the folder of its files."""

    events: str
    """What the events are called, all of them."""

    headline: str
    waiting: str
    """What is said until the first answer."""

    script: str

    def live_files(self, folder: Path) -> LiveFiles: ...

    def watched(self, folder: Path) -> Watched: ...
