"""Clusters of windows that count rows and answer while they fill: which rows, and which numbers, in plain Python."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from oracle.followed import SECOND, Answer, Case, counted, drawn_case, levels_of_rows
from runtime.core import Core, plan_of

KINDS = {"counted": counted, "levels": levels_of_rows}
PLAIN = "k, g", "g"


def told(case: Case, texts: list[str], reopen: str) -> list[list[dict]]:
    """The rows of each query, with times in seconds."""
    core = Core(plan_of(texts, case.table.schema, case.lateness * SECOND), reopen=reopen)
    found: list[list[dict]] = [[] for _ in texts]
    for start in range(0, len(case.rows) + case.batch_rows, case.batch_rows):
        last = start >= len(case.rows)
        for outcome in core.flush() if last else core.step(case.table.slice(start, case.batch_rows)):
            for name, batch in outcome.results:
                found[int(name[1])] += batch.to_pylist()
    return found


def clusters_of(answer: Answer, by_key: bool) -> dict[tuple, dict[int, int]]:
    """Of each group how many rows there are at each spot: spots are far from each other."""
    groups: dict[tuple, dict[int, int]] = {}
    for row in answer.rows:
        group = groups.setdefault((row.k, row.g) if by_key else (row.g,), {})
        group[row.x] = group.get(row.x, 0) + 1
    return groups


def expected(answers: list[Answer], by_key: bool, leveled: bool) -> list[tuple]:
    rows = [
        (*(answer.line[:1] if leveled else ()), answer.final, answer.as_of, *group, 100.0 * spot, n)
        for answer in answers
        for group, clusters in clusters_of(answer, by_key).items()
        for spot, n in clusters.items()
    ]
    return sorted(rows, key=str)


@dataclass
class Group:
    """The clusters of one group by the definition: the spot and number of each that is known."""

    end: int | None = None
    known: dict[float, int] = field(default_factory=dict)
    highest: int = 0

    def check(self, start: int, end: int, final: bool, numbers: dict[float, int]) -> None:
        if self.end is None or start > self.end:
            self.known, self.highest = {}, 0
        assert all(number == self.known[spot] for spot, number in numbers.items() if spot in self.known)
        fresh = {number for spot, number in numbers.items() if spot not in self.known}
        assert fresh == {self.highest + 1 + i for i in range(len(fresh))}
        self.highest += len(fresh)
        self.end, self.known = end, dict(numbers) if final else self.known | numbers


def check_numbers(rows: list[dict], keys: int) -> None:
    """Follow the numbers of each group, and level, in turn."""
    answers: dict[tuple, dict[float, int]] = {}
    for row in rows:
        line = (row.get("level"), *(row[f"key_{i}"] for i in range(keys)))
        when = (row["window_row"], row["due"], row["final"])
        place = (line, when, row["window_start"].timestamp(), row["window_end"].timestamp())
        answers.setdefault(place, {})[row["agg_2"][0]] = row["agg_0"]
    groups: dict[tuple, Group] = {}
    for (line, (_, _, final), start, end), numbers in sorted(answers.items(), key=lambda item: item[0][1]):
        groups.setdefault(line, Group()).check(start, end, final, numbers)


def check(seed: int, kind: str, reopen: str, method: str = "C_BIRCH(5)") -> None:
    random = Random(seed)
    case = drawn_case(random, early=True)
    window, answers = KINDS[kind](case, random)
    by_key, leveled = "PARTITION" in window, "SLIDES" in window
    keys = PLAIN[0] if by_key else PLAIN[1]
    text = f"SELECT {keys}, cid, COUNT(cid) AS n, CENTER(cid) AS c FROM ticks {{}} GROUP BY {keys}"
    text += f" CLUSTER BY 100 * x AS cid USING {method}"
    early = text.format(window.format(f" EMIT EVERY {case.every} SECONDS"))
    finals = text.format(window.format(""))
    found, beside = told(case, [early, finals], reopen)
    width = 1 + by_key
    rows = [
        (
            *((row["level"],) if leveled else ()),
            row["final"],
            row["due"] // SECOND,
            *(row[f"key_{i}"] for i in range(width)),
            row["agg_2"][0],
            row["agg_1"],
        )
        for row in found
    ]
    assert sorted(rows, key=str) == expected(answers, by_key, leveled)
    check_numbers(found, width)
    (alone,) = told(case, [finals], "never")
    assert sorted(map(str, beside)) == sorted(map(str, alone))  # whoever is beside


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(sorted(KINDS)), st.sampled_from(["never", "adopt", "fresh"]))
def test_clusters_and_their_numbers_are_those_of_the_definition(seed: int, kind: str, reopen: str):
    check(seed, kind, reopen)


def test_a_density_clustering_is_told_early():
    for seed in range(6):
        check(seed, "counted", "fresh", "EXTRA_N(5, 1)")


@settings(max_examples=examples(15), deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(sorted(KINDS)))
@example(3, "levels")
def test_changes_make_up_the_answers(seed: int, kind: str):
    """What was put and not taken away is, of each group, what its line was told last; cuts change nothing."""
    random = Random(seed)
    case = drawn_case(random, early=True)
    window, _ = KINDS[kind](case, random)
    keys = PLAIN[0] if "PARTITION" in window else PLAIN[1]
    window = window.format(f" EMIT EVERY {case.every} SECONDS")
    text = f"SELECT {keys}, cid, COUNT(cid) AS n FROM e {window} GROUP BY {keys} CLUSTER BY 100 * x AS cid USING C_BIRCH(5)"
    lateness = f"{case.lateness} seconds"
    several = {"told": text, "changed": f"{text} EMIT CHANGES"}
    found = windrow.replay(several, e=case.table, lateness=lateness, batch_rows=case.batch_rows)
    held: dict[str, int] = {}
    for row in found["changed"].to_pylist():
        named = str({name: value for name, value in row.items() if name not in ("op", "time")})
        held[named] = held.get(named, 0) + (1 if row["op"] == "+" else -1)
        assert held[named] in (0, 1)
    told = found["told"].to_pylist()
    lines: dict[tuple, tuple] = {}
    for row in told:
        line = (row.get("level"), row.get("k"))
        lines[line] = max(lines.get(line, (0,)), (row["window_row"], row["as_of"], row["final"]))
    last = [
        {n: v for n, v in row.items() if n not in ("window_start", "window_end", "window_row", "final", "as_of")}
        for row in told
        if (row["window_row"], row["as_of"], row["final"]) == lines[row.get("level"), row.get("k")]
    ]
    assert {name for name, many in held.items() if many} == set(map(str, last))


@pytest.mark.parametrize("shards", [1, 3])
def test_shards_number_their_own_groups(shards: int):
    case = drawn_case(Random(11), early=True)
    text = (
        "SELECT g, cid, COUNT(cid) AS n, CENTER(cid) AS c FROM ticks [ROWS 6 SLIDE 3 EMIT EVERY 1 SECOND]"
        " GROUP BY g CLUSTER BY 100 * x AS cid USING C_BIRCH(5)"
    )
    found = []
    for many in (1, shards):
        core = Core(plan_of([text], case.table.schema, case.lateness * SECOND), reopen="fresh", shards=many)
        outcomes = [*core.step(case.table), *core.flush()]
        rows = [row for outcome in outcomes for _, batch in outcome.results for row in batch.to_pylist()]
        found.append(sorted(map(str, rows)))
    assert found[0] == found[1] and found[0]
