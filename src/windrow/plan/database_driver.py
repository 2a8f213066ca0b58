"""The driver of a database: Java finds one by itself among the classes it began with, not among Spark's jars."""

from __future__ import annotations

from collections.abc import Mapping

DRIVERS = {
    "postgresql": "org.postgresql.Driver",
    "mysql": "com.mysql.cj.jdbc.Driver",
    "mariadb": "org.mariadb.jdbc.Driver",
    "sqlserver": "com.microsoft.sqlserver.jdbc.SQLServerDriver",
    "oracle": "oracle.jdbc.OracleDriver",
}


def with_driver(options: Mapping[str, str]) -> dict[str, str]:
    """The options of a table, and the class of its driver where it is known and nobody has named one.

    >>> with_driver({"url": "jdbc:postgresql://host/app"})["driver"]
    'org.postgresql.Driver'
    """
    lowered = {name.lower(): value for name, value in options.items()}
    kind = lowered.get("url", "").removeprefix("jdbc:").partition(":")[0]
    return dict(options) | ({"driver": DRIVERS[kind]} if kind in DRIVERS and "driver" not in lowered else {})
