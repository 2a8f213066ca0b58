"""The table of what works in which kind of window says what happens: every cell is tried."""

from __future__ import annotations

import pytest
from window_table import ASKED, WINDOWS, column, written


@pytest.mark.parametrize("name", WINDOWS)
def test_every_cell_says_what_happens(name):
    header, _, *lines = (line.strip("|").split("|") for line in written().splitlines())
    place = [cell.strip() for cell in header].index(name)
    assert [cells[0].strip() for cells in lines] == list(ASKED)
    assert [cells[place].strip() == "yes" for cells in lines] == column(WINDOWS[name])
