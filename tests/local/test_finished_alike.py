"""Rows of many queries that are finished in one go are those that each query has alone."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from windrow.local import finished_alike, replay_stages

ASKED = (
    "SELECT k, SUM(x) AS s, COUNT(*) / 2 AS half FROM ticks [{}] GROUP BY k",
    "SELECT SUM(x) + 1 AS more FROM ticks [{}]",
    "SELECT k, SUM(x) AS s FROM ticks [{}] GROUP BY k HAVING s > 20",
    "SELECT k, SUM(x) AS s FROM ticks [{}] GROUP BY k ORDER BY s DESC LIMIT 1",
    "SELECT k, SUM(x) AS s FROM ticks [{}] GROUP BY k EMIT CHANGES",
    "SELECT x FROM ticks [{}]",
    "SELECT DISTINCT k FROM ticks [{}]",
)
WINDOWS = (
    "ROWS 4 SLIDE 2",
    "ROWS 9 SLIDE 3",
    "ROWS 40 SLIDE 10",
    "ROWS 6 SLIDE 100",
    "RANGE 9 SECONDS SLIDE 4 SECONDS",
)

texts = st.lists(
    st.tuples(st.sampled_from(ASKED), st.sampled_from(WINDOWS)).map(lambda pair: pair[0].format(pair[1])),
    min_size=1, max_size=12,
)  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(texts, st.integers(1, 30), st.sampled_from([1, 7, 1 << 14]))
def test_each_of_many_queries_has_the_rows_that_it_has_alone(
    asked,
    batch_rows,
    waits,
):
    rows = np.arange(60)
    ticks = pa.table({"ts": pa.array(rows * 10**6, pa.timestamp("us", tz="UTC")), "k": rows % 3, "x": rows * 7 % 11})
    queries = {f"q{number}": text for number, text in enumerate(asked)}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(replay_stages, "PART_ROWS", waits)
        together = windrow.replay(queries, ticks=ticks, batch_rows=batch_rows)
    for name, text in queries.items():
        alone = windrow.replay(text, ticks=ticks, batch_rows=batch_rows)
        assert together[name].schema == alone.schema
        assert together[name].to_pylist() == alone.to_pylist(), text


def test_expressions_of_a_thousand_queries_are_evaluated_together(monkeypatch):
    calls, finish = [], finished_alike.finish_part
    monkeypatch.setattr(finished_alike, "finish_part", lambda *asked: calls.append(asked) or finish(*asked))
    ticks = pa.table({"ts": pa.array(np.arange(50) * 10**6, pa.timestamp("us", tz="UTC")), "x": np.arange(50)})
    queries = {f"q{n}": f"SELECT SUM(x) AS s FROM ticks [ROWS {n} SLIDE 10]" for n in range(1, 301)}
    found = windrow.replay(queries, ticks=ticks, batch_rows=20)
    assert {name: rows["s"].to_pylist() for name, rows in found.items()} == {
        f"q{n}": [sum(range(max(0, end - n), end)) for end in (10, 20, 30, 40)] for n in range(1, 301)
    }
    assert len(calls) == 1
