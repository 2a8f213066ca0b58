"""Streams of the answers of windows from condition to condition, of groups and of clusters: against plain Python."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from oracle.followed import Answer, drawn_case, predicates
from oracle.judge import plain_rows
from oracle.test_windows_over_windows import Staged

OUTER = "SELECT g, SUM(n) AS s, COUNT(*) AS c FROM d [RANGE 10 SECONDS SLIDE 5 SECONDS] GROUP BY g"


def inner_rows(answer: Answer, clustered: bool) -> list[tuple]:
    """What one window tells: the group and how many rows, of each group or of each spot of it."""
    found: dict[tuple, int] = {}
    for row in answer.rows:
        place = (row.k, row.g, row.x if clustered else None)
        found[place] = found.get(place, 0) + 1
    return [(g, n) for (_, g, _), n in found.items()]


def expected(answers: list[Answer], clustered: bool) -> list[tuple]:
    told: dict[tuple, list[int]] = {}
    for answer in answers:
        for end in range((answer.as_of // 5 + 1) * 5, answer.as_of + 11, 5):
            for g, n in inner_rows(answer, clustered):
                told.setdefault((end, g), []).append(n)
    return sorted(((end, g, sum(n), len(n)) for (end, g), n in told.items()), key=str)


@settings(max_examples=examples(30), deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_windows_over_the_answers_of_windows_from_condition_to_condition(seed: int, clustered: bool):
    random = Random(seed)
    case = drawn_case(random, early=False)
    window, answers = predicates(case, random)
    asked, by = ("COUNT(cid)", " CLUSTER BY 100 * x AS cid USING C_BIRCH(5)") if clustered else ("COUNT(*)", "")
    inner = f"SELECT k, g, {asked} AS n FROM e {window.format('')} GROUP BY k, g{by}"
    lateness = f"{case.lateness} seconds"
    found = windrow.replay(
        OUTER,
        derived={"d": inner},
        e=case.table,
        lateness=lateness,
        batch_rows=case.batch_rows,
        flush=True,
    )
    rows = [(int(row["window_end"].timestamp()), row["g"], row["s"], row["c"]) for row in found.to_pylist()]
    assert sorted(rows, key=str) == expected(answers, clustered)


@settings(max_examples=examples(12), deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["g", "k, g"]))
def test_several_shards_and_new_workers_answer_as_one_process(seed: int, keys: str):
    random = Random(seed)
    case = drawn_case(random, early=False)
    window, _ = predicates(case, random)
    inner = f"SELECT k, g, COUNT(*) AS n FROM ev {window.format('')} GROUP BY k, g"
    text = f"SELECT {keys}, SUM(n) AS s FROM ({inner}) AS q [RANGE 10 SECONDS SLIDE 5 SECONDS] GROUP BY {keys}"
    table = case.table.sort_by("ts")
    staged = Staged(text, table)
    for start in range(0, table.num_rows, case.batch_rows):
        staged.batch(table.slice(start, case.batch_rows).combine_chunks())
    staged.batch(None)
    alone = plain_rows(windrow.replay(text, ev=table, flush=True))
    assert sorted(map(str, staged.rows)) == sorted(map(str, alone))
