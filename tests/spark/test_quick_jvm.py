"""A JVM that finds its classes in a file: where the file is, who may say otherwise, and how it is made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from windrow.errors import SettingsError
from windrow.spark.quick_jvm import OPTIONS, PATIENT, class_archive, keep_classes, quick_options


def test_classes_are_kept_for_a_user_a_java_and_a_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = class_archive()
    assert first.parent == tmp_path / "windrow" and first == class_archive()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "another java"))
    second = class_archive()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "another spark"))
    assert len({first, second, class_archive()}) == 3


def test_a_file_of_classes_is_used_where_there_is_one_and_nobody_chose_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert quick_options({}) == {OPTIONS: PATIENT}
    class_archive().parent.mkdir()
    class_archive().write_bytes(b"classes")
    assert f"-XX:SharedArchiveFile={class_archive()}" in quick_options({})[OPTIONS]
    assert quick_options({OPTIONS: "-Xss8m"}) == {}


@pytest.mark.slow
def test_a_spark_that_runs_keeps_no_classes(spark: SparkSession, tmp_path: Path):
    with pytest.raises(SettingsError, match="this process has a Spark already"):
        keep_classes(tmp_path / "classes", lambda _: None)


@pytest.mark.slow
def test_warm_makes_a_file_that_a_jvm_takes(tmp_path: Path):
    """The JVM is told to end where it cannot take it."""
    seen = {name: value for name, value in os.environ.items() if name != "SPARK_HOME"}
    seen["XDG_CACHE_HOME"] = str(tmp_path)
    told = subprocess.run(
        [sys.executable, "-m", "windrow.cli.main", "warm", "--quick"], env=seen, check=False, capture_output=True
    )
    assert told.returncode == 0 and b"classes are kept" in told.stdout
    (archive,) = (tmp_path / "windrow").iterdir()
    program = f"""if True:
        from windrow.spark.settings import local_spark
        spark = local_spark("local[1]", {{{OPTIONS!r}: "-Xshare:on -XX:SharedArchiveFile={archive}"}})
        print(spark.range(3).count())"""
    answered = subprocess.run([sys.executable, "-c", program], env=seen, check=False, capture_output=True, text=True)
    assert answered.stdout.strip() == "3", answered.stderr[-2000:]
