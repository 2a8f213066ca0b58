"""The pictures of the house are true: every room's own page, and the one in CONTRIBUTING."""

from __future__ import annotations

from pathlib import Path

import house
import pytest


@pytest.mark.parametrize("room", house.rooms(), ids=lambda room: str(room.relative_to(house.HOME)))
def test_a_room_lists_its_files_as_they_describe_themselves(room: Path) -> None:
    assert house.indexed(room) == (room / "__init__.py").read_text(), "run: python tests/documents/house.py"


def test_the_picture_of_the_house_shows_its_rooms_and_no_others() -> None:
    two_deep = [room.relative_to(house.HOME) for room in house.rooms()]
    there = [
        str(path) for path in two_deep if (len(path.parts) < 3 and path.parts[0] != "cli") or path.parts == ("cli",)
    ]
    assert sorted(house.pictured()) == sorted(there)


def test_every_file_says_what_it_is() -> None:
    files = [path for path in house.HOME.rglob("*.py") if path.name != "__init__.py"]
    assert not [str(path) for path in files if len(house.said(path)) < 10]
