"""What Spark itself does not bring: connectors, as jars that were fetched once, or by the names that Maven knows."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

from windrow.errors import SettingsError

_SCALA = "2.13"
COORDINATES = {
    "kafka": f"org.apache.spark:spark-sql-kafka-0-10_{_SCALA}:{{spark}}",
    "avro": f"org.apache.spark:spark-avro_{_SCALA}:{{spark}}",
    "postgresql": "org.postgresql:postgresql:42.7.8",
}
"""The packages that can be asked for, and where Spark finds them where their jars are not here."""

_JARS, _PACKAGES = "spark.jars", "spark.jars.packages"


def fetched_jars(package: str) -> list[str]:
    """The jars of a package that `make setup` has fetched, if any."""
    return sorted(str(path) for path in (Path(sys.prefix) / "jars" / package).glob("*.jar"))


def with_packages(
    options: Mapping[str, str], packages: Iterable[str], *, fetched: Iterable[str] = ()
) -> dict[str, str]:
    """Options of Spark with which it has `packages`, and those of `fetched` whose jars are here.

    >>> with_packages({}, ["kafak"])
    Traceback (most recent call last):
    windrow.errors.SettingsError: there is no package 'kafak': kafka, avro, postgresql
    """
    asked = list(dict.fromkeys(packages))
    unknown = [name for name in asked if name not in COORDINATES]
    if unknown:
        raise SettingsError(f"there is no package {unknown[0]!r}: {', '.join(COORDINATES)}")
    jars, named = [], []
    for name in dict.fromkeys((*asked, *fetched)):
        found = fetched_jars(name)
        jars += found
        if not found and name in asked:
            named.append(COORDINATES[name].format(spark=version("pyspark")))
    more = {_JARS: jars, _PACKAGES: named}
    return dict(options) | {
        key: ",".join([*filter(None, [options.get(key)]), *values]) for key, values in more.items() if values
    }
