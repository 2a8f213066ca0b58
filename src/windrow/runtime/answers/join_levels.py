"""AGING, RECURRING and levels that are compared: answers of levels at one instant, put together by what each holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from windrow.clustering import kernel_of
from windrow.kernels import Fields, Kernel, concat, identity, take
from windrow.plan.instants import shown_starts
from windrow.plan.nodes.aggregates import Aggregate, Partial
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.windows.parts import NestedWindow, level_of
from windrow.plan.windows.row_levels import NestedRows
from windrow.runtime.answers.places import Places
from windrow.runtime.answers.windows import Answers
from windrow.runtime.group_slots import GroupSlots
from windrow.storage.blocks import MemoryBlocks
from windrow.windows.aging import Weighed


@dataclass(frozen=True, slots=True)
class _Level:
    """All answers of one level in a batch, in order of `places`, each of which is a slide and a group.

    Slides are told apart by where they end: in time, or, of levels in rows, by the number of the last row (`last`).
    """

    places: np.ndarray
    last: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    until: np.ndarray
    slots: np.ndarray
    partials: dict[Partial, Fields]

    def found(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which of `places` this level answers too, and where."""
        if not len(self.places):
            return np.zeros(len(places), bool), np.zeros(len(places), np.int64)
        where = np.minimum(np.searchsorted(self.places, places), len(self.places) - 1)
        return self.places[where] == places, where


def rows_of_levels(
    query: QueryPlan, answers: Sequence[Answers], groups: GroupSlots, user: dict[str, type]
) -> tuple[list[tuple[pa.RecordBatch, Places]], int]:
    """The rows of a query, made of all that its levels have answered in a batch, and how many overflows there were.

    With the rows of each level comes where they stand among those that they may be compared with.

    With a level all finer ones slide. What level j holds alone is its window less that of level j - 1. So an item
    recurs at level k if it was counted more often in each window up to that of k than in the one before, and a weighted
    sum is that of the partials of each window, out of which those of the finer one have been taken.
    """
    window = query.window
    assert isinstance(window, NestedWindow | NestedRows) and window.levels is not None
    slides = np.unique(np.concatenate([_last(part) for part in answers]))
    levels = [_level(level, query, answers, slides, groups.width) for level in range(len(window.levels))]
    batches, overflows, schema = [], 0, query.answered
    for number, level in enumerate(levels):
        if not len(level.places):
            continue
        columns = [
            shown_starts(level.starts).cast(schema.field(0).type),
            pa.array(level.ends).cast(schema.field(1).type),
        ]
        columns += [pa.array(level.last)] if isinstance(window, NestedRows) else []
        columns += [pa.repeat(pa.scalar(number, pa.int32()), len(level.places)), *groups.keys_of(level.slots)]
        for aggregate in query.aggregates:
            values, missing = _answer(aggregate, levels[: number + 1], window.aging, user)
            overflows += missing
            columns.append(values)
        rows = level.last if isinstance(window, NestedRows) else None
        places = Places.of(level.ends, rows, None, by_row=rows is not None)
        batches.append((pa.record_batch(columns, schema=schema), places))
    return batches, overflows


def _last(answers: Answers) -> np.ndarray:
    return answers.ends if answers.rows is None else answers.rows


def _level(number: int, query: QueryPlan, answers: Sequence[Answers], slides: np.ndarray, width: int) -> _Level:
    window = query.window
    assert isinstance(window, NestedWindow | NestedRows)
    own = [part for part in answers if part.window is not None and level_of(window, part.window) == number]
    if not own:
        empty = np.empty(0, np.int64)
        return _Level(empty, empty, empty, empty, empty, empty, {})
    last, slots = np.concatenate([_last(part) for part in own]), np.concatenate([part.slots for part in own])
    places = np.searchsorted(slides, last) * width + slots
    order = np.argsort(places)
    partials = {
        partial: {name: column[order] for name, column in concat([part.partials[i] for part in own]).items()}
        for i, partial in enumerate(own[0].kept or query.partials)
    }
    starts = np.concatenate([part.starts for part in own if part.starts is not None])
    ends, until = np.concatenate([part.ends for part in own]), np.concatenate([part.until for part in own])
    return _Level(places[order], last[order], starts[order], ends[order], until[order], slots[order], partials)


