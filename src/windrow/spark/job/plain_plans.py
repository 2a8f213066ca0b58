"""Plans whose rows stay in Python run as they are: Spark writes and looks up no code for them.

Where tasks read files by name and write their rows themselves, the JVM only moves names, payloads and state: a few rows
a batch. Spark plans each batch anew, and writes the source code of its operators only to find it compiled already. That
is a tenth of the CPU of a small batch, and in the first one it is compiled as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from windrow.spark.settings import chosen_setting

SETTINGS = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}


@contextmanager
def without_code(spark: SparkSession, *, wanted: bool) -> Iterator[None]:
    """Let the query that is started in here run so: it keeps the settings of when it started, and only it has these.

    What somebody chose for the application or the session stays.
    """
    free = [name for name in SETTINGS if wanted and chosen_setting(spark, name) is None]
    free = [name for name in free if spark.conf.get(name, None) is None]
    for name in free:
        spark.conf.set(name, SETTINGS[name])
    try:
        yield
    finally:
        for name in free:
            spark.conf.unset(name)
