"""Spark's daemon that forks Python workers, with all loaded that a worker of Windrow needs: each then starts at once.

Spark itself loads nothing before it forks, since threads would not come along; jobs that are run from the command line
have Spark's own daemon.
"""

from __future__ import annotations

import gc
import sys

import numpy as np
import pyarrow as pa
import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import windrow
import windrow.spark.sinks.results
import windrow.spark.stages.slice
import windrow.spark.stages.slide_shard

QUERY = """SELECT k, COUNT(*) AS n, SUM(i) AS s, SUM(x) AS t, AVG(x) AS a, MIN(i) AS low, MAX(x) AS high, FIRST(i) AS f,
                  STDDEV(x) AS d
           FROM ticks [RANGE 8 SECONDS SLIDE 2 SECONDS] GROUP BY k"""


def forget_jars() -> None:
    """Take Spark's jar off the path: each worker would read its table of contents anew, and it holds no Python."""
    sys.path[:] = [place for place in sys.path if not place.endswith(".jar")]
    for place in [place for place in sys.path_importer_cache if place.endswith(".jar")]:
        del sys.path_importer_cache[place]


def load_compiled() -> None:
    """Have the loops that most queries run, which each worker would load from disk by itself."""
    draw = np.random.default_rng(1)
    ticks = pa.table(
        {
            "ts": pa.array(np.sort(draw.integers(0, 20_000_000, 60)), pa.timestamp("us", tz="UTC")),
            "k": pa.array(draw.choice(["a", "b", None], 60)),
            "i": draw.integers(-9, 9, 60),
            "x": draw.normal(size=60),
        }
    )
    windrow.replay(QUERY, ticks=ticks, batch_rows=30, flush=True)


if __name__ == "__main__":
    forget_jars()
    load_compiled()
    gc.freeze()  # a worker collects garbage after every task, and need not look through all this
    manager()
