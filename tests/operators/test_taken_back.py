"""A join whose sides come at once gives what it gives change by change, also where rows go again in the same batch."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.operators.changes import NEVER, Changes, joined
from windrow.operators.join import JoinRows
from windrow.operators.net import net
from windrow.plan.nodes.changes import Column, Scan
from windrow.plan.nodes.joins import Join
from windrow.storage.blocks import MemoryBlocks

INT = pa.int64()
JOIN = Join(
    Scan("a", (Column("k", INT), Column("x", INT)), None),
    Scan("b", (Column("j", INT), Column("y", INT)), None),
    on=(("k", "j"),),
)

Row = tuple[int, int, int, int, int]
"""Its key, its value, when it comes, how long it stays, and until when it is there anyway; 99 is for ever."""
ROWS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 9), st.integers(0, 4), st.sampled_from([3, 9, 99])),
    max_size=6,
)


def changes_of(rows: list[Row]) -> Changes:
    """The rows as they come and, if they stay less than 4, go, in order of time."""
    drawn = []
    for key, value, time, stays, until in rows:
        ends = NEVER if until == 99 else time + until
        drawn.append((time, time, ends, 1, key, value))
        if stays < 4 and time + stays < ends:
            drawn.append((time + stays, time, ends, -1, key, value))
    drawn.sort(key=lambda change: change[0])
    times, since, until, weights, keys, values = (
        np.array([change[place] for change in drawn], np.int64) for place in range(6)
    )
    return Changes(times, since, until, weights, (pa.array(keys), pa.array(values)))


def there(changes: Changes) -> list[list[tuple]]:
    """The pairs that are there at each instant, and since when, as sums of weights."""
    columns = [*(column.to_pylist() for column in changes.columns), changes.since.tolist()]
    found = []
    for instant in range(25):
        sums: dict[tuple, int] = {}
        for place, row in enumerate(zip(*columns)):
            if changes.times[place] <= instant < changes.until[place]:
                sums[row] = sums.get(row, 0) + int(changes.weights[place])
        found.append(sorted((row, weight) for row, weight in sums.items() if weight))
    return found


def pairs(left: Changes, right: Changes) -> list[list[tuple]]:
    """The pairs at each instant, from those of all rows that have come and gone by then."""
    found = []
    for instant in range(25):
        sums: dict[tuple, int] = {}
        sides = [
            [
                (tuple(c[place].as_py() for c in side.columns), int(side.since[place]), int(side.weights[place]))
                for place in range(len(side))
                if side.times[place] <= instant < side.until[place]
            ]
            for side in (left, right)
        ]
        for (mine, begun, often), (theirs, since, weight) in ((one, other) for one in sides[0] for other in sides[1]):
            if mine[0] == theirs[0]:
                pair = (*mine, *theirs, min(begun, since))
                sums[pair] = sums.get(pair, 0) + often * weight
        found.append(sorted((row, weight) for row, weight in sums.items() if weight))
    return found


@settings(max_examples=examples(300), deadline=None)
@given(ROWS, ROWS, st.integers(0, 12))
@example([(0, 0, 1, 2, 99)], [(0, 0, 0, 3, 99)], 12)  # both go at the same instant
@example([(0, 0, 5, 4, 99)], [(0, 0, 0, 3, 99), (0, 0, 1, 4, 99)], 12)  # equal rows, of which the older one goes
def test_a_batch_joined_at_once_has_the_pairs_of_each_instant(mine, theirs, cut):
    left, right = changes_of(mine), changes_of(theirs)
    operator = JoinRows(JOIN, lambda text, rows: None, "join", MemoryBlocks())
    parts = []
    for low, high in ((-1, cut), (cut, 99)):
        inputs = [side.keep((side.times > low) & (side.times <= high)) for side in (left, right)]
        parts.append(operator.process(inputs, high))
    assert there(joined(parts)) == pairs(left, right)


def test_what_a_group_has_been_meanwhile_is_not_put_beside_later_events():
    """Of ten rows of a group, each in place of the one before, an event after them meets the last."""
    group = changes_of([(0, value, value, 1, 99) for value in range(9)] + [(0, 9, 9, 4, 99)])
    event = changes_of([(0, 7, 9, 4, 3)])
    operator = JoinRows(JOIN, lambda text, rows: None, "join", MemoryBlocks())
    found = operator.process([event, group], 30)
    assert len(found) == 1 and len(net(found, [INT] * 4)) == 1
    assert found.columns[3].to_pylist() == [9]
