"""One Spark session for all tests that need Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    from windrow.spark.settings import local_spark

    session = local_spark("local[2]")
    yield session
    session.stop()