class RowLevels:
    """What levels in rows have answered in a batch: each has groups of its own, and here they are the same."""

    def __init__(self, query: QueryPlan) -> None:
        self.groups = GroupSlots(query.keys, "levels", MemoryBlocks())
        self.answers: list[Answers] = []

    def add(self, answers: Answers, groups: GroupSlots) -> None:
        """Take in answers of one level, whose `groups` may change soon after."""
        slots = self.groups.slots_of(groups.keys_of(answers.slots), len(answers.slots))
        self.answers.append(replace(answers, slots=slots))


def _answer(
    aggregate: Aggregate, levels: Sequence[_Level], weights: Sequence[float], user: dict[str, type]
) -> tuple[pa.Array, int]:
    """The answer for each row of the last of `levels`."""
    if aggregate.answer == "RECURRING":
        return _recurring(aggregate.partial, levels), 0
    if weights:
        return _weighed(aggregate, levels, weights, user)
    own, kernel = levels[-1], kernel_of(aggregate.partial, user)
    finer = own if aggregate.of_level is None else levels[min(aggregate.of_level, len(levels) - 1)]
    fields = own.partials[aggregate.partial] if finer is own else _inside(kernel, aggregate.partial, own, finer)
    fields = kernel.ended(fields, own.until)
    lowered = kernel.lower(fields, aggregate.answer, aggregate.type)
    return lowered.values, lowered.overflows


def _inside(kernel: Kernel, partial: Partial, own: _Level, finer: _Level) -> Fields:
    """What the `finer` level holds at the slides of `own`, for its groups: with a level all finer ones slide."""
    fields = identity(kernel, len(own.places))
    here, where = finer.found(own.places)
    if here.any():
        kernel.combine(fields, np.flatnonzero(here), take(finer.partials[partial], where[here]))
    return fields


def _recurring(partial: Partial, levels: Sequence[_Level]) -> pa.Array:
    """Where each level counts more than the one below."""
    own = levels[-1]
    below, recurs = np.zeros(len(own.places), np.int64), np.ones(len(own.places), bool)
    for level in levels:
        here, where = level.found(own.places)
        counts = np.zeros(len(own.places), np.int64)
        if here.any():
            counts[here] = level.partials[partial]["n"][where[here]]
        recurs &= counts > below
        below = counts
    return pa.array(recurs)


def _weighed(
    aggregate: Aggregate, levels: Sequence[_Level], weights: Sequence[float], user: dict[str, type]
) -> tuple[pa.Array, int]:
    """The weighted answer for each row of the last of `levels`."""
    rows, partial, kernel = levels[-1].places, aggregate.partial, kernel_of(aggregate.partial, user)
    weighed = Weighed(kernel, len(rows))
    finer: _Level | None = None
    for level, weight in zip(levels, weights):
        here, where = level.found(rows)
        chosen = np.flatnonzero(here)
        if len(chosen):
            weighed.add(chosen, _own(kernel, partial, level, where[chosen], finer), weight, aggregate.answer)
        finer = level
    lowered = weighed.lower(aggregate.answer)
    return lowered.values, lowered.overflows


def _own(kernel: Kernel, partial: Partial, level: _Level, rows: np.ndarray, finer: _Level | None) -> Fields:
    """What `level` holds alone in `rows`: its windows less those of the `finer` level, taken out before anything is
    rounded."""
    own = take(level.partials[partial], rows)
    if finer is not None:
        inside, where = finer.found(level.places[rows])
        if inside.any():
            kernel.remove(own, np.flatnonzero(inside), take(finer.partials[partial], where[inside]))
    return own
