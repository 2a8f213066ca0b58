"""One Spark session a process for all tests that need Spark."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from quick_spark import SHORT_LIVED, WARM, see_tests, use_installed_modules

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


LONGEST = ("test_kill.py", "test_maintenance.py", "test_changes.py", "test_replay.py", "test_arrival_time.py")
LONGEST += ("test_command_run.py", "test_change_queries.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that no process ends long before the other."""
    last = len(LONGEST)
    order = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: (order.get(item.path.name, last), item.path.parent.name != "spark"))


@pytest.fixture(scope="session", autouse=True)
def quick_processes() -> None:
    """What tests start by themselves starts fast, too."""
    see_tests()
    if "SPARK_HOME" not in os.environ:
        use_installed_modules()


@pytest.fixture(scope="session")
def spark(quick_processes: None) -> Iterator[SparkSession]:
    from windrow.spark.settings import local_spark

    session = local_spark("local[2]", SHORT_LIVED | WARM)
    yield session
    session.stop()
