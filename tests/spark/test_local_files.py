"""Files on a local disk: Spark writes them without starting a process for each."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from windrow.spark.local_files import wait_for_names, write_without_processes

from .streams import until


def modes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o7777 for path in folder.rglob("*")}


def test_all_of_a_spark_writes_by_itself_and_gives_files_the_rights_they_had(spark: SparkSession, tmp_path: Path):
    jvm: Any = spark.sparkContext._jvm
    hadoop, settings = jvm.org.apache.hadoop, spark.sparkContext._jsc.hadoopConfiguration()
    until(lambda: hadoop.fs.FileSystem.getLocal(settings).getClass().getName() == "windrow.LocalFiles")
    own, other = hadoop.fs.FileSystem.getLocal(settings), hadoop.fs.FileSystem.newInstanceLocal(settings)
    assert other.getClass().getName() != "windrow.LocalFiles"
    for name, system in (("own", own), ("other", other)):
        at = str(tmp_path / name)
        system.mkdirs(hadoop.fs.Path(at))
        system.create(hadoop.fs.Path(f"{at}/plain")).close()
        for bits in (0o640, 0o1777):
            system.create(hadoop.fs.Path(f"{at}/{bits:o}")).close()
            system.setPermission(hadoop.fs.Path(f"{at}/{bits:o}"), hadoop.fs.permission.FsPermission(f"{bits:o}"))
    assert modes(tmp_path / "own") == modes(tmp_path / "other")
    assert modes(tmp_path / "own")["640"] == 0o640


def test_files_are_listed_by_name_whatever_the_disk_says(spark: SparkSession, tmp_path: Path):
    wait_for_names()
    names = [f"{(number * 37) % 101:03}.txt" for number in range(100)]
    for name in names:
        (tmp_path / name).touch()
    jvm: Any = spark.sparkContext._jvm
    hadoop, settings = jvm.org.apache.hadoop, spark.sparkContext._jsc.hadoopConfiguration()
    listed = hadoop.fs.FileSystem.getLocal(settings).listStatus(hadoop.fs.Path(str(tmp_path)))
    assert [each.getPath().getName() for each in listed] == sorted(names)


@pytest.mark.parametrize("chosen", [None, "org.apache.hadoop.fs.RawLocalFileSystem"])
def test_where_it_cannot_be_all_is_as_it_was(chosen: str | None):
    settings = SimpleNamespace(get=lambda name: chosen)
    jvm = SimpleNamespace(org=SimpleNamespace(codehaus=SimpleNamespace(janino=SimpleNamespace(SimpleCompiler="none"))))
    context = SimpleNamespace(_jvm=jvm, _jsc=SimpleNamespace(hadoopConfiguration=lambda: settings))
    assert not write_without_processes(SimpleNamespace(sparkContext=context))  # type: ignore[arg-type]
