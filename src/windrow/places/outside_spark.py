"""What Spark's settings of file systems would be, for a command that starts no Spark."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress

_HADOOP = "spark.hadoop."


def settings_outside_spark(options: Mapping[str, str] | None = None) -> dict[str, str]:
    """The settings `spark.hadoop.*` of spark-defaults.conf, without these words, and over them those of `options`.

    The file is where Spark would look for it: in SPARK_CONF_DIR, or in conf below SPARK_HOME. Credentials that are in
    neither are found in the environment, by the packages that reach the stores.
    """
    found = _defaults() | dict(options or {})
    return {name.removeprefix(_HADOOP): value for name, value in found.items() if name.startswith(_HADOOP)}


def _defaults() -> dict[str, str]:
    home = os.environ.get("SPARK_HOME")
    folder = os.environ.get("SPARK_CONF_DIR") or (os.path.join(home, "conf") if home else None)
    if folder is None:
        return {}
    said: dict[str, str] = {}
    with suppress(OSError), open(os.path.join(folder, "spark-defaults.conf"), encoding="utf-8") as file:
        for line in file:
            entry = re.fullmatch(r"(spark\.[^\s=:]+)(?:\s*[=:]\s*|\s+)(.*)", line.strip())
            if entry is not None:
                said[entry[1]] = entry[2].strip()
    return said
