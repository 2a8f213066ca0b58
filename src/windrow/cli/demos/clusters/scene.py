"""What is clustered: where the events come from, how far the field goes, and what things are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from windrow.cli.demos.clusters.recording import Recording
from windrow.cli.demos.clusters.roads import CORNERS, HEIGHT, WIDTH
from windrow.cli.demos.clusters.traffic import Traffic
from windrow.cli.demos.live_files import SECOND_US, Events

Line = Sequence[tuple[float, float]]

MORNING_US = 1_717_399_800 * SECOND_US
"""Half past seven on a Monday in June: the clock of the town runs faster than ours, and begins there."""

HISTORY_SECONDS = 15
"""So much of a recording comes first."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One kind of clusters. `pace` is how fast its clock runs, `lines` are drawn below the points, and `fewest` is the
    size from which a cluster is listed."""

    title: str
    script: str
    query: str
    events: Events
    now_us: int
    history_seconds: int
    pace: float
    bounds: tuple[float, float, float, float]
    lines: tuple[Line, ...]
    line_width: int
    size_name: str
    speed_name: str
    slow: float | None
    fewest: int

    @property
    def span(self) -> tuple[float, float]:
        """Width and height of the field."""
        left, bottom, right, top = self.bounds
        return right - left, top - bottom


def town() -> Scene:
    """Cars on the roads of a small town, and where they are held up."""
    return Scene(
        title="congestions of the last 30 seconds",
        script="vehicles.sql",
        query="congestions",
        events=Traffic().reports,
        now_us=MORNING_US,
        history_seconds=120,
        pace=10,
        bounds=(0.0, 0.0, WIDTH, HEIGHT),
        lines=CORNERS,
        line_width=15,
        size_name="cars",
        speed_name="km/h",
        slow=30.0,
        fewest=6,
    )


def recorded(path: Path) -> Scene:
    """Players, whose positions were recorded."""
    recording = Recording(path)
    return Scene(
        title="players who keep together, over 2 seconds",
        script="players.sql",
        query="players",
        events=recording.positions,
        now_us=recording.begin_us + HISTORY_SECONDS * SECOND_US,
        history_seconds=HISTORY_SECONDS,
        pace=2,
        bounds=recording.bounds,
        lines=(_edge(*recording.bounds),),
        line_width=2,
        size_name="readings",
        speed_name="m/s",
        slow=None,
        fewest=10,
    )


def _edge(left: float, bottom: float, right: float, top: float) -> Line:
    return ((left, bottom), (right, bottom), (right, top), (left, top), (left, bottom))
