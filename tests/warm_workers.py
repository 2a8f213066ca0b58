"""Spark's daemon that forks Python workers, with all loaded that a worker of Windrow needs: each then starts at once.

Spark itself loads nothing before it forks, since threads would not come along; jobs that tests kill, or run from the
command line, have Spark's own daemon.
"""

from __future__ import annotations

import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import windrow.spark.results
import windrow.spark.slice
import windrow.spark.slide_shard  # noqa: F401

if __name__ == "__main__":
    manager()
