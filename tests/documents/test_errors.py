"""Every error has a code of its own, and a line in docs/errors.md."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import windrow
from windrow import errors

PAGE = (Path(__file__).parents[2] / "docs" / "errors.md").read_text()


def classes() -> dict[str, type[errors.WindrowError]]:
    found = inspect.getmembers(errors, inspect.isclass)
    return {name: kind for name, kind in found if issubclass(kind, errors.WindrowError)}


def test_every_error_has_a_code_of_its_own_that_the_page_explains() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (.+) \| (.+) \|$", PAGE, re.M)
    listed = {name: code for code, name, _, _ in rows}
    codes = {name: kind.code for name, kind in classes().items() if kind is not errors.WindrowError}
    assert listed == codes
    assert len(set(codes.values())) == len(codes)
    assert all("code" in vars(kind) for kind in classes().values()), "none is called as the class above it"


def test_the_doors_show_every_error_and_everything_they_say_they_have() -> None:
    assert classes().keys() <= set(windrow.__all__)
    assert set(windrow.__all__) <= set(dir(windrow))
    assert all(getattr(windrow, name) is not None for name in windrow.__all__)


def test_what_programs_rely_on_has_not_changed() -> None:
    assert sorted(kind.code for kind in classes().values()) == [
        *("AGGREGATE", "ASK", "CHANGE", "CLUSTERING", "FUNCTION", "JOB", "MEMORY_LIMIT", "NOT_SUPPORTED"),
        *("QUERY", "SETTINGS", "STATE", "STOPPED", "STORAGE", "WINDROW"),
    ]
