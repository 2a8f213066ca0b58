"""Spark Connect: a session whose Spark is a server elsewhere."""

from __future__ import annotations

from typing import Any

from windrow.errors import SettingsError


def refuse_connect(spark: Any) -> None:
    """Refuse a session that talks to a Spark Connect server: it has no JVM, and no context, of its own."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        raise SettingsError(
            "Windrow does not run on Spark Connect yet\nhint: SparkSession.builder.master(...) instead of remote(...)"
        )
