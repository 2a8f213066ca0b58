"""A colour for each cluster, by its number: the same as long as it lives."""

from __future__ import annotations

from colorsys import hls_to_rgb

GOLDEN = 0.6180339887
"""Hues that are so far apart, around the circle, keep away from each other, however many there are."""

TONES = ((0.66, 0.80), (0.80, 0.90), (0.56, 0.65))
"""Lightness and saturation, in turn."""


def colour_of(number: int) -> str:
    """The colour of the cluster with that number, for a dark ground.

    >>> colour_of(3) == colour_of(3), len({colour_of(number) for number in range(50)})
    (True, 50)
    """
    lightness, saturation = TONES[number % len(TONES)]
    parts = hls_to_rgb((0.12 + number * GOLDEN) % 1.0, lightness, saturation)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def mixed(colour: str, ground: str, share: float) -> tuple[int, int, int]:
    """So much of a colour on a ground.

    >>> mixed("#ff0000", "#000000", 0.5)
    (128, 0, 0)
    """
    above, below = (bytes.fromhex(name[1:]) for name in (colour, ground))
    red, green, blue = (round(share * high + (1 - share) * low) for high, low in zip(above, below))
    return red, green, blue
