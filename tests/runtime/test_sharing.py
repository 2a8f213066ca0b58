"""Queries that run together give what each gives alone, whatever they share."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.compile import choose_phantoms
from windrow.runtime.slice import chunk as chunks
from windrow.runtime.slice.classes import classes_of

from .core import SECOND, Core, events_of, in_order, plan_of, rows_of

SELECTS = ["COUNT(*) AS n", "SUM(x) AS s, COUNT(y) AS k", "MIN(x) AS l, MAX(y) AS h", "SUM(x + y) AS t, AVG(x) AS v"]
WHERES = ["", "WHERE x > 2", "WHERE x > 4", "WHERE y IS NOT NULL AND a = 'p'"]
GROUPS = [(), ("a",), ("b",), ("a", "b"), ("c",), ("b", "c")]
WINDOWS = [(4, 2), (7, 5), (6, 6), (12, 3), (3, 7), (None, 4), (77, 11)]

queries = st.builds(
    lambda select, where, group, window: (
        f"SELECT {', '.join([*group, select])} FROM ticks"
        f" [RANGE {'UNBOUNDED' if window[0] is None else f'{window[0]} SECONDS'} SLIDE {window[1]} SECONDS] {where}"
        + (f" GROUP BY {', '.join(group)}" if group else "")
    ),
    st.sampled_from(SELECTS),
    st.sampled_from(WHERES),
    st.sampled_from(GROUPS),
    st.sampled_from(WINDOWS),
)


def ticks(seed: int, rows: int, reach: int, jitter: int = 0) -> pa.Table:
    """Events in order of time but for `jitter` seconds, with ties and gaps."""
    random = np.random.default_rng(seed)
    return events_of(
        (np.sort(random.integers(0, reach, rows)) - random.integers(0, jitter + 1, rows)) * SECOND,
        a=pa.array(random.choice(["p", "q", None], rows).tolist(), pa.string()),
        b=pa.array(random.integers(0, 3, rows)),
        c=pa.array(random.integers(0, max(rows, 1), rows)),
        x=pa.array(random.integers(0, 7, rows)),
        y=pa.array(random.integers(-3, 3, rows), mask=random.random(rows) < 0.2),
    )


def answers(
    texts: list[str], events: pa.Table, sizes: list[int], shards: int, lateness: int = 0
) -> dict[str, list[dict]]:
    core = Core(plan_of(texts, events.schema, lateness * SECOND), shards=shards, reopen="fresh")
    outcomes, start = [], 0
    for size in sizes:
        outcomes += core.step(events.slice(start, size), tasks=2)
        start += size
    outcomes += core.flush()
    found: dict[str, list[dict]] = {}
    for outcome in outcomes:
        for name, batch in outcome.results:
            outcome_rows = type(outcome)(results=[(name, batch)])
            found.setdefault(name, []).extend(rows_of([outcome_rows]))
    return {name: in_order(rows) for name, rows in found.items()}


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(queries, min_size=2, max_size=6),
    st.integers(0, 1000),
    st.integers(0, 60),
    st.sampled_from([1, 2]),
    st.sampled_from([0, 3, 20]),
    st.sampled_from([0, 3, 40]),
)
def test_queries_together_answer_as_each_does_alone(texts, seed, rows, shards, lateness, jitter):
    events = ticks(seed, rows, 90, jitter)
    sizes = [rows // 4, 0, rows // 4, rows // 4, rows - 3 * (rows // 4)]
    together = answers(texts, events, sizes, shards, lateness)
    for i, text in enumerate(texts):
        assert together.get(f"q{i}", []) == answers([text], events, sizes, 1, lateness).get("q0", []), text


@pytest.mark.parametrize("free", [True, False], ids=["always shared", "as it pays"])
def test_a_finer_grouping_feeds_coarser_ones_with_the_same_answers(monkeypatch, free):
    if free:
        monkeypatch.setattr(choose_phantoms, "COMBINE", 0.0)
    lifted: list[int] = []
    rows_of_chunk = chunks.Chunk.rows
    monkeypatch.setattr(
        chunks.Chunk, "rows", lambda self, partial: (lifted.append(len(self)), rows_of_chunk(self, partial))[1]
    )
    events = ticks(5, 20_000, 60)
    texts = [
        f"SELECT {key}, SUM(x) AS s, MAX(y) AS h FROM ticks [RANGE 20 SECONDS SLIDE 10 SECONDS] {where} GROUP BY {key}"
        for key in ("a", "b", "a, b")
        for where in ("", "WHERE x > 2", "WHERE x > 3 AND y > 0")
    ]
    together = answers(texts, events, [20_000], 2)
    folded = len(lifted)
    assert folded == 2 * 3  # two map tasks, each folds three partials once for all nine queries
    for i, text in enumerate(texts):
        assert together[f"q{i}"] == answers([text], events, [20_000], 2)["q0"]


def test_first_and_last_are_never_fed_from_a_finer_grouping():
    events = ticks(5, 5_000, 60)
    texts = [
        f"SELECT {key}, FIRST(x) AS f FROM ticks [RANGE 20 SECONDS SLIDE 10 SECONDS] GROUP BY {key}" for key in "ab"
    ]
    together = answers(texts, events, [5_000], 1)
    for i, text in enumerate(texts):
        assert together[f"q{i}"] == answers([text], events, [5_000], 1)["q0"]


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(1, 200), st.integers(0, 1000))
def test_classes_of_rows_are_as_many_as_the_data_shows(predicates, rows, seed):
    random = np.random.default_rng(seed)
    thresholds = random.integers(0, 9, predicates)
    values = random.integers(0, 9, rows)
    passed = [values > threshold for threshold in thresholds]
    found = classes_of(passed, most=rows)
    assert found is not None
    numbers, passes = found
    assert (passes[numbers] == np.array(passed).T).all()
    assert len(passes) == len({tuple(row) for row in np.array(passed).T})
    if len(passes) > 1:
        assert classes_of(passed, most=len(passes) - 1) is None
