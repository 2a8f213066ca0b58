"""Tables of lakes, without Spark: a commit notes its batch, and what does not fit is refused."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from windrow.errors import SettingsError
from windrow.places.object_home import ObjectHome
from windrow.places.place import Place
from windrow.spark.sinks.delta_storage import delta_address
from windrow.spark.sinks.iceberg_storage import iceberg_address
from windrow.spark.sinks.lake import LakeFile

ROWS = pa.table(
    {"w": pa.array([1, 2], pa.timestamp("us", "UTC")), "k": ["a b", "a b"], "n": pa.array([1, 2], pa.int64())}
)


def written(folder: Path, name: str, rows: pa.Table, values: dict[str, str | None] | None = None) -> LakeFile:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows, path)
    return LakeFile(str(path), name, path.stat().st_size, rows.num_rows, values or {})


def test_a_delta_table_notes_the_batch_with_its_files(tmp_path: Path) -> None:
    deltalake = pytest.importorskip("deltalake")
    from windrow.spark.sinks.delta_table import DeltaLog

    log = DeltaLog(str(tmp_path / "t"), "job-1")
    assert log.last_batch() == -1
    log.check(ROWS.schema, ("k",))
    file = written(tmp_path / "t", "k=a b/0.parquet", ROWS.drop_columns(["k"]), {"k": "a b"})
    log.commit([file], ROWS.schema, ("k",), 5, replace=False)
    assert log.last_batch() == 5 and DeltaLog(str(tmp_path / "t"), "other").last_batch() == -1
    table = deltalake.DeltaTable(str(tmp_path / "t"))
    assert pa.table(table.to_pyarrow_table()).select(["w", "k", "n"]).to_pylist() == ROWS.to_pylist()
    with pytest.raises(SettingsError, match=r"do not fit the table .*column 3 is n"):
        log.check(pa.schema([*list(ROWS.schema)[:2], ("n", pa.string())]), ("k",))
    with pytest.raises(SettingsError, match="is partitioned by k"):
        log.check(ROWS.schema, ())


def test_an_iceberg_table_notes_the_batch_with_its_files(tmp_path: Path) -> None:
    pytest.importorskip("pyiceberg")
    pytest.importorskip("sqlalchemy")
    from windrow.spark.sinks.iceberg_table import IcebergTable

    options = {
        "catalog": "here",
        "table": "db.sums",
        "path": str(tmp_path / "t"),
        "type": "sql",
        "uri": f"sqlite:///{tmp_path}/catalog.db",
        "warehouse": f"file://{tmp_path}/warehouse",
    }
    with pytest.raises(SettingsError, match="nothing says where its files would go"):
        IcebergTable({key: value for key, value in options.items() if key != "path"}, "m").folder  # noqa: B018
    table = IcebergTable(options, "job-1")
    assert table.last_batch() == -1 and table.folder == f"{tmp_path}/t/data"
    table.commit([written(tmp_path / "t" / "data", "0.parquet", ROWS)], ROWS.schema, (), 5, replace=False)
    again = IcebergTable(options, "job-1")
    assert again.last_batch() == 5 and IcebergTable(options, "job-2").last_batch() == -1
    assert again.folder == f"file://{tmp_path}/t/data"
    again.commit([written(tmp_path / "t" / "data", "1.parquet", ROWS)], ROWS.schema, (), 6, replace=False)
    assert sorted(again._found().scan().to_arrow()["n"].to_pylist()) == [1, 1, 2, 2]
    again.check(ROWS.schema, ())
    with pytest.raises(SettingsError, match=r"do not fit the table db\.sums"):
        again.check(ROWS.schema.remove(2), ())
    with pytest.raises(SettingsError, match="is partitioned by nothing"):
        again.check(ROWS.schema, ("k",))
    with pytest.raises(SettingsError, match="cannot be opened"):
        IcebergTable(options | {"type": "nothing"}, "m")


def test_a_table_elsewhere_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"gs://bucket/t is not written: it may be on this machine or in S3"):
        iceberg_address("gs://bucket/t")
    with pytest.raises(SettingsError, match=r"gs://bucket/t is not written: it may be on this machine or in S3"):
        delta_address(Place(ObjectHome("gs", "gs", "gs"), "bucket/t"))
