"""Tables of lakes, without Spark: whole answers replace each other, old versions expire, and partitions hold any value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from windrow.errors import SettingsError
from windrow.places.place import place_of
from windrow.plan.sink import Sink, check_options
from windrow.spark.sinks.file_format import FileFormat
from windrow.spark.sinks.lake import LakeCommits, LakeTable
from windrow.spark.sinks.lake_tables import files_of, table_of
from windrow.spark.sinks.staged_files import StagedFiles

KINDS = ("delta", "iceberg")
NO_SPARK: Any = None
"""It is asked of places that are elsewhere alone."""


def sink_of(kind: str, folder: Path, **options: str) -> Sink:
    pytest.importorskip("deltalake" if kind == "delta" else "pyiceberg")
    if kind == "delta":
        return Sink("delta", (("path", f"{folder}/t"), *options.items()))
    pytest.importorskip("sqlalchemy")
    catalog = {"catalog": "here", "table": "db.t", "type": "sql", "uri": f"sqlite:///{folder}/catalog.db"}
    return Sink("iceberg", (("path", f"{folder}/t"), *catalog.items(), *options.items()))


class Table:
    """A table as a sink of a job writes it, and as others read it."""

    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self.table, self.place = table_of(NO_SPARK, sink, "job-1")
        self.commits = LakeCommits(self.table, sink)

    def commit(self, rows: pa.Table, batch: int, *, replace: bool = False) -> None:
        self.commits.check(rows.schema)
        form = FileFormat("parquet", "snappy", self.sink.partition_by, whole=self.commits.whole_files)
        staged = StagedFiles(self.place / "_windrow", "job", "run", form).put(rows, batch, "x") if len(rows) else []
        shown = []
        for number, file in enumerate(staged):
            (self.place / file.folder).make_folders()
            name = f"job-{batch:09d}-{number:05d}.parquet"
            place_of(file.path).move(self.place / file.folder / name)
            shown.append((file.folder, name))
        self.commits.commit(self.place, shown, rows.schema, batch, replace=replace)

    def rows(self) -> list[tuple[Any, ...]]:
        """What the table's own library reads, told by DuckDB."""
        held = read_by_library(self.sink)
        names = ", ".join(sorted(held.column_names))
        return sorted(duckdb.sql(f"SELECT {names} FROM held").fetchall(), key=repr)

    def files(self) -> list[str]:
        return sorted(path.name for path in Path(self.place.path).rglob("*.parquet") if "_delta_log" not in path.parts)


def read_by_library(sink: Sink) -> pa.Table:
    options = dict(sink.options)
    if sink.format == "delta":
        import deltalake

        return pa.table(deltalake.DeltaTable(options["path"]).to_pyarrow_table())
    from pyiceberg.catalog import load_catalog

    return load_catalog("here", type="sql", uri=options["uri"]).load_table(options["table"]).scan().to_arrow()


def numbers(*values: int) -> pa.Table:
    keys = pa.array([f"k{value % 2}" for value in values], pa.string())
    return pa.table({"k": keys, "n": pa.array(values, pa.int64())})


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_replaces_the_one_before_and_an_empty_one_all(tmp_path: Path, kind: str) -> None:
    table = Table(sink_of(kind, tmp_path, holds="answer"))
    for batch, values in enumerate([(), (1, 2), (3,), (), (4, 5, 6)]):
        table.commit(numbers(*values), batch, replace=True)
        assert table.rows() == sorted(zip([f"k{value % 2}" for value in values], values))
        assert table.commits.last_batch() == batch


@pytest.mark.parametrize("kind", KINDS)
def test_versions_that_are_old_enough_expire_with_their_files(tmp_path: Path, kind: str) -> None:
    for expire, left in (("7 days", 3), ("0 seconds", 1)):
        folder = tmp_path / expire.split()[0]
        folder.mkdir()
        table = Table(sink_of(kind, folder, holds="answer", expire=expire))
        for batch in range(3):
            table.commit(numbers(batch), batch, replace=True)
        assert table.rows() == [("k0", 2)] and len(table.files()) == left
        assert table.commits.last_batch() == 2
        table.commit(numbers(7), 3, replace=True)
        assert table.rows() == [("k1", 7)] and table_of(NO_SPARK, table.sink, "job-1")[0].last_batch() == 3


def test_an_expired_iceberg_table_keeps_few_files_of_its_own(tmp_path: Path) -> None:
    table = Table(sink_of("iceberg", tmp_path, expire="0 seconds"))
    for batch in range(5):
        table.commit(numbers(batch), batch)
    assert [row[1] for row in table.rows()] == [0, 2, 4, 1, 3] and len(table.files()) == 5
    assert len(list((tmp_path / "t" / "metadata").glob("snap-*.avro"))) == 1


def test_what_expires_badly_stops_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table = Table(sink_of("delta", tmp_path, expire="1 second"))

    class Broken:
        def __getattr__(self, name: str) -> Any:
            if name == "expire":
                raise OSError("the disk says no")
            return getattr(table.table, name)

    broken: LakeTable = Broken()  # type: ignore[assignment]
    table.commits = LakeCommits(broken, table.sink)
    table.commit(numbers(1), 0)
    assert table.rows() == [("k1", 1)] and "have not expired: the disk says no" in caplog.text


@pytest.mark.parametrize("kind", KINDS)
def test_partitions_hold_any_value(tmp_path: Path, kind: str) -> None:
    texts = ["a b", "a/b=c", "", None, "ünï%20", "x" * 200, "a b"]
    rows = pa.table({"k": texts, "n": pa.array(range(len(texts)), pa.int64())})
    table = Table(sink_of(kind, tmp_path, partitionBy="k"))
    table.commit(rows, 0)
    empty = None if kind == "delta" else ""  # Delta does not tell the empty text from NULL in partitions
    expected = [(empty if text == "" else text, number) for number, text in enumerate(texts)]
    assert table.rows() == sorted(expected, key=repr)
    with pytest.raises(SettingsError, match="is partitioned by k"):
        table.table.check(rows.schema, ())
    with pytest.raises(SettingsError, match="not partitioned by x, of type double"):
        LakeCommits(table.table, sink_of(kind, tmp_path, partitionBy="x")).check(pa.schema({"x": pa.float64()}))


def test_what_cannot_expire_is_refused(tmp_path: Path) -> None:
    for sink, told in (
        (Sink("csv", (("path", "x"), ("expire", "1 day"))), "csv has no old versions"),
        (Sink("delta", (("path", "x"), ("expire", "1 dya"))), "cannot be read"),
        (Sink("delta", (("path", "x"), ("roll", "1 minute"), ("holds", "answer"))), "has no files that roll"),
    ):
        with pytest.raises(SettingsError, match=told):
            check_options({"out": sink})
    assert Sink("delta").expire is None and Sink("delta", (("holds", "answer"),)).expire == "7 days"
    assert files_of(sink_of("delta", tmp_path, roll="1 hour"), place_of(str(tmp_path))).roll_us == 3_600_000_000
