"""Partials as plain columns: make, grow, clear, pick and join them, whatever the kernel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windrow.kernels.kernel import Fields, Kernel, every


def identity(kernel: Kernel, n: int) -> Fields:
    """`n` empty partials.

    >>> from windrow.kernels.count import Count
    >>> identity(Count(), 2)
    {'n': array([0, 0])}
    """
    return {field.name: field.empty(n) for field in kernel.fields}


def grow(kernel: Kernel, fields: Fields, n: int) -> Fields:
    """The same partials, followed by empty ones until there are `n`.

    >>> from windrow.kernels.count import Count
    >>> grow(Count(), {"n": np.array([7])}, 3)
    {'n': array([7, 0, 0])}
    """
    grown = identity(kernel, n)
    for name, column in fields.items():
        grown[name][: len(column)] = column
    return grown


def reset(kernel: Kernel, fields: Fields, slots: np.ndarray) -> None:
    """Empty the partials in `slots`."""
    for field in kernel.fields:
        fields[field.name][slots] = field.identity


def take(fields: Fields, slots: np.ndarray) -> Fields:
    """The partials in `slots`, in that order, as new columns."""
    return {name: column[slots] for name, column in fields.items()}


def take_in_order(fields: Fields, slots: np.ndarray) -> Fields:
    """The partials in `slots`, which are each different and in order: where they are all, columns are copied whole.

    >>> take_in_order({"n": np.array([7, 8, 9])}, np.array([0, 2]))
    {'n': array([7, 9])}
    """
    return {name: column.copy() if len(slots) == len(column) else column[slots] for name, column in fields.items()}


def doubled(kernel: Kernel, fields: Fields, times: int) -> Fields:
    """The partials of the same rows, each of which had come 2**times times, as new columns.

    >>> from windrow.kernels.count import Count
    >>> doubled(Count(), {"n": np.array([1, 5])}, 3)
    {'n': array([ 8, 40])}
    """
    slots = every(fields)
    fields = take(fields, slots)
    for _ in range(times):
        kernel.combine(fields, slots, take(fields, slots))
    return fields


def concat(parts: Sequence[Fields]) -> Fields:
    """All partials of `parts`, one after the other.

    >>> concat([{"n": np.array([1])}, {"n": np.array([2, 3])}])
    {'n': array([1, 2, 3])}
    """
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
