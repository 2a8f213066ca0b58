"""COUNT(DISTINCT) and MODE of texts, bytes and decimals that do not fit into memory together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from windrow.kernels.footprint import size_of
from windrow.kernels.value_versions import Changeable, Version

Counts = dict[Any, int]


class SpilledCounts:
    """Tables of counts; of a group that is too large, the values whose hashes have the same rest are counted at a time.

    Which they are differs from process to process, and what all of them come to does not.
    """

    unit = 1

    def size(self, values: Counts | Version[Any]) -> int:
        return size_of(_plain(values))

    def joined(self, parts: list[Counts | Version[Any]]) -> Counts:
        return _added(map(_plain, parts))

    def large(self, parts: Callable[[], Iterator[Counts | Version[Any]]], size: int, most: int) -> LargeCounts:
        return LargeCounts(lambda: map(_plain, parts()), -(-size // most))


class LargeCounts:
    """Counts that come in parts, as often as asked, and are more than fit into memory.

    >>> large = LargeCounts(lambda: iter([{"a": 1, "b": 3}, {"c": 2, "a": 2}]), 2)
    >>> large.distinct, large.mode
    (3, 'a')
    """

    def __init__(self, parts: Callable[[], Iterator[Counts]], tables: int) -> None:
        self._parts, self._count = parts, tables

    @property
    def distinct(self) -> int:
        return sum(map(len, self._tables()))

    @property
    def mode(self) -> object:
        """The smallest of the values that occur most often."""
        found: Counts = {}
        for table in filter(None, self._tables()):
            most = max(*found.values(), *table.values(), 0)
            both = [*found.items(), *table.items()]
            found = {min(value for value, count in both if count == most): most}
        return next(iter(found))

    def _tables(self) -> Iterator[Counts]:
        """Every value once, in one of several tables."""
        for rest in range(self._count):
            some = ({v: n for v, n in part.items() if hash(v) % self._count == rest} for part in self._parts())
            yield _added(some)


def _added(parts: Iterator[Counts]) -> Counts:
    whole: Counts = {}
    for part in parts:
        for value, count in part.items():
            whole[value] = whole.get(value, 0) + count
    return whole


def _plain(values: Counts | Version[Any]) -> Counts:
    if not isinstance(values, Version):
        return values
    table: Changeable = values.index()
    counts: Counts = table.counts  # type: ignore[attr-defined]
    return counts
