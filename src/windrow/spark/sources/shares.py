"""Which task reads which part of which file: every task is told all names, and comes to the same answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SMALL_BYTES = 4 << 20
"""Files are cut into parts no smaller than this, and to open one counts as much as to read so many bytes."""


@dataclass(frozen=True, slots=True, order=True)
class FilePart:
    """The row groups of the file of some number whose middle lies between two places in it."""

    file: int
    start: int
    end: int


def shares(lengths: Sequence[int], tasks: int) -> list[list[FilePart]]:
    """What each of `tasks` reads of files of these lengths: about as much as the others, in the order of the files.

    A file that is longer than a task's share is cut, so that a single one keeps all of them busy. What is left goes to
    whoever has least, the longest first (Graham, 1969).

    >>> shares([1 << 30], 2)
    [[FilePart(file=0, start=0, end=536870912)], [FilePart(file=0, start=536870912, end=9223372036854775807)]]
    >>> [[part.file for part in share] for share in shares([50, 10, 20, 30], 2)]
    [[0, 1], [2, 3]]
    """
    share = max(SMALL_BYTES, sum(lengths) / tasks)
    parts = [part for file, length in enumerate(lengths) for part in _cut(file, length, round(length / share))]
    weights = {part: min(part.end, lengths[part.file]) - part.start + SMALL_BYTES for part in parts}
    chosen: list[list[FilePart]] = [[] for _ in range(tasks)]
    taken = [0] * tasks
    for part in sorted(parts, key=lambda part: (-weights[part], part)):
        least = taken.index(min(taken))
        chosen[least].append(part)
        taken[least] += weights[part]
    return [sorted(own) for own in chosen]


def _cut(file: int, length: int, count: int) -> list[FilePart]:
    edges = [length * i // max(count, 1) for i in range(max(count, 1))]
    return [FilePart(file, start, end) for start, end in zip(edges, [*edges[1:], (1 << 63) - 1])]
