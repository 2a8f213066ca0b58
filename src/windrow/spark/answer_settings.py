"""Settings of Spark's under which its functions give other answers than ours."""

from __future__ import annotations

from pyspark.sql import SparkSession

_SETTINGS = {
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.legacy.sizeOfNull": "true",
    "spark.sql.jsonGenerator.ignoreNullFields": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.parser.escapedStringLiterals": "false",
}
"""What they are where nobody has asked for anything else."""


def unlike_ours(spark: SparkSession) -> str | None:
    """The first setting that makes Spark's answers others than those of `windrow.expressions`, if there is one."""
    for name, ours in _SETTINGS.items():
        given = spark.conf.get(name, ours) or ours
        if given.upper() != ours.upper():
            return f"{name} is {given}"
    return None
