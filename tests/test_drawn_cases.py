"""Of a large product of cases a run takes a part; every case is in some run, and what is asked for by name is run."""

from __future__ import annotations

from dataclasses import dataclass

from drawn_cases import drawn_cases


@dataclass(frozen=True)
class Case:
    nodeid: str


ALONE = Case("test_a.py::test_alone")
MANY = [Case(f"test_a.py::test_many[{n}]") for n in range(10)]
FEW = [Case(f"test_a.py::test_few[{n}]") for n in range(2)]
TESTS = [(ALONE, None), *((case, 4) for case in MANY), *((case, 4) for case in FEW)]


def test_of_many_cases_a_part_is_drawn_and_all_others_stay():
    kept = drawn_cases(TESTS, "7")
    assert ALONE in kept
    assert sum(case in kept for case in MANY) == 3
    assert sum(case in kept for case in FEW) == 1


def test_every_process_draws_the_same_whatever_the_order_and_another_seed_draws_others():
    def kept(tests: list, seed: str) -> set[Case]:
        return set(drawn_cases(tests, seed))

    assert kept(TESTS, "7") == kept(TESTS[::-1], "7")
    assert set().union(*(kept(TESTS, str(seed)) for seed in range(40))) == {ALONE, *MANY, *FEW}
