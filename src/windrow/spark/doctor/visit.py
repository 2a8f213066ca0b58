"""A small job that visits every executor: tasks that take a moment, until each has done one."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from windrow.errors import SettingsError
from windrow.spark.doctor import examine
from windrow.spark.doctor.trial_places import Trial
from windrow.spark.workers.load import MODULES

PAUSE = 0.3
"""So many seconds a task waits, in which the others go elsewhere."""

ROUNDS = 5


@dataclass(slots=True)
class Visits:
    """What executors told, by their names, and what Spark told of one whose Python did not run."""

    executors: dict[str, dict[str, Any]] = field(default_factory=dict)
    failure: str | None = None


def visit_executors(spark: SparkSession, trials: Sequence[Trial], patience: float) -> Visits:
    """Have every executor examined. If none takes a task for `patience` seconds, that is an error."""
    asked = [trial.asked() for trial in trials]
    visits = Visits()
    for turn in range(ROUNDS):
        try:
            told = _visited(spark, asked, patience)
        except _NobodyError:
            raise SettingsError(
                f"no executor has taken a task for {patience:.0f} seconds\nhint: see on the page of the master whether"
                " it has workers with free cores and memory; spark.executor.memory, spark.executor.cores and"
                " spark.cores.max say how much is asked of them"
            ) from None
        except Exception as error:
            visits.failure = told_failure(str(error)) or str(error).splitlines()[0]
            return visits
        for one in told:
            _join(visits.executors, one)
        if turn and len(visits.executors) >= _known(spark):
            break
    return visits


def _visited(spark: SparkSession, places: list[dict[str, Any]], patience: float) -> list[dict[str, Any]]:
    pickling: Any = cloudpickle
    pickling.register_pickle_by_value(examine)
    tired = threading.Event()
    watch = threading.Timer(patience, _interrupt, (spark, tired))
    watch.daemon = True
    watch.start()
    try:
        task = F.udf(examine.examination(MODULES, places, PAUSE), "string", useArrow=False)
        java = F.expr("reflect('java.lang.System', 'getProperty', 'java.version')")
        tasks = 2 * max(_parallel(spark), _known(spark))
        begin = time.time()
        rows = spark.range(0, tasks, 1, tasks).select(java.alias("java"), task("id").alias("told")).collect()
        end = time.time()
    except Exception as error:
        if tired.is_set():
            raise _NobodyError from error
        raise
    finally:
        watch.cancel()
        pickling.unregister_pickle_by_value(examine)
    told = [json.loads(row.told) | {"java": row.java} for row in rows]
    for one in told:  # its clock is ahead of ours by something between these two
        one["ahead"] = (one["time"] - end, one["time"] - begin)
    return told


def _join(executors: dict[str, dict[str, Any]], told: dict[str, Any]) -> None:
    """Note what an executor told; of its clock what is known by all its tasks together."""
    name = f"{told['host']}/{told['executor']}"
    before = executors.get(name)
    if before is not None:
        (low, high), (lower, higher) = told["ahead"], before["ahead"]
        told["ahead"] = (max(low, lower), min(high, higher))
        told["places"] = {place: before["places"].get(place) or why for place, why in told["places"].items()}
    executors[name] = told


def told_failure(text: str) -> str | None:
    """What Spark says of an executor on which Python did not run: which one, and why.

    >>> told_failure("Lost task 1.3 in stage 0.0 (TID 7) (10.0.0.4 executor 2): java.io.IOException: Cannot run"
    ...              " program \\"./environment/bin/python\\": error=2, No such file or directory")
    'executor 2 on 10.0.0.4: its Python does not start: ./environment/bin/python: error=2, No such file or directory'
    """
    lost = re.search(r"\(TID \d+\) \((\S+) executor (\S+)\): (.*)", text, re.DOTALL)
    if lost is None:
        return None
    host, executor, rest = lost.groups()
    here = f"executor {executor} on {host}"
    program = re.search(r'Cannot run program "([^"]*)"[^:]*: ([^\n]*)', rest)
    if program is not None:
        return f"{here}: its Python does not start: {program[1]}: {program[2]}"
    other = re.search(r"Python in worker has different version[: (]*([\d.]+)", rest)
    if other is not None:
        ours = f"{sys.version_info.major}.{sys.version_info.minor}"
        return f"{here}: it has Python {other[1]}, and the driver {ours}"
    module = re.findall(r"ModuleNotFoundError: ([^\n]*)|No module named ([^\n]*)", rest)
    if module:
        said = module[0][0] or f"No module named {module[0][1]}"
        return f"{here}: its Python lacks what is needed: {said}"
    return f"{here}: {rest.strip().splitlines()[0]}"


def _parallel(spark: SparkSession) -> int:
    """How many tasks run at once, as Spark cuts what it is not told how to cut; it has no context to ask by Connect."""
    try:
        return int(spark.sparkContext.defaultParallelism)
    except Exception:
        return int(spark.range(10_000).select(F.spark_partition_id()).distinct().count())


def _known(spark: SparkSession) -> int:
    """How many executors there are, as far as can be told from here."""
    try:
        infos = spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
        return max(1, len(infos) - 1)  # the driver is among them
    except Exception:
        return 1


def _interrupt(spark: SparkSession, tired: threading.Event) -> None:
    tired.set()
    try:
        spark.sparkContext.cancelAllJobs()
    except Exception:
        spark.interruptAll()


class _NobodyError(Exception):
    """No executor has taken a task for so long."""
