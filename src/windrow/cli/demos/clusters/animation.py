"""The windows one after another: a moving picture, and its last frame."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from windrow.cli.demos.clusters.answers import Answers
from windrow.cli.demos.clusters.scene import Scene

MOVING, STILL = "clusters.gif", "clusters.png"
FRAMES = 120
"""No more than so many, the last ones."""

FRAME_MS, LAST_MS = 90, 2_000

MISSING = "no picture is drawn: it needs Pillow, which comes with pip install 'windrow[plots]'"


def can_draw() -> bool:
    """Whether there is what pictures are drawn with."""
    return find_spec("PIL") is not None


def draw(scene: Scene, answers: Answers, folder: Path) -> int:
    """Write both pictures into `folder`, and return the number of frames."""
    from PIL import Image

    from windrow.cli.demos.clusters.picture import Picture, palette

    picture = Picture(scene)
    moments = answers.story.moments[-FRAMES:]
    frames = [picture.frame(moment, *answers.points(moment)) for moment in moments]
    frames[-1].save(folder / STILL, optimize=True)
    colours = palette()
    first, *others = (frame.quantize(palette=colours, dither=Image.Dither.NONE) for frame in frames)
    durations = [FRAME_MS] * len(others) + [LAST_MS]
    first.save(folder / MOVING, save_all=True, append_images=others, duration=durations, loop=0)
    return len(frames)
