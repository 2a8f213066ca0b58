"""GROUPING SETS: the key by which groups of one grouping are told from those of another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from windrow.plan.nodes.spaces import Key


@dataclass(frozen=True, slots=True)
class GroupingSets(Key):
    """The last of the keys of a query with several groupings: the number of the grouping that a group is of.

    Each of `sets` has the places of the keys that it groups by; the others are NULL in its groups. No row expression
    stands behind this key: map tasks make its values when they fold entries into those of each grouping.
    """

    sets: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def of(cls, sets: Iterable[tuple[int, ...]]) -> GroupingSets:
        """The key for these groupings.

        >>> GroupingSets.of([(0, 1), (0,), ()]).sql
        'GROUPING SETS ((0, 1), (0), ())'
        """
        sets = tuple(sets)
        texts = (f"({', '.join(map(str, chosen))})" for chosen in sets)
        return cls(f"GROUPING SETS ({', '.join(texts)})", pa.int32(), sets)


def plain_keys(keys: Iterable[Key]) -> tuple[Key, ...]:
    """The keys that are row expressions."""
    return tuple(key for key in keys if not isinstance(key, GroupingSets))


def sets_in(keys: tuple[Key, ...]) -> tuple[tuple[int, ...], ...]:
    """The groupings that are asked for; none where there is one by all keys."""
    return keys[-1].sets if keys and isinstance(keys[-1], GroupingSets) else ()


def keys_of_all(keys: tuple[Key, ...]) -> tuple[Key, ...]:
    """The keys that every grouping has."""
    sets = sets_in(keys)
    return tuple(key for i, key in enumerate(plain_keys(keys)) if all(i in chosen for chosen in sets))
