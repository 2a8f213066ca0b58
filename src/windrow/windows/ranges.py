"""Many windows over one run of partials, or of entries, folded at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windrow.kernels import Fields, Kernel, identity, take
from windrow.kernels.kernel import OBJECT
from windrow.windows.entries import Entries

SPANS = 1 << 18
"""So many entries are combined by one call: more would only take memory."""


def fold_ranges(
    kernels: Sequence[Kernel], partials: Sequence[Fields], starts: np.ndarray, stops: np.ndarray
) -> list[Fields]:
    """For each kernel the fold of its partials start <= i < stop, for every range.

    All ranges are folded one by one in a single call of the kernel, or, where they overlap so much that this would take
    longer, by doubling.

    >>> from windrow.kernels import kernel_for
    >>> from windrow.plan.nodes.aggregates import Partial
    >>> (sums,) = fold_ranges(
    ...     [kernel_for(Partial("count"))], [{"n": np.array([1, 2, 3, 4])}], np.array([0, 1, 2]), np.array([3, 4, 2])
    ... )
    >>> sums["n"].tolist()
    [6, 9, 0]
    """
    lengths = stops - starts
    rounds = int(lengths.max()).bit_length() if len(lengths) else 0
    apart = int(lengths.sum()) <= rounds * (len(next(iter(partials[0].values()))) + len(lengths))
    folded = []
    for kernel, fields in zip(kernels, partials):
        objects = any(field.dtype == OBJECT for field in kernel.fields)
        folded.append((_one_by_one if apart or objects else _doubling)(kernel, fields, starts, lengths))
    return folded


def fold_spans(
    kernels: Sequence[Kernel],
    entries: Entries,
    starts: np.ndarray,
    stops: np.ndarray,
    windows: np.ndarray,
    width: int,
    into: Sequence[Fields],
) -> None:
    """Fold the entries starts[k] <= i < stops[k] into window `windows[k]` of `into`, for one k after the other.

    Each window has `width` slots there, one window after the other.
    """
    lengths = stops - starts
    passed = np.cumsum(lengths)
    first = 0
    while first < len(starts):
        most = SPANS + (passed[first - 1] if first else 0)
        stop = max(first + 1, int(passed.searchsorted(most, "right")))
        members = _members(starts[first:stop], lengths[first:stop])
        slots = entries.slots[members] + np.repeat(windows[first:stop] * width, lengths[first:stop])
        for kernel, partials, fields in zip(kernels, entries.partials, into):
            kernel.combine(fields, slots, take(partials, members))
        first = stop


def _members(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The numbers from each start on, so many as its length, one after the other.

    >>> _members(np.array([3, 7]), np.array([2, 3])).tolist()
    [3, 4, 7, 8, 9]
    """
    before = np.cumsum(lengths) - lengths
    numbers: np.ndarray = np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
    return numbers


def _one_by_one(kernel: Kernel, fields: Fields, starts: np.ndarray, lengths: np.ndarray) -> Fields:
    into = identity(kernel, len(starts))
    kernel.combine(into, np.repeat(np.arange(len(starts)), lengths), take(fields, _members(starts, lengths)))
    return into


def _doubling(kernel: Kernel, fields: Fields, starts: np.ndarray, lengths: np.ndarray) -> Fields:
    """Fold by the binary digits of each length: partials of 1, 2, 4, ... neighbours, each made of two of the last.

    length 5 from i:  [i] [i + 1 ... i + 4], of the partials of 1 and of 4
    """
    into, position, span = identity(kernel, len(starts)), starts.copy(), 1
    longest = int(lengths.max())
    while True:
        chosen = np.flatnonzero(lengths & span)
        kernel.combine(into, chosen, take(fields, position[chosen]))
        position[chosen] += span
        if 2 * span > longest:
            return into
        count = len(next(iter(fields.values()))) - span
        older = {name: column[:count].copy() for name, column in fields.items()}
        kernel.combine(older, np.arange(count), {name: column[span:] for name, column in fields.items()})
        fields, span = older, 2 * span
