"""Events of a reader: the answers are those of the whole table, and the batches are read one after the other."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

import windrow
from windrow.errors import SettingsError

EVENTS = pa.table({"ts": pa.array(range(40), pa.timestamp("s", tz="UTC")), "k": [i % 3 for i in range(40)]})
QUERIES = {
    "counts": "SELECT k, COUNT(*) AS n FROM s [RANGE 10 SECONDS SLIDE 5 SECONDS] GROUP BY k",
    "over": """SELECT MAX(n) AS most FROM (SELECT k, COUNT(*) AS n FROM s [RANGE 2 SECONDS SLIDE 1 SECOND] GROUP BY k)
               AS q [RANGE 10 SECONDS SLIDE 10 SECONDS]""",
    "none": "SELECT k, COUNT(*) AS n FROM s [RANGE 10 SECONDS SLIDE 5 SECONDS] WHERE k > 9 GROUP BY k",
}


def reader() -> pa.RecordBatchReader:
    def batches() -> Iterator[pa.RecordBatch]:
        yield from EVENTS.to_batches(max_chunksize=7)

    return pa.RecordBatchReader.from_batches(EVENTS.schema, batches())


@pytest.mark.parametrize("flush", [False, True])
def test_a_reader_gives_what_its_table_gives(flush: bool) -> None:
    whole = windrow.replay(QUERIES, s=EVENTS, batch_rows=7, flush=flush)
    assert windrow.replay(QUERIES, s=reader(), flush=flush) == whole
    assert whole["none"].num_rows == 0


@pytest.mark.parametrize("flush", [False, True])
def test_rows_of_a_reader_are_told_batch_by_batch(flush: bool) -> None:
    """As soon as a batch has brought them: an endless stream is answered while it comes, and nothing is kept."""
    derived = {"each": "SELECT k, COUNT(*) AS n FROM s [RANGE 2 SECONDS SLIDE 1 SECOND] GROUP BY k"}
    asked = QUERIES | {"most": "SELECT MAX(n) AS most FROM each [RANGE 10 SECONDS SLIDE 10 SECONDS]"}
    read: list[int] = []

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in EVENTS.to_batches(max_chunksize=7):
            read.append(batch.num_rows)
            yield batch

    rows: dict[str, list[pa.Table]] = {name: [] for name in asked}
    when: list[int] = []

    def told(name: str, table: pa.Table) -> None:
        rows[name].append(table)
        when.append(len(read))

    endless = pa.RecordBatchReader.from_batches(EVENTS.schema, batches())
    kept = windrow.replay(asked, s=endless, derived=derived, flush=flush, told=told)
    whole = windrow.replay(asked, s=reader(), derived=derived, flush=flush)
    assert all(table.num_rows == 0 for table in kept.values()) and kept.keys() == whole.keys()
    assert {name: pa.concat_tables([kept[name], *tables]) for name, tables in rows.items()} == whole
    assert min(when) == 1 and len(set(when)) > 3


def test_a_query_without_a_name_is_told_as_query() -> None:
    rows: list[tuple[str, int]] = []
    windrow.replay(QUERIES["counts"], s=reader(), told=lambda name, table: rows.append((name, table.num_rows)))
    assert rows and {name for name, _ in rows} == {"query"}
    with pytest.raises(SettingsError, match="told= is for events that come batch by batch"):
        windrow.replay(QUERIES["counts"], s=EVENTS, told=lambda name, table: None)


def test_what_a_reader_cannot_have() -> None:
    with pytest.raises(SettingsError, match="the batches of a reader are as they come"):
        windrow.replay(QUERIES["counts"], s=reader(), batch_rows=3)
    with pytest.raises(SettingsError, match="'s' is a reader, and there are other streams"):
        windrow.replay(QUERIES["counts"], s=reader(), other=EVENTS)
