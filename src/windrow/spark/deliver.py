"""A batch's results to their sinks: computed once, written by several at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from pyspark.sql import DataFrame

from windrow.plan.change_plan import ChangePlan
from windrow.plan.pipeline import QueryPlan
from windrow.spark.results import typed_results
from windrow.spark.sinks import Writer

AT_ONCE = 4
"""So many sinks are written at a time: most of what a small one costs is waiting for Spark to begin."""


def deliver(
    batch: DataFrame, number: int, queries: Sequence[QueryPlan | ChangePlan], writers: Mapping[str, Writer]
) -> None:
    """Write the rows of each of `queries` in `batch`; who has none is not bothered, unless its writer wants to be."""
    present = {row["query"] for row in batch.select("query").collect()}  # a few rows a shard: no shuffle for these
    due = [query for query in queries if query.name in present or writers[query.name].takes_empty]

    def write(query: QueryPlan | ChangePlan) -> None:
        writers[query.name].write(typed_results(batch, query), number)

    at_once = [query for query in due if not writers[query.name].takes_empty]
    with ThreadPoolExecutor(min(AT_ONCE, max(1, len(at_once)))) as pool:
        list(pool.map(write, at_once))
    for query in due:
        if writers[query.name].takes_empty:
            write(query)
