"""Changes merged by key into tables of lakes: after each batch a table holds the answer, whatever comes again."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from windrow.errors import JobError, SettingsError
from windrow.plan.sink import Sink
from windrow.spark.sinks.lake import LakeCommits
from windrow.spark.sinks.merged_lake import MergedLake
from windrow.spark.sinks.net_changes import net_changes, places_of

KIND = pa.schema([("k", pa.string()), ("n", pa.int64()), ("day", pa.int32()), ("tags", pa.list_(pa.int64()))])
CHANGES = pa.schema([("op", pa.string()), ("time", pa.timestamp("us", "UTC")), *KIND])
Row = dict[str, Any]


class Kind:
    """A kind of table in a folder: its writer, and its rows as others read them."""

    def __init__(self, name: str, folder: Path, partitioned: bool = False) -> None:
        self.name, self.folder = name, folder
        options = {"holds": "answer", "key": "k, day"} | ({"partitionBy": "day"} if partitioned else {})
        if name == "iceberg":
            options |= {"table": "db.t", "type": "sql", "uri": f"sqlite:///{folder}/catalog.db", "catalog": "here"}
        self.sink = Sink(name, (("path", str(folder / "t")), *options.items()))

    def table(self, mark: str = "job") -> Any:
        if self.name == "delta":
            from windrow.spark.sinks.delta_table import DeltaLog

            return DeltaLog(str(self.folder / "t"), mark)
        from windrow.spark.sinks.iceberg_table import IcebergTable

        return IcebergTable(dict(self.sink.options), mark)

    def writer(self, mark: str = "job") -> MergedLake:
        merged = MergedLake(self.sink, LakeCommits(self.table(mark), self.sink), 2, KIND.names)
        merged.by_tasks(CHANGES)
        return merged

    def rows(self) -> list[Row]:
        """What the library of the table reads; DuckDB reads the same of the files of a Delta table."""
        if self.name == "delta":
            import deltalake

            found = deltalake.DeltaTable(str(self.folder / "t"))
            rows = pa.table(found.to_pyarrow_table()).select(KIND.names)
            files = duckdb.read_parquet(found.file_uris(), hive_partitioning=True) if found.file_uris() else None
            assert files is None or sorted(files.project("n").fetchall()) == sorted((n,) for n in rows["n"].to_pylist())
            return rows.to_pylist()
        return self.table()._found().scan().to_arrow().select(KIND.names).to_pylist()

    def files(self) -> int:
        if self.name == "delta":
            import deltalake

            return len(deltalake.DeltaTable(str(self.folder / "t")).file_uris())
        return len(list(self.table()._found().scan().plan_files()))


@pytest.fixture(params=["delta", "iceberg"])
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Kind]:
    pytest.importorskip("deltalake" if request.param == "delta" else "pyiceberg")
    if request.param == "iceberg":
        pytest.importorskip("sqlalchemy")
    return lambda partitioned=False: Kind(request.param, tmp_path, partitioned)


def row(k: str | None, n: int, day: int = 1) -> Row:
    return {"k": k, "n": n, "day": day, "tags": [n, None] if n % 2 else None}


def changed(*changes: tuple[str, Row]) -> pa.Table:
    """Changes in the order in which they are told."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return pa.Table.from_pylist([{"op": op, "time": at, **row} for op, row in changes], CHANGES)


def ordered(rows: list[Row]) -> list[str]:
    return sorted(map(repr, rows))


@pytest.mark.parametrize("partitioned", [False, True])
def test_a_table_is_the_answer_after_each_batch_though_each_comes_twice(
    kind: Callable[..., Kind], partitioned: bool
) -> None:
    draw, own = random.Random(5), kind(partitioned)
    answer: dict[tuple[str | None, int], Row] = {}
    writer = own.writer()
    for batch in range(14):
        changes = []
        for _ in range(draw.randrange(1, 12)):
            key = draw.choice([None, "a", "b'c", 'd"e', "é", "é" * 99, *"fghij"]), draw.randrange(3)
            if key in answer:
                changes.append(("-", answer.pop(key)))
            if draw.random() < 0.6:
                answer[key] = row(key[0], draw.randrange(5), key[1])
                changes.append(("+", answer[key]))
        if not changes:
            continue
        again = changed(*changes)
        writer.take(again, batch)
        if draw.random() < 0.5:
            writer = own.writer()  # as after a restart
        writer.take(again, batch)
        assert ordered(own.rows()) == ordered(list(answer.values()))
    assert own.table().last_batch() == 13


