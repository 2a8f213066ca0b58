"""Load shedding: which rows of a stream are left out, and for how many a row that is taken stands."""

from __future__ import annotations

from dataclasses import dataclass

SAMPLED = "sampled"
"""The column of results that says which share of the rows was taken."""

MOST_HALVINGS = 10
"""At least one row of 1,024 is taken, whatever the delay."""


@dataclass(frozen=True, slots=True)
class Shed:
    """Rows may be left out where the delay is above `above_us`; `by` is the hash of a row, a text of an expression.

    A share is 1, 1/2, 1/4, ...: then a row that is taken stands for a whole number of rows, and counts and sums of
    whole numbers stay whole. A row that is taken at some share is taken at every larger one.
    """

    above_us: int
    by: str


def halvings_of(share: float) -> int | None:
    """How often 1 is halved to become `share`; None if it is none that can be taken.

    >>> halvings_of(1), halvings_of(0.25), halvings_of(0.3), halvings_of(0)
    (0, 2, None, None)
    """
    for halvings in range(MOST_HALVINGS + 1):
        if share == 0.5**halvings:
            return halvings
    return None
