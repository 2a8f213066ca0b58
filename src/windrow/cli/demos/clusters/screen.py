"""What is seen of the clusters in a terminal: the field, and a list beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from windrow.cli.demos.clusters.braille import Canvas
from windrow.cli.demos.clusters.colours import colour_of
from windrow.cli.demos.clusters.moments import Cluster, Moment
from windrow.cli.demos.clusters.scene import Scene

COLUMNS, LISTED = 48, 12
"""Characters across the field, and clusters in the list: all fits into 80 columns and 20 lines."""


def screen(scene: Scene, moment: Moment, x: np.ndarray, y: np.ndarray, notes: Sequence[str]) -> RenderableType:
    """A window with the points at x and y, and `notes` below it."""
    side = Table.grid(padding=(0, 2, 0, 0))
    side.add_row(field(scene, moment, x, y), _list(scene, moment))
    return Group(
        Text.assemble(("windrow demo clusters", "bold"), f"   {scene.title}, at {_clock(moment)}"),
        side,
        *(Text(note, style="dim") for note in notes),
    )


def field(scene: Scene, moment: Moment, x: np.ndarray, y: np.ndarray) -> Text:
    """The points, those of a cluster in its colour, and the numbers of the clusters."""
    width, height = scene.span
    canvas = Canvas(COLUMNS, max(6, min(16, round(COLUMNS / 2 * height / width))), scene.bounds)
    owners = moment.owners(x, y)
    canvas.dots(x[owners < 0], y[owners < 0], "bright_black")
    for cluster in reversed(moment.clusters):
        own = owners == cluster.number
        canvas.dots(x[own], y[own], colour_of(cluster.number))
    for cluster in reversed(listed(scene, moment)):
        canvas.label(cluster.x, cluster.y, f" {cluster.number} ", f"bold black on {colour_of(cluster.number)}")
    return canvas.drawn()


def plain_line(scene: Scene, moment: Moment) -> str:
    """The same in a line, for a log."""
    told = [
        f"#{cluster.number} {cluster.size} {scene.size_name} {cluster.speed:.0f} {scene.speed_name}"
        f" at ({cluster.x:.0f}, {cluster.y:.0f})"
        for cluster in listed(scene, moment)
    ]
    return f"{_clock(moment)}  {len(moment.clusters)} clusters: {', '.join(told[:4])}{', ...' if told[4:] else ''}"


def listed(scene: Scene, moment: Moment) -> list[Cluster]:
    """The clusters that are large enough to be spoken of, the largest first."""
    return [cluster for cluster in moment.clusters if cluster.size >= scene.fewest]


def age(cluster: Cluster) -> str:
    """Minutes and seconds since a cluster was first seen."""
    minutes, seconds = divmod(int(cluster.age_seconds), 60)
    return f"{minutes}:{seconds:02d}"


def by_number(clusters: list[Cluster], most: int) -> list[Cluster]:
    """The largest ones in the order of their numbers: what stays, stays where it is."""
    return sorted(clusters[:most], key=lambda cluster: cluster.number)


def _list(scene: Scene, moment: Moment) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for name in ("cid", scene.size_name, "radius", scene.speed_name, "age"):
        table.add_column(name, justify="right", no_wrap=True)
    for cluster in by_number(listed(scene, moment), LISTED):
        number = Text(f" {cluster.number} ", style=f"bold black on {colour_of(cluster.number)}")
        table.add_row(number, f"{cluster.size:,}", f"{cluster.radius:.0f} m", f"{cluster.speed:.0f}", age(cluster))
    return table


def _clock(moment: Moment) -> str:
    return f"{moment.end:%H:%M:%S}"
