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
SMALL_JVM += " -XX:ReservedCodeCacheSize=240m"
"""A JVM that compiles no better than this has 48 MB for what it has compiled. A suite fills that within minutes, and it
then throws code away, compiles it again, and for the rest of the time does all of it slower."""

QUICK_JVM = f"{SMALL_JVM} -XX:SharedArchiveFile={CLASSES}" if CLASSES.exists() else SMALL_JVM

SHORT_LIVED = {
    "spark.driver.extraJavaOptions": f"{QUICK_JVM} -Xmn400m",
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""A JVM that soon ends is not worth compiling well, nor are the plans of queries over few rows: this halves its work.
It starts a process to change the mode of each file that it writes to a checkpoint, so that this should be cheap, and
there should be no second file with checksums beside each; and if there is an archive of its classes, it need not read
them."""


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


if __name__ == "__main__":
    see_tests()
    use_installed_modules()
    from windrow.cli.warm import run_small_job
    from windrow.spark.quick_jvm import keep_classes

    keep_classes(CLASSES, run_small_job, SMALL_JVM)