def test_only_files_are_written_anew_in_which_a_row_changes(kind: Callable[..., Kind]) -> None:
    own = kind(partitioned=True)
    writer = own.writer()
    writer.take(changed(*(("+", row(f"k{i}", i, i % 4)) for i in range(40))), 0)
    before = {path for path in (own.folder / "t").rglob("*.parquet")}
    writer.take(changed(("-", row("k1", 1, 1)), ("+", row("k1", 7, 1))), 1)
    assert len({path for path in (own.folder / "t").rglob("*.parquet")} - before) == 1
    assert len(own.rows()) == 40 and row("k1", 7, 1) in own.rows()


def test_keys_that_come_one_by_one_do_not_leave_a_file_each(kind: Callable[..., Kind]) -> None:
    own = kind()
    writer = own.writer()
    for batch in range(40):
        writer.take(changed(("+", row(f"k{batch:03d}", batch))), batch)
    assert own.files() < 25 and len(own.rows()) == 40


def test_another_job_begins_with_an_empty_table(kind: Callable[..., Kind]) -> None:
    own = kind()
    own.writer("one").take(changed(("+", row("a", 1)), ("+", row("b", 2))), 3)
    own.writer("two").take(changed(("+", row("c", 3))), 0)
    assert own.rows() == [row("c", 3)]
    with pytest.raises(JobError, match="a row that it never had"):
        own.writer("three").take(changed(("-", row("c", 3))), 0)


def test_a_table_that_is_not_the_answer_before_is_not_changed(kind: Callable[..., Kind]) -> None:
    own = kind()
    writer = own.writer()
    writer.take(changed(("+", row("a", 1)), ("+", row("b", 2))), 0)
    for wrong in (
        changed(("-", row("z", 1)), ("+", row("z", 2))),  # which was never there
        changed(("+", row("a", 5))),  # which is there already
        changed(("-", row("z", 1)), ("+", row("c", 2))),
    ):
        with pytest.raises(JobError, match="does not hold the answer as it was before this batch"):
            writer.take(wrong, 1)
    with pytest.raises(JobError, match="k, day does not tell the rows of the answer apart"):
        writer.take(changed(("+", row("c", 1)), ("+", row("c", 2))), 1)
    assert ordered(own.rows()) == ordered([row("a", 1), row("b", 2)]) and own.table().last_batch() == 0
    writer.take(changed(("-", row("a", 1))), 1)
    assert own.rows() == [row("b", 2)]


def test_a_batch_whose_changes_undo_each_other_changes_nothing() -> None:
    net = net_changes(changed(("+", row("a", 1)), ("-", row("a", 1)), ("-", row("b", 3)), ("+", row("b", 3))), 2, ["k"])
    assert net.came.num_rows == net.went.num_rows == net.told.num_rows == 0


def test_keys_are_found_by_all_their_columns() -> None:
    rows = pa.table({"k": ["a", "a", None, None], "d": [1, 2, 1, None]})
    others = pa.table({"k": [None, "a"], "d": [None, 2]})
    assert places_of(rows, others, ["k", "d"]).tolist() == [-1, 1, -1, 0]


def test_what_cannot_be_merged_is_refused(kind: Callable[..., Kind]) -> None:
    own = kind()
    commits = LakeCommits(own.table(), own.sink)
    with pytest.raises(SettingsError, match=r"key 'k' is no column of the query\nhint: its columns: n, day"):
        MergedLake(own.sink, commits, 2, ["n", "day"])
    packed = Sink(own.name, (*own.sink.options, ("compression", "gzip")))
    with pytest.raises(SettingsError, match="leave out compression"):
        MergedLake(packed, commits, 2, KIND.names)
    nested = Sink(own.name, tuple((name, "tags" if name == "key" else value) for name, value in own.sink.options))
    with pytest.raises(SettingsError, match="key 'tags' is of type list"):
        MergedLake(nested, commits, 2, KIND.names).by_tasks(CHANGES)
