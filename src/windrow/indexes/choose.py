"""Which structures there are, what each is good for, and which is taken where nobody asks for one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from windrow.errors import SettingsError
from windrow.indexes.b_plus_tree import BPlusTree
from windrow.indexes.csb_tree import CsbTree
from windrow.indexes.hash_points import HashPoints
from windrow.indexes.sorted_runs import SortedRuns
from windrow.indexes.structure import Structure
from windrow.indexes.tries import BurstTrie, RadixTree

MakeStructure = Callable[[np.dtype | type], Structure]

STRUCTURES: dict[str, MakeStructure] = {
    "sorted runs": SortedRuns,
    "b+ tree": BPlusTree,
    "csb+ tree": CsbTree,
    "radix tree": RadixTree,
    "burst trie": BurstTrie,
    "hash": HashPoints,
}
DEFAULT = "sorted runs"
"""Measured by `windrow bench index`: it takes entries in fastest, has the fewest bytes and the fastest ranges. Only
`hash` finds single keys faster, and that has no ranges."""


def structure_named(wish: str | MakeStructure | None) -> MakeStructure:
    """The structure that is asked for by name, or a user's own, which is a class or a function of the type of words.

    >>> structure_named("Radix Tree") is RadixTree
    True
    """
    if wish is None:
        return STRUCTURES[DEFAULT]
    if not isinstance(wish, str):
        return wish
    made = STRUCTURES.get(wish.lower().replace("_", " "))
    if made is None:
        raise SettingsError(f"there is no structure {wish!r}\nhint: there are {', '.join(STRUCTURES)}")
    return made
