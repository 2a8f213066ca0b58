"""A Spark that starts fast: tests start many JVMs, queries and workers, and give each little to do."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

SHORT_LIVED = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""A JVM that soon ends is not worth compiling well: this halves its work."""

WARM = {"spark.python.daemon.module": "warm_workers"}
"""Workers come from a daemon that has loaded what they need."""


def use_installed_modules(home: Path) -> None:
    """Have Spark's Python processes load pyspark from where it is installed.

    From the archive in Spark's home each process would compile it anew, which takes longer than all the rest of its
    start. So they get a home without one.
    """
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None and spec.origin is not None
    for part in ("bin", "jars"):
        (home / part).symlink_to(Path(spec.origin).parent / part)
    os.environ["SPARK_HOME"] = str(home)


def see_tests() -> None:
    """Let processes that are started from here import what lies beside this file."""
    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
