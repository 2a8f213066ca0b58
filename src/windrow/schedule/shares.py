"""Which share of a stream's rows the next batch takes, by how far the last one was behind."""

from __future__ import annotations

from windrow.plan.nodes.shed import MOST_HALVINGS


def next_halvings(halvings: int, delay_us: int, before_us: int | None, above_us: int) -> int:
    """How often the share of 1 is halved for the next batch; `before_us` is the delay before this one, if known.

    A delay above the limit halves the share, unless it falls already: what has piled up takes its time, and a smaller
    share would only throw away more. It is doubled again where twice the delay would still be below the limit.

    >>> next_halvings(0, 11, None, 10), next_halvings(1, 30, 20, 10), next_halvings(2, 25, 30, 10)
    (1, 2, 2)
    >>> next_halvings(2, 8, 25, 10), next_halvings(2, 4, 8, 10), next_halvings(0, 4, 8, 10)
    (2, 1, 0)
    """
    if delay_us > above_us:
        falls = before_us is not None and delay_us < before_us
        return halvings if falls else min(halvings + 1, MOST_HALVINGS)
    return max(halvings - 1, 0) if 2 * delay_us < above_us else halvings
