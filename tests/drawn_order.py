"""An order of tests that is drawn from a seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar


class Test(Protocol):
    """What a test is known by."""

    @property
    def path(self) -> object: ...

    @property
    def nodeid(self) -> str: ...


T = TypeVar("T", bound=Test)


def drawn(tests: Sequence[T], seed: str) -> list[T]:
    """The tests of a file stay together, since a process runs whole files; files and tests come as drawn.

    Every process of a run draws the same order: by it they tell each other what to run.
    """
    draw = random.Random(seed)
    files: dict[object, list[T]] = {}
    for test in sorted(tests, key=lambda test: test.nodeid):
        files.setdefault(test.path, []).append(test)
    parts = list(files.values())
    draw.shuffle(parts)
    for part in parts:
        draw.shuffle(part)
    return [test for part in parts for test in part]
