"""Every store of blocks can take the place of any other: it has what blocks declare."""

from __future__ import annotations

import pytest

import windrow.storage
from declared import classes_in, lacking, undocumented
from windrow.storage.blocks import Blocks, MemoryBlocks, PrefixedBlocks
from windrow.storage.working_set import WorkingSet

STORES = sorted(
    (kind for kind in classes_in(windrow.storage) if hasattr(kind, "delete_all")), key=lambda kind: kind.__name__
)


def test_every_part_of_a_store_is_explained():
    assert undocumented(Blocks) == []


@pytest.mark.parametrize("store", STORES, ids=lambda store: store.__name__)
def test_a_store_has_all_that_blocks_declare(store):
    assert lacking(store, Blocks) == []


def test_a_store_in_front_of_another_compresses_as_the_other_does():
    home = MemoryBlocks()
    assert PrefixedBlocks(home, "a.").pays == WorkingSet(home).pays == home.pays
