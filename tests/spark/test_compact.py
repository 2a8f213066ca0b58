"""Small files become larger ones: no row is lost or doubled, wherever a run dies, and the newest batch stays."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from windrow.cli.main import app
from windrow.places.local_home import LocalHome
from windrow.spark.sinks import compact as compacting
from windrow.spark.sinks.compact import compact

from .streams import rows_of
from .test_staged_files import Killed, dying

JOB, OTHER = "0a1b2c3d-deadbeef", "99999999-deadbeef"


def write(folder: Path, batches: range, prefix: str = JOB, **columns: pa.Array) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for batch in batches:
        for shard in range(2):
            rows = pa.table({"batch": pa.array([batch], pa.int64()), "shard": pa.array([shard], pa.int32()), **columns})
            pq.write_table(rows, folder / f"{prefix}-{batch:09d}-{shard:05d}.snappy.parquet")


def places(folder: Path) -> list[tuple[int, int]]:
    return sorted((row["batch"], row["shard"]) for row in rows_of(folder))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_file())


def test_old_files_become_one_and_the_newest_batch_of_each_job_stays(tmp_path: Path):
    write(tmp_path, range(5))
    write(tmp_path, range(3), OTHER)
    (tmp_path / "a file of somebody else.parquet").write_bytes(b"")
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir() if "-000000004-" in path.name}
    told: list[str] = []
    assert compact(tmp_path, 10**8, None, told.append) == (8 + 4, 2)
    (tmp_path / "a file of somebody else.parquet").unlink()
    assert len(told) == 2 and "8 files" in told[0]
    assert names(tmp_path) == [
        f"{JOB}-000000000-000000003-00000.snappy.parquet",
        *(f"{JOB}-000000004-{shard:05d}.snappy.parquet" for shard in range(2)),
        f"{OTHER}-000000000-000000001-00000.snappy.parquet",
        *(f"{OTHER}-000000002-{shard:05d}.snappy.parquet" for shard in range(2)),
    ]
    assert all((tmp_path / name).stat().st_mtime_ns == at for name, at in before.items()) and len(before) == 2
    pairs = [(batch, shard) for batch in range(5) for shard in range(2)]
    assert places(tmp_path) == sorted(pairs + pairs[:6])
    write(tmp_path, range(5, 8))  # what was merged is merged again
    assert compact(tmp_path, 10**8, None, told.append) == (1 + 6, 1)
    assert f"{JOB}-000000000-000000006-00000.snappy.parquet" in names(tmp_path)
    assert compact(tmp_path, 10**8, None, told.append) == (0, 0)


def test_files_are_merged_within_their_folders_and_up_to_a_size(tmp_path: Path):
    for folder in ("k=a", "k=b"):
        write(tmp_path / folder, range(9))
    size = (tmp_path / "k=a" / f"{JOB}-000000000-00000.snappy.parquet").stat().st_size
    went, came = compact(tmp_path, 4 * size, None, lambda text: None)
    assert (went, came) == (32, 8) and places(tmp_path / "k=a") == places(tmp_path / "k=b")
    assert pq.read_table(tmp_path).num_rows == 36


@pytest.mark.parametrize("step", ["merge_into", "write_whole", "move", "delete"])
@pytest.mark.parametrize("after", [False, True])
def test_a_run_that_dies_anywhere_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, after: bool
):
    owner = LocalHome if step in ("move", "delete") else compacting
    for number in range(4):
        folder = tmp_path / str(number)
        write(folder, range(4))
        expected = places(folder)
        with monkeypatch.context() as patch:
            patch.setattr(owner, step, dying(getattr(owner, step), number, after))
            try:
                compact(folder, 10**8, None, lambda text: None)
            except Killed:
                assert set(places(folder)) == set(expected), "never is a row missing"
        compact(folder, 10**8, None, lambda text: None)
        assert places(folder) == expected and len(names(folder)) == 3
        assert os.listdir(folder / "_windrow") == ["compact.lock"]


def test_lines_of_text_keep_one_header(tmp_path: Path):
    for batch in range(4):
        text = f"batch,shard\n{batch},0\n".encode()
        (tmp_path / f"{JOB}-{batch:09d}-00000.csv.gz").write_bytes(gzip.compress(text))
    told = CliRunner().invoke(app, ["compact", str(tmp_path)])
    assert told.exit_code == 2 and "begin with the line 'batch,shard'" in told.stderr and "--header" in told.stderr
    done = CliRunner().invoke(app, ["compact", str(tmp_path), "--header"])
    assert done.exit_code == 0 and done.stdout.endswith("3 files are 1 now\n"), done.output
    merged = tmp_path / f"{JOB}-000000000-000000002-00000.csv.gz"
    assert gzip.decompress(merged.read_bytes()) == b"batch,shard\n0,0\n1,0\n2,0\n"


def test_what_cannot_be_compacted_is_named_and_nothing_is_changed(tmp_path: Path):
    gone = CliRunner().invoke(app, ["compact", str(tmp_path / "nowhere")])
    assert gone.exit_code == 2 and "there is no folder" in gone.stderr
    write(tmp_path / "out", range(2))
    write(tmp_path / "out", range(2, 4), extra=pa.array([1.5]))
    before = names(tmp_path / "out")
    refused = CliRunner().invoke(app, ["compact", str(tmp_path / "out")])
    odd = tmp_path / "out" / f"{JOB}-000000002-00000.snappy.parquet"
    assert refused.exit_code == 2 and f"{odd} has extra double where" in refused.stderr
    assert "has no column: files of two schemas cannot be one" in refused.stderr
    assert names(tmp_path / "out") == before
    size = CliRunner().invoke(app, ["compact", str(tmp_path / "out"), "--size", "many"])
    assert size.exit_code == 2 and "--size many is no size" in size.stderr
    (tmp_path / "out" / f"{JOB}-000000000-00000.snappy.parquet").write_bytes(b"half a file")
    torn = CliRunner().invoke(app, ["compact", str(tmp_path / "out")])
    assert torn.exit_code == 2 and "000000000-00000.snappy.parquet cannot be read as parquet" in torn.stderr


@pytest.mark.parametrize(("log", "kind"), [("_delta_log", "Delta"), ("metadata", "Iceberg")])
def test_a_table_of_a_lake_is_refused_by_its_kind(tmp_path, log, kind):
    """It says itself which files are of it: merged ones would not be among them."""
    write(tmp_path / "table", range(3))
    (tmp_path / "table" / log).mkdir()
    before = names(tmp_path / "table")
    refused = CliRunner().invoke(app, ["compact", str(tmp_path / "table")])
    assert refused.exit_code == 2 and f"is a table of {kind}" in refused.stderr
    assert names(tmp_path / "table") == before
