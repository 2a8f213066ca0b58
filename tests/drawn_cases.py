"""Some of the cases of a test: of a large product of cases, a run takes a part, another run another."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar


class Case(Protocol):
    """What a case of a test is known by."""

    @property
    def nodeid(self) -> str: ...


T = TypeVar("T", bound=Case)


def drawn_cases(tests: Iterable[tuple[T, int | None]], seed: str) -> list[T]:
    """All tests but those that are one of many cases: of a test with `one_in` n, one in n cases is drawn, one at least.

    What is drawn depends on the seed and the cases' names alone: every process of a run draws the same.
    """
    kept: list[T] = []
    products: dict[str, tuple[int, list[T]]] = {}
    for test, one_in in tests:
        if one_in is None:
            kept.append(test)
        else:
            products.setdefault(test.nodeid.partition("[")[0], (one_in, []))[1].append(test)
    for name, (one_in, cases) in products.items():
        kept += _some(cases, math.ceil(len(cases) / one_in), f"{seed} {name}")
    return kept


def _some(cases: Sequence[T], count: int, seed: str) -> list[T]:
    return random.Random(seed).sample(sorted(cases, key=lambda case: case.nodeid), count)
