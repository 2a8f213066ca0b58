"""What a query over tables alone answers is made once for a table, however often shards are opened."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from windrow.local import replay_stages
from windrow.local.replay import replay
from windrow.runtime.changes import table_answer
from windrow.runtime.shard import Shard

TOP = "SELECT s.k, top FROM s [RANGE 10 SECONDS] JOIN (SELECT k, MAX(m) AS top FROM t GROUP BY k) AS g ON s.k = g.k"


def events() -> pa.Table:
    times = pa.array([second * 1_000_000 for second in range(8)]).cast(pa.timestamp("us", "UTC"))
    return pa.table({"ts": times, "k": ["nut", "bolt"] * 4})


def test_a_table_s_answer_is_made_once_and_anew_for_other_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    made, opened, plain = [], [], table_answer.table_answer

    def counted(*given: Any) -> pa.Table:
        made.append(given)
        return plain(*given)

    class Noted(Shard):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            opened.append(self)

    monkeypatch.setattr(table_answer, "table_answer", counted)
    monkeypatch.setattr(replay_stages, "Shard", Noted)
    for most in (5, 7):
        table = pa.table({"k": ["nut", "nut", "axle"], "m": [1, most, 9]})
        rows = replay(TOP, s=events(), tables={"t": table}, shards=2)
        assert [(row["k"], row["top"]) for row in rows.to_pylist()] == [("nut", most)] * 4
    assert len(made) == 2
    shard = opened[-1]
    again = Shard(shard.plan, shard._home, shard.save(), shard)
    assert len(made) == 2 and _joins(again) == _joins(shard)  # neither made nor hashed again
    other = Shard(shard.plan, shard._home, shard.save())
    assert len(made) == 2 and _joins(other) != _joins(shard)


def _joins(shard: Shard) -> list[int]:
    operators = shard._pipelines._groups[0].pipeline._operators
    return [id(operator) for operator in operators.values() if type(operator).__name__ == "TableJoinRows"]
