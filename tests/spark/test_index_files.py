"""The runs and manifests of an index, without Spark: batches that come again, runs that merge, files that go."""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.errors import SettingsError
from windrow.indexes.asking import key_range
from windrow.indexes.facts import IndexFacts
from windrow.indexes.published import MANIFEST, PublishedIndex
from windrow.indexes.runs import BLOCK_ROWS, RunFile, encode_run, in_key_order
from windrow.places.place import place_of
from windrow.spark.job.job_indexes import JobIndexes
from windrow.spark.sinks import index_files
from windrow.spark.sinks.index_files import IndexSink
from windrow.spark.sinks.shared_index import SharedIndexSink, chosen_of

FACTS = IndexFacts(
    "speeds", ("seg", "name"), pa.schema({"seg": pa.int64(), "name": pa.string(), "v": pa.int64()}), 300, 60
)
NO_SPARK: Any = SimpleNamespace()


def rows(times: list[int], first: int = 0) -> pa.Table:
    stamps = pa.array(times, pa.timestamp("us", tz="UTC"))
    values = list(range(first, first + len(times)))
    names = [f"a name that is longer than a word {value % 3}" if value % 2 else "b" for value in values]
    return pa.table({"time": stamps, "seg": [value % 5 for value in values], "name": names, "v": values})


def sink_in(folder: Path) -> IndexSink:
    return IndexSink(FACTS, place_of(str(folder)), NO_SPARK, "job-index")


def values_in(folder: Path, **key: Any) -> list[int]:
    return sorted(PublishedIndex(place_of(str(folder))).scan(**key)["v"].to_pylist())


def test_a_batch_that_runs_again_replaces_itself_and_clocks_move_without_rows(tmp_path: Path) -> None:
    sink = sink_in(tmp_path / "x")
    sink.clear(0)
    sink.commit(sink.stage(rows([10, 70, 70]), 0), 0, 80)
    assert values_in(tmp_path / "x") == [0, 1, 2]
    sink.commit(sink.stage(rows([100, 130], 3), 1), 1, 140)
    again = sink_in(tmp_path / "x")  # the job died before Spark knew of batch 1
    again.stage(rows([100, 130], 3), 1)  # an attempt whose task was lost
    again.clear(1)
    again.commit(again.stage(rows([100, 130], 3), 1), 1, 140)
    assert values_in(tmp_path / "x") == [0, 1, 2, 3, 4]
    again.commit([], 2, 371)
    assert values_in(tmp_path / "x") == [3, 4], "[71, 371)"
    again.commit([], 3, 380)
    again.commit([], 4, 1000)
    assert values_in(tmp_path / "x") == []
    again.commit([], 5, 1000)
    assert [path.name for path in (tmp_path / "x").iterdir()] == [MANIFEST], "what has expired is deleted"


def test_many_runs_of_a_pane_become_one_and_nothing_else_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_files, "MERGED_AT", 4)
    sink = sink_in(tmp_path / "x")
    sink.clear(0)
    reader = PublishedIndex(place_of(str(tmp_path / "x")))
    for batch in range(40):
        sink.commit(sink.stage(rows([batch, batch], 2 * batch), batch), batch, batch + 1)
        assert sorted(reader.scan()["v"].to_pylist()) == list(range(2 * batch + 2))
        assert len(reader.manifest()[0].runs) <= 3 * 4
    found = reader.scan(seg=3)
    assert found["seg"].to_pylist() == [3] * 16 and found["name"].to_pylist() == sorted(found["name"].to_pylist())
    assert reader.lookup(seg=3, name="b")["time"].cast(pa.int64()).to_pylist() == [4, 9, 14, 19, 24, 29, 34, 39]


NARROW = IndexFacts("few", FACTS.keys, FACTS.schema.remove(2), 90, 45)
"""The same keys, one column less, and panes that are cut otherwise."""


@given(st.lists(st.lists(st.integers(0, 60), max_size=6), min_size=1, max_size=8), st.integers(0, 8))
def test_an_index_within_another_finds_what_it_would_by_itself_also_when_that_one_goes(
    batches: list[list[int]], left: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = place_of(folder)
        wide, alone = sink_in(Path(folder) / "wide"), IndexSink(NARROW, home / "alone", NO_SPARK, "job-alone")
        within: IndexSink = SharedIndexSink(NARROW, home / "few", NO_SPARK, "job-few", "wide")
        assert chosen_of(home / "few", {"wide": home / "wide"}) == home / "wide", "it is new"
        readers = [PublishedIndex(home / name) for name in ("few", "alone")]
        clock = 0
        for batch, steps in enumerate(batches):
            if batch == left:  # the wider one is dropped: it goes on from what that one holds
                assert batch == 0 or chosen_of(home / "few", {}) is None
                within = IndexSink(NARROW, home / "few", NO_SPARK, "job-few")
            times = [clock + step for step in sorted(steps)]
            clock = max([clock, *(time + 1 for time in times)])
            for sink in (wide, within, alone) if batch < left else (within, alone):
                if batch in (0, left):
                    sink.clear(batch)
                told = rows(times, 10 * batch)
                sink.commit(sink.stage(told, batch) if times else [], batch, clock)
            for key in ({}, {"seg": 3}, {"seg": (1, 2)}):
                shared, own = (reader.scan(**key) for reader in readers)
                assert shared.to_pylist() == own.to_pylist()
            if batch < left:
                assert [entry.name for entry in (home / "few").entries()] == [MANIFEST], "each row is there once"
        assert chosen_of(home / "alone", {"wide": home / "wide"}) is None, "it has runs of its own"


def test_a_look_up_reads_the_blocks_that_it_needs_and_no_others(tmp_path: Path) -> None:
    count = 20 * BLOCK_ROWS
    facts = IndexFacts("n", ("n",), pa.schema({"n": pa.int64()}), 300, 60)
    table = pa.table({"time": pa.array(np.zeros(count, np.int64), pa.timestamp("us", tz="UTC")), "n": np.arange(count)})
    (tmp_path / "run.arrow").write_bytes(encode_run(in_key_order(table, facts)))
    run = RunFile(place_of(str(tmp_path / "run.arrow")))
    (found,) = run.find(key_range(facts, {"n": 7 * BLOCK_ROWS + 5}))
    assert found["n"].to_pylist() == [7 * BLOCK_ROWS + 5] and run.blocks_read == 1
    assert sum(part.num_rows for part in run.find(key_range(facts, {"n": (10, BLOCK_ROWS + 9)}))) == BLOCK_ROWS
    assert run.blocks_read == 3


def test_an_index_that_has_not_been_published_yet_is_told_apart_from_one_that_there_is_not(tmp_path: Path) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError

    indexes = JobIndexes(place_of(str(tmp_path)), never, never, lambda: ["speeds"])
    with pytest.raises(SettingsError, match=r"there is no index 'speeds' in .* yet\nhint: .* its first batch"):
        indexes.named("speeds")
    with pytest.raises(SettingsError, match=r"there is no index 'spdees' in .*\nhint: CREATE INDEX"):
        indexes.named("spdees")
