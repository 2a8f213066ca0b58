"""A JVM that is up early: Spark's classes kept in a file as a JVM has them in memory, and less compiling at first."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from windrow.errors import SettingsError

OPTIONS = "spark.driver.extraJavaOptions"

PATIENT = (
    "-XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000 -XX:Tier4CompileThreshold=150000"
    " -XX:Tier4BackEdgeThreshold=400000 -XX:+IgnoreUnrecognizedVMOptions"
)
"""Code is compiled well only where it runs often: in the first seconds of a JVM the compiler would take the time of
what it compiles."""

QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"
"""A file of classes that does not fit this JVM is passed over without a word: it starts slower, and is right."""


def class_archive() -> Path:
    """Where the classes of this Java and this Spark are kept, for this user."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "windrow"
    spark = os.environ.get("SPARK_HOME") or os.path.dirname(pyspark.__file__)
    made_of = "\n".join((_java(), os.path.realpath(spark), pyspark.__version__))
    return home / f"classes-{hashlib.sha256(made_of.encode()).hexdigest()[:16]}.jsa"


def _java() -> str:
    """The Java that Spark starts."""
    home = os.environ.get("JAVA_HOME")
    found = os.path.join(home, "bin", "java") if home else shutil.which("java")
    return os.path.realpath(found) if found else ""


def quick_options(chosen: dict[str, str]) -> dict[str, str]:
    """Options for the JVM of a Spark on this machine; whoever `chose` some has those alone."""
    if OPTIONS in chosen:
        return {}
    archive = class_archive()
    return {OPTIONS: f"{PATIENT} {QUIET} -XX:SharedArchiveFile={archive}" if archive.exists() else PATIENT}


def keep_classes(archive: Path, run: Callable[[SparkSession], None], options: str = PATIENT) -> None:
    """Have a JVM `run` a job, and write to `archive`, when it ends, which classes it has loaded."""
    from windrow.spark.settings import local_spark

    if SparkSession.getActiveSession() is not None:
        raise SettingsError("classes are kept by a JVM of its own, and this process has a Spark already")
    archive.parent.mkdir(parents=True, exist_ok=True)
    written = archive.with_name(f"{archive.name}.{os.getpid()}")
    spark = local_spark("local[2]", {OPTIONS: f"{options} {QUIET} -XX:ArchiveClassesAtExit={written}"})
    try:
        run(spark)
        _end(spark)
        with suppress(FileNotFoundError):  # a JVM that cannot do this has written none
            written.replace(archive)
    finally:
        written.unlink(missing_ok=True)


def _end(spark: SparkSession) -> None:
    """End the JVM in good order, and wait until it is gone."""
    gateway = spark.sparkContext._gateway
    spark.stop()
    assert gateway is not None
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()
