"""A Spark that starts fast: tests start many JVMs, queries and workers, and give each little to do."""

from __future__ import annotations

import importlib.util
import os
import sys
from contextlib import suppress
from pathlib import Path

HOME = Path(sys.prefix) / "quick_spark"
"""A home of Spark without the archive of its Python code, from which each process would compile it anew: that takes
longer than all the rest of its start. Without one, processes load pyspark from where it is installed."""

CLASSES = HOME / "classes.jsa"
"""Spark's classes as a JVM has them in memory. `python tests/quick_spark.py` makes it, `make test` once."""

_QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"
SMALL_JVM = f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djdk.lang.Process.launchMechanism=VFORK {_QUIET}"

SHORT_LIVED = {
    "spark.driver.extraJavaOptions": f"{SMALL_JVM} -XX:SharedArchiveFile={CLASSES}" if CLASSES.exists() else SMALL_JVM,
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
}
"""A JVM that soon ends is not worth compiling well: this halves its work. It starts a process to change the mode of
each file that it writes to a checkpoint, so that this should be cheap, and there should be no second file with
checksums beside each; and if there is an archive of its classes, it need not read them."""


def use_installed_modules() -> None:
    """Have Spark's Python processes load pyspark from where it is installed."""
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None and spec.origin is not None
    HOME.mkdir(exist_ok=True)
    for part in ("bin", "jars"):
        with suppress(FileExistsError):
            (HOME / part).symlink_to(Path(spec.origin).parent / part)
    os.environ["SPARK_HOME"] = str(HOME)


def see_tests() -> None:
    """Let processes that are started from here import what lies beside this file."""
    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)


def keep_classes() -> None:
    """Run a small job in a JVM that writes down, when it ends, which classes it has loaded."""
    from tempfile import TemporaryDirectory

    import pyarrow as pa
    import pyarrow.parquet as pq

    import windrow
    from windrow.spark.settings import local_spark

    CLASSES.unlink(missing_ok=True)
    spark = local_spark(
        "local[2]", {"spark.driver.extraJavaOptions": f"{SMALL_JVM} -XX:ArchiveClassesAtExit={CLASSES}"}
    )
    with TemporaryDirectory() as folder:
        ticks = pa.table({"ts": pa.array(range(0, 10**8, 10**6), pa.timestamp("us", tz="UTC")), "x": range(100)})
        (Path(folder) / "in").mkdir()
        pq.write_table(ticks, f"{folder}/in/ticks.parquet")
        session = windrow.Session(spark, shards=2)
        session.stream("ticks", spark.readStream.schema("ts TIMESTAMP, x BIGINT").parquet(f"{folder}/in"), time="ts")
        sinks = {}
        for format in ("parquet", "csv", "json"):
            session.query(format, "SELECT SUM(x) AS total FROM ticks [RANGE 9 SECONDS SLIDE 3 SECONDS]")
            sinks[format] = windrow.sink(format, path=f"{folder}/{format}")
        session.start(f"{folder}/checkpoint", sinks, trigger="available now").wait()
        gateway = spark.sparkContext._gateway
        spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()


if __name__ == "__main__":
    see_tests()
    use_installed_modules()
    keep_classes()
