"""A colour for each cluster, by its number: the same as long as it lives."""

from __future__ import annotations

COLOURS = (
    "#ff6b6b", "#4dabf7", "#ffd43b", "#69db7c", "#da77f2", "#ffa94d", "#38d9a9", "#f783ac", "#a9e34b", "#9775fa",
    "#3bc9db", "#e8b796", "#5c7cfa", "#e64980", "#e67700", "#37b24d", "#eebefa", "#99e9f2", "#b0a52a",
)  # fmt: skip
"""Told apart on a dark ground, above all from the few before and after."""


def colour_of(number: int) -> str:
    """The colour of the cluster with that number.

    >>> colour_of(3) == colour_of(3), colour_of(3) == colour_of(4)
    (True, False)
    """
    return COLOURS[number % len(COLOURS)]


def mixed(colour: str, ground: str, share: float) -> tuple[int, int, int]:
    """So much of a colour on a ground.

    >>> mixed("#ff0000", "#000000", 0.5)
    (128, 0, 0)
    """
    above, below = (bytes.fromhex(name[1:]) for name in (colour, ground))
    red, green, blue = (round(share * high + (1 - share) * low) for high, low in zip(above, below))
    return red, green, blue
