"""One Spark session a process for all tests that need Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


LONGEST = ("test_kill.py", "test_changes.py", "test_arrival_time.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that no process ends long before the other."""
    items.sort(key=lambda item: (item.path.name not in LONGEST, item.path.parent.name != "spark"))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    from windrow.spark.settings import local_spark

    quick = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}  # for a short life
    session = local_spark("local[2]", quick)
    yield session
    session.stop()
