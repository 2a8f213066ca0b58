"""Which share of a stream's rows the next batch takes, by how far the last one was behind and what halving gains."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.plan.nodes.shed import MOST_HALVINGS
from windrow.schedule.batch_costs import Seen, learnt

WORTH = 2
"""A share is halved where its rows cost at least 1/2 of what does not depend on rows: batches get a fifth shorter."""

NAUGHT = 11
"""It is doubled, whatever the delay, where its rows cost less than 1/11 of that: batches get a tenth longer."""


def next_halvings(halvings: int, delay_us: int, before_us: int | None, above_us: int, seen: Sequence[Seen] = ()) -> int:
    """How often the share of 1 is halved for the next batch; `before_us` is the delay before this one, if known.

    A delay above the limit halves the share, unless it falls already: what has piled up takes its time, and a smaller
    share would only throw away more. It is doubled again where twice the delay would still be below the limit.

    Both only as far as batches get shorter or longer by it, as those that were `seen` tell. A batch has what came
    during the one before: where F of its time is fixed and P is by the rows that it takes, batches come to
    F / (F + P/2) of their length with half the share, and to F / (F - P) with twice. What it takes to read rows is in
    neither.

    >>> next_halvings(0, 11, None, 10), next_halvings(1, 30, 20, 10), next_halvings(2, 25, 30, 10)
    (1, 2, 2)
    >>> next_halvings(2, 8, 25, 10), next_halvings(2, 4, 8, 10), next_halvings(0, 4, 8, 10)
    (2, 1, 0)
    >>> nearly_fixed = [Seen(0, 0, 800, 800, 3100), Seen(1, 1, 800, 400, 3050), Seen(2, 2, 800, 200, 3025)]
    >>> next_halvings(0, 3100, None, 3000, nearly_fixed), next_halvings(2, 3025, 3050, 3000, nearly_fixed)
    (0, 1)
    """
    rows_us, fixed_us = _parts(halvings, seen)
    if halvings and (rows_us == 0 or NAUGHT * rows_us < fixed_us):
        return halvings - 1
    if delay_us > above_us:
        falls = before_us is not None and delay_us < before_us
        gains = rows_us > 0 and WORTH * rows_us >= fixed_us
        return min(halvings + 1, MOST_HALVINGS) if gains and not falls else halvings
    return max(halvings - 1, 0) if 2 * delay_us < above_us else halvings


def _parts(halvings: int, seen: Sequence[Seen]) -> tuple[float, float]:
    """What the rows of a batch cost at a share, and what is fixed, by the last batch that read any."""
    read = next((one.read for one in reversed(seen) if one.read), None)
    if read is None:
        return 1.0, 0.0
    cost = learnt(seen)
    return cost.taken_us * read * 0.5**halvings, cost.fixed_us
