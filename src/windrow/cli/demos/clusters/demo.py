"""The demo of clusters: congestions of a town, or players on a field, while they come, move and go."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from rich.console import Console, RenderableType

from windrow.cli.demos.check import Comparison
from windrow.cli.demos.clusters.animation import MISSING, MOVING, STILL, can_draw, draw
from windrow.cli.demos.clusters.answers import POSITIONS, Answers
from windrow.cli.demos.clusters.check import compare
from windrow.cli.demos.clusters.scene import Scene, recorded, town
from windrow.cli.demos.clusters.screen import plain_line, screen
from windrow.cli.demos.live_files import LiveFiles
from windrow.cli.figures import Figures, rate


class ClustersDemo:
    """Clusters of positions, which are made up, or recorded in the file `data`."""

    name, stream, events = "clusters", POSITIONS, "positions"
    waiting = "the first windows fill ..."

    def __init__(self, data: Path | None = None) -> None:
        self.scene = town() if data is None else recorded(data)
        self.script = (files(__package__) / self.scene.script).read_text(encoding="utf-8")
        told = "cars in a small town" if data is None else f"the positions of {data}"
        self.headline = f"{told}, by a clock that runs {self.scene.pace:g} times as fast as ours"

    def live_files(self, folder: Path) -> LiveFiles:
        return LiveFiles(self.scene.events, folder, self.scene.history_seconds, self.scene.now_us, self.scene.pace)

    def watched(self, folder: Path) -> WatchedClusters:
        return WatchedClusters(self.scene, folder)


class WatchedClusters:
    """The clusters of the newest window on their field; at the end a moving picture of all windows."""

    def __init__(self, scene: Scene, folder: Path) -> None:
        self._scene, self._folder = scene, folder
        self._answers = Answers(folder, scene.query)

    def refresh(self) -> bool:
        self._answers.refresh()
        return bool(self._answers.story.moments)

    def screen(self, figures: Figures, notes: Sequence[str]) -> RenderableType:
        moment = self._answers.story.moments[-1]
        progress = f"{figures['events']:,} positions  {rate(figures)}  {figures['windows']:,} windows"
        return screen(self._scene, moment, *self._answers.points(moment), [progress, *notes])

    def line(self, figures: Figures) -> str:
        return plain_line(self._scene, self._answers.story.moments[-1])

    def compare(self) -> list[Comparison]:
        return compare(self._folder, self._scene.query, self._scene.slow)

    def keepsake(self) -> str:
        """Draws the pictures."""
        if not can_draw():
            return MISSING
        with Console(file=sys.stderr).status("drawing"):
            count = draw(self._scene, self._answers, self._folder)
        return f"the last {count} windows as a moving picture: {self._folder / MOVING}, the last one: {STILL}"
