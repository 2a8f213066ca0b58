"""Every way to fold panes is one that the engine can use: it has what a maintenance declares."""

from __future__ import annotations

import pytest

import windrow.windows
from declared import classes_in, lacking, undocumented
from windrow.windows.maintenance import Maintenance, PaneSource

WAYS = sorted((kind for kind in classes_in(windrow.windows) if hasattr(kind, "answer")), key=lambda kind: kind.__name__)


def test_the_ways_are_found():
    names = {way.__name__ for way in WAYS}
    assert names >= {"Accumulate", "Subtract", "Tree", "Refold", "SlidingBinaryMerge", "TwoStacks", "Exclude", "Held"}


def test_every_part_of_a_maintenance_is_explained():
    assert undocumented(Maintenance) == undocumented(PaneSource) == []


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_way_has_all_that_a_maintenance_declares(way):
    assert lacking(way, Maintenance) == []
