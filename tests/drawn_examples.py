"""How many random examples a property is tried with: in every run some, and all where they are asked for."""

from __future__ import annotations

from hypothesis import settings

FEWEST = 2


def examples(wanted: int) -> int:
    """`wanted` of them where the profile has Hypothesis draw a hundred, and fewer where it has it draw fewer."""
    return min(wanted, max(FEWEST, round(wanted * settings.default.max_examples / 100)))
