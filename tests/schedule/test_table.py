"""The hash table against a dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from windrow.schedule.slide_groups import SlideGroups
from windrow.schedule.table import EMPTY, discard, find, insert, room_for


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 12), st.integers(0, 3)), max_size=60))
def test_keys_are_found_after_any_insertions_and_removals(keys):
    first, second = (np.array(column, np.int64) for column in zip(*keys)) if keys else (np.empty(0, np.int64),) * 2
    table, known = np.full(room_for(len(keys)), EMPTY, np.int32), {}
    for number, key in enumerate(keys):
        if key in known:
            discard(table, first, second, known.pop(key))
        else:
            insert(table, first, second, number)
            known[key] = number
        for other in keys:
            assert find(table, first, second, *other) == known.get(other, EMPTY)


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30), st.integers(1, 4), st.integers(0, 5)), max_size=80))
def test_groups_hold_the_queries_that_a_dictionary_holds(steps):
    groups, known = SlideGroups(), {}
    for coming, query, slide, offset in steps:
        if coming and query not in known:
            groups.add(query, slide, offset)
            known[query] = slide, offset % slide
        elif not coming and query in known:
            groups.remove(query)
            del known[query]
    held = {}
    for group in range(groups.count):
        if groups.columns.size[group]:
            how = int(groups.columns.slide[group]), int(groups.columns.offset[group])
            due = groups.members_at(np.array([0]), np.array([group]))
            assert how not in {*held.values()}
            assert due.queries.tolist() == sorted(due.queries.tolist())
            held |= dict.fromkeys(due.queries.tolist(), how)
    assert held == known
