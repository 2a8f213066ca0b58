"""All that a worker needs, loaded before workers are forked: each then starts at once, and they share its memory."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from runpy import run_module

from windrow.spark.workers.installed import without_archive
from windrow.spark.workers.python import DAEMONS

QUERY = """SELECT k, COUNT(*) AS n, SUM(i) AS s, SUM(x) AS t, AVG(x) AS a, MIN(i) AS low, MAX(x) AS high
           FROM ticks [RANGE 8 SECONDS SLIDE 2 SECONDS] GROUP BY k"""
"""What most queries ask. The loops that it needs are loaded from Numba's cache, or compiled, once for all workers."""

MODULES = (
    "pyspark.worker",
    "pyspark.sql.streaming.stateful_processor_util",
    "windrow.spark.sinks.outlets",
    "windrow.spark.sources.reading",
    "windrow.spark.stages.slice",
    "windrow.spark.stages.slide_shard",
)
"""The steps that run in workers, and what runs them."""


def load_all() -> None:
    """Load modules, and the compiled loops that most queries run."""
    _forget_jars()
    sys.path[:] = without_archive(sys.path)
    import numpy as np
    import pyarrow as pa

    from windrow.local.replay import replay

    for module in MODULES:
        import_module(module)
    draw = np.random.default_rng(1)
    ticks = pa.table(
        {
            "ts": pa.array(np.sort(draw.integers(0, 20_000_000, 60)), pa.timestamp("us", tz="UTC")),
            "k": pa.array(draw.choice(["a", "b"], 60)),
            "i": draw.integers(-9, 9, 60),
            "x": draw.normal(size=60),
        }
    )
    replay(QUERY, ticks=ticks, batch_rows=30, flush=True)
    gc.collect()
    gc.freeze()  # a worker collects garbage after every task, and need not look through all this


def be(module: str, arguments: Sequence[str]) -> None:
    """Be what Spark runs as the main module of a Python, with these arguments."""
    sys.argv = [module, *arguments]
    if module in DAEMONS:
        be_daemon()
    else:
        silent = os.open(os.devnull, os.O_WRONLY)  # it tells what it does, and answers at a socket
        os.dup2(silent, 1)
        os.close(silent)
        run_module(module, run_name="__main__")


def be_daemon() -> None:
    """Be Spark's daemon of workers, until its input ends."""
    from pyspark.daemon import manager

    for place in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        if place and place not in sys.path:
            sys.path.append(place)
    _forget_jars()
    manager()


def _forget_jars() -> None:
    """Take Spark's jar off the path: each worker would read its table of contents anew, and it holds no Python."""
    sys.path[:] = [place for place in sys.path if not place.endswith(".jar")]
    for place in [place for place in sys.path_importer_cache if place.endswith(".jar")]:
        del sys.path_importer_cache[place]
