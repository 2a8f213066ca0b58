"""Changes, accumulated: what the answer is at every instant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from windrow.operators.changes import Changes

from .plans import shown

Change = tuple[int, int, tuple]


def changes_of(parts: Sequence[Changes]) -> list[Change]:
    """Time, weight and row of every change."""
    found = []
    for part in parts:
        rows = zip(*(column.to_pylist() for column in part.columns))
        found += [(int(t), int(w), shown(row)) for t, w, row in zip(part.times, part.weights, rows)]
    return found


def netted(changes: Sequence[Change]) -> list[Change]:
    """One change for each instant and row."""
    sums: Counter = Counter()
    for time, weight, row in changes:
        sums[time, row] += weight
    found = [(time, weight, row) for (time, row), weight in sums.items() if weight]
    return sorted(found, key=lambda change: (change[0], repr(change)))


def answers_of(changes: Sequence[Change], instants: Sequence[int], *, some: bool = False) -> dict[int, list[tuple]]:
    """The rows that are there at each of `instants`; unless these are only some, every change is at one of them."""
    assert some or {time for time, _, _ in changes} <= set(instants)
    answers, there, done = {}, Counter(), 0
    for instant in instants:
        while done < len(changes) and changes[done][0] <= instant:
            there[changes[done][2]] += changes[done][1]
            done += 1
        assert all(count >= 0 for count in there.values())
        answers[instant] = sorted(there.elements(), key=repr)
    return answers
