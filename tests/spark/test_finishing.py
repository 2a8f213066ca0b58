"""Rows that are finished in the task that slides: they go no further, unless somebody else asks for them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import SimpleNamespace

import pyarrow as pa
import pytest

from windrow.errors import JobError
from windrow.runtime.outcome import Outcome
from windrow.spark.sinks.outlets import Finishing, clock_told, counts_told, told_in
from windrow.spark.sinks.staged_files import Nowhere
from windrow.spark.stages import slide_shard
from windrow.spark.stages.slide import BATCH, KEPT, TOLD_ROWS
from windrow.storage.columns import decode

COUNTS = {"late": 3, "clock": 50, "heaviest": "[]"}
ROWS = pa.record_batch({"n": [1, 2]})


@dataclass(frozen=True)
class Plain:
    """Rows as they are, to the driver or nowhere."""

    packed: str
    files: Nowhere | None = None
    schema: pa.Schema = ROWS.schema

    def finish(self, rows: pa.Table) -> pa.Table:
        return rows

    def whole(self, parts: pa.Table) -> pa.Table:
        return parts


def emitted(monkeypatch: pytest.MonkeyPatch, finishing: Finishing, kept: list[str], batch: str | None = "7"):
    """What a shard emits that has rows of the queries a, b and c, as Spark hands it to the driver."""
    properties = {BATCH: batch, KEPT: json.dumps(kept)}
    monkeypatch.setattr(slide_shard.TaskContext, "get", lambda: SimpleNamespace(getLocalProperty=properties.get))
    outcome = Outcome([("a", ROWS), ("b", ROWS), ("a", ROWS), ("c", ROWS)])
    frames = list(slide_shard._packed(outcome, {"a", "b", "c"}, COUNTS, finishing))
    rows = [row for frame in frames for row in frame.itertuples()]
    return rows


def names(rows) -> list[str]:
    return [row.query for row in rows if row.query]


FINISHING = Finishing((Plain("a"), Plain("b", Nowhere())))


def test_what_is_finished_goes_no_further_and_is_told(monkeypatch):
    rows = emitted(monkeypatch, FINISHING, kept=[])
    assert names(rows) == ["c"]
    told = told_in(rows)
    assert [(row.outlet, row.query, row.counted) for row in told if row.outlet == 1 and row.query] == [(1, "b", 2)]
    sent = pa.Table.from_batches([decode(row.rows) for row in told if row.outlet == 0])
    assert sent["n"].to_pylist() == [1, 2, 1, 2]
    assert [row.query for row in told if row.outlet is None and row.query and row.took_us is None] == ["c"]
    assert clock_told(told) == 50
    assert counts_told(told) == [COUNTS | {"shared": []}]


def test_what_is_asked_for_besides_goes_on(monkeypatch):
    assert names(emitted(monkeypatch, FINISHING, kept=["b"])) == ["b", "c"]
    shared = Finishing(FINISHING.outlets, passes=frozenset({"a"}))
    assert names(emitted(monkeypatch, shared, kept=[])) == ["a", "a", "c"]


def test_outside_of_a_batch_nothing_is_finished(monkeypatch):
    rows = emitted(monkeypatch, FINISHING, kept=[], batch=None)
    assert names(rows) == ["a", "b", "a", "c"]
    assert TOLD_ROWS not in [row.query for row in rows]
    with pytest.raises(JobError, match="have not finished their rows"):
        told_in(rows)
