"""A window as a picture: its points, its clusters in their colours, and the ways that these have come."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from windrow.cli.demos.clusters.colours import COLOURS, colour_of, mixed
from windrow.cli.demos.clusters.moments import TRAIL, Cluster, Moment
from windrow.cli.demos.clusters.scene import Scene
from windrow.cli.demos.clusters.screen import age, by_number, listed

GROUND, ROAD, FAINT, POINT, INK = "#0f141b", "#1d2630", "#6b7785", "#4a5663", "#e9eef3"
FIELD, PANEL, MARGIN, HEAD = 720, 236, 20, 52
"""Pixels: the field's width, the list beside it, the border, and the room above."""

AREA, SMALL_AREA, EDGE = 0.38, 0.2, 0.85
"""How much of its colour a cluster has, where it is large or small, and on its circle."""

FINER = 2
"""Drawn so many times as large, and then made smaller: lines come out smooth."""


@dataclass(frozen=True, slots=True)
class Picture:
    """Draws windows of a scene, all of one size."""

    scene: Scene

    @property
    def size(self) -> tuple[int, int]:
        width, height = self.scene.span
        return FIELD + PANEL + 3 * MARGIN, HEAD + round(FIELD * height / width) + MARGIN

    def frame(self, moment: Moment, x: np.ndarray, y: np.ndarray) -> Image.Image:
        """The picture of a window with the points at x and y."""
        whole = Image.new("RGB", (self.size[0] * FINER, self.size[1] * FINER), GROUND)
        draw = ImageDraw.Draw(whole)
        for line in self.scene.lines:
            draw.line(
                [self._at(*corner) for corner in line], fill=ROAD, width=self.scene.line_width * FINER, joint="curve"
            )
        for cluster in reversed(moment.clusters):
            self._area(draw, cluster)
        self._points(draw, moment, x, y)
        self._trails(draw, moment)
        for cluster in reversed(moment.clusters):
            if cluster.size >= self.scene.fewest:
                self._number(draw, *self._at(cluster.x, cluster.y), cluster.number)
        self._head(draw, moment, len(x))
        self._list(draw, moment)
        return whole.resize(self.size, Image.Resampling.BOX)

    def _at(self, x: float, y: float) -> tuple[float, float]:
        left, _, right, top = self.scene.bounds
        scale = FIELD * FINER / (right - left)
        return MARGIN * FINER + (x - left) * scale, HEAD * FINER + (top - y) * scale

    def _area(self, draw: ImageDraw.ImageDraw, cluster: Cluster) -> None:
        """The hull, with some room around the points, and the circle of the radius."""
        large = cluster.size >= self.scene.fewest
        colour = colour_of(cluster.number)
        corners = [self._at(*corner) for corner in cluster.hull]
        fill = mixed(colour, GROUND, AREA if large else SMALL_AREA)
        if len(corners) > 2:
            draw.polygon(corners, fill=fill)
        draw.line([*corners, corners[0], corners[0]], fill=fill, width=18 * FINER, joint="curve")
        for corner in corners:
            draw.circle(corner, 9 * FINER, fill=fill)
        if large:
            radius = cluster.radius * FIELD * FINER / self.scene.span[0]
            draw.circle(self._at(cluster.x, cluster.y), radius, outline=mixed(colour, GROUND, EDGE), width=FINER)

    def _points(self, draw: ImageDraw.ImageDraw, moment: Moment, x: np.ndarray, y: np.ndarray) -> None:
        for px, py, owner in zip(x.tolist(), y.tolist(), moment.owners(x, y).tolist()):
            place = self._at(px, py)
            draw.circle(place, (2.0 if owner >= 0 else 1.4) * FINER, fill=POINT if owner < 0 else colour_of(owner))

    def _trails(self, draw: ImageDraw.ImageDraw, moment: Moment) -> None:
        """The ways of the centres, fainter the longer ago; of a cluster that is gone, in its colour."""
        here = {cluster.number for cluster in moment.clusters}
        for number, steps in moment.trails.items():
            colour = INK if number in here else colour_of(number)
            shown = [step for step in steps if step.size >= self.scene.fewest]
            for before, after in pairwise(shown):
                share = 1 - (moment.number - after.window) / TRAIL
                pair = [self._at(before.x, before.y), self._at(after.x, after.y)]
                draw.line(pair, fill=mixed(colour, GROUND, 0.15 + 0.75 * share), width=2 * FINER)

    def _number(self, draw: ImageDraw.ImageDraw, x: float, y: float, number: int) -> None:
        text = str(number)
        wide, high = (11 + 3.5 * (len(text) - 1)) * FINER, 11 * FINER
        box = (x - wide, y - high, x + wide, y + high)
        draw.rounded_rectangle(box, high, fill=colour_of(number), outline=GROUND, width=2 * FINER)
        draw.text((x, y), text, fill=GROUND, font=_font(13), anchor="mm", stroke_width=0.4 * FINER, stroke_fill=GROUND)

    def _head(self, draw: ImageDraw.ImageDraw, moment: Moment, points: int) -> None:
        place = (MARGIN * FINER, HEAD * FINER / 2)
        draw.text(place, self.scene.title, fill=INK, font=_font(17), anchor="lm")
        counted = f"{points:,} points   {len(listed(self.scene, moment))} clusters"
        draw.text(((MARGIN + FIELD) * FINER, place[1]), counted, fill=FAINT, font=_font(13), anchor="rm")
        clock = f"{moment.end:%H:%M:%S}"
        draw.text(((2 * MARGIN + FIELD + PANEL) * FINER, place[1]), clock, fill=INK, font=_font(17), anchor="rm")

    def _list(self, draw: ImageDraw.ImageDraw, moment: Moment) -> None:
        """The clusters in the order of their numbers: what stays, stays where it is."""
        scene, left = self.scene, (2 * MARGIN + FIELD) * FINER
        ends = [left + place * FINER for place in (86, 134, 188, PANEL)]
        top = (HEAD + 8) * FINER
        for end, name in zip(ends, (scene.size_name, "radius", scene.speed_name, "age")):
            draw.text((end, top), name, fill=FAINT, font=_font(12), anchor="rm")
        rows = (self.size[1] - HEAD - MARGIN) // 30 - 1
        for place, cluster in enumerate(by_number(listed(scene, moment), rows), 1):
            line = top + place * 30 * FINER
            self._number(draw, left + 16 * FINER, line, cluster.number)
            texts = (f"{cluster.size:,}", f"{cluster.radius:.0f} m", f"{cluster.speed:.0f}", age(cluster))
            for end, text in zip(ends, texts):
                draw.text((end, line), text, fill=INK, font=_font(14), anchor="rm")


def palette() -> Image.Image:
    """The colours that frames are made of, where these can be but 256: one for all, or the ground would flicker."""
    colours = [mixed(INK, GROUND, share / 40) for share in range(41)]
    colours += [mixed(name, GROUND, 1) for name in (ROAD, FAINT, POINT)]
    colours += [mixed(ink, GROUND, share) for ink in COLOURS for share in (SMALL_AREA, AREA, 0.6, EDGE, 1)]
    known = Image.new("P", (1, 1))
    known.putpalette([part for colour in colours for part in colour])
    return known


@cache
def _font(points: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(points * FINER)
