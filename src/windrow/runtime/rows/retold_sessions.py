"""Sessions that have been told and that late events change: what was told, and what holds instead."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from windrow.runtime.answers.corrections import Correction
from windrow.runtime.answers.windows import ANSWER_ROWS, Answers
from windrow.runtime.rows.open_sessions import Pieces, joined


def retold(was: Pieces, now: Pieces, gap_us: int) -> Iterator[Correction]:
    """What was told of sessions and holds no more, and what holds now, some groups at a time.

    A session that has other bounds is another one: what was told of it is taken back, and the new one is told. One of
    the same bounds has both sides in one row, so that nothing is sent of groups that are as they were.
    """
    was, now = (pieces.part(pieces.partials[0]["n"] > 0) for pieces in (was, now))
    both = joined([was, now])
    order = np.lexsort((both.groups, both.starts, both.lasts))
    columns = [column[order] for column in (both.groups, both.starts, both.lasts)]
    begins = np.logical_or.reduce([np.diff(column, prepend=column[:1] - 1) != 0 for column in columns])
    rows = np.empty(len(both), np.int64)
    rows[order] = np.cumsum(begins) - 1
    count = int(begins.sum())
    older, newer = (np.full(count, -1) for _ in range(2))
    older[rows[: len(was)]], newer[rows[len(was) :]] = np.arange(len(was)), np.arange(len(was), len(both))
    taken_first = np.argsort(newer >= 0, kind="stable")
    older, newer = older[taken_first], newer[taken_first]
    for start in range(0, count, ANSWER_ROWS):
        sides = older[start : start + ANSWER_ROWS], newer[start : start + ANSWER_ROWS]
        told, tell = (side >= 0 for side in sides)
        before, after = (np.where(side >= 0, side, other) for side, other in (sides, sides[::-1]))
        yield Correction(_answers(both.part(before), gap_us), _answers(both.part(after), gap_us), told, tell)


def _answers(pieces: Pieces, gap_us: int) -> Answers:
    return Answers(0, pieces.starts, pieces.lasts + gap_us, pieces.groups, pieces.partials)
