"""What a Spark on a cluster is given where nobody chose otherwise: shards that may move, and JVMs that compile less."""

from __future__ import annotations

from collections.abc import Mapping

from windrow.spark.quick_jvm import PATIENT, quick_options

EXECUTORS = "spark.executor.extraJavaOptions"

MOVING = {"spark.locality.wait": "200ms", "spark.scheduler.revive.interval": "200ms"}
"""A shard whose executor has other work moves after this time to one that has none: it costs one reading of its state.

Spark waits for three seconds. The first executor that is up is given all shards of the first batch, and one that comes
back after a kill finds none that wait for it: with Spark's patience that stays so for as long as batches are short, and
the executor beside it has nothing to slide. Spark looks whether the time is over as often as the second setting says.
"""


def cluster_options(chosen: Mapping[str, str]) -> dict[str, str]:
    """Options for a Spark whose executors are elsewhere; whoever has `chosen` some has those.

    The driver's JVM is on this machine, and its classes are kept here; of executors nobody knows.

    >>> cluster_options({"spark.driver.extraJavaOptions": "-Xss8m"})["spark.locality.wait"]
    '200ms'
    """
    return {**MOVING, EXECUTORS: PATIENT, **quick_options(dict(chosen))}
