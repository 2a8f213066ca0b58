"""The JVM comes up while this process loads what it needs: each takes seconds, and neither needs the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from pyspark import SparkConf, SparkContext


def load_meanwhile(settings: Mapping[str, str], load: Callable[[], None]) -> None:
    """Start a JVM with `settings`, unless this process has one, and `load` until it is there.

    The thread that starts it only waits for it. The session is made by who asked for it: Spark knows by thread which
    session is the active one.
    """
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    with ThreadPoolExecutor(1, thread_name_prefix="windrow jvm") as threads:
        begun = threads.submit(SparkContext._ensure_initialized, conf=conf)
        load()
        begun.result()
