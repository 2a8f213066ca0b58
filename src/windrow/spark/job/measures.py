"""What differs each time a task runs: how long it took, what its worker had in memory. It crosses no shuffle.

Spark compares a task that runs again with its first run by a checksum of what it sent. Where they differ, it takes all
that was computed from it for wrong: it throws the stage away, and ends the job if the last stage has begun. So
durations and sizes are observed in the stage that measures them, and left out of what goes on to the next one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

METRICS = "windrow"
"""The observation that has the counts of a batch; those that only measure are called by it and their stage. Results
that may be the input of other queries are observed by another name: Spark takes each only once in a query."""

SLICE_MEASURES = ("scan_us", "slice_us", "events")
SLIDE_MEASURES = ("memory", "slide_us", "state_us", "state_read", "state_written")


def measured(rows: DataFrame, stage: str, measures: Sequence[str], metrics: str) -> DataFrame:
    """The rows of `stage` without their columns `measures`, which are added up on the side."""
    totals = (F.sum(name).alias(name) for name in measures)
    return rows.observe(f"{metrics} {stage}", *totals).drop(*measures)


def measured_ddl(ddl: str, measures: Sequence[str]) -> str:
    """The columns `ddl`, and those of `measures`.

    >>> measured_ddl("shard INT", ("slide_us",))
    'shard INT, slide_us BIGINT'
    """
    return ", ".join((ddl, *(f"{name} BIGINT" for name in measures)))


def total_measures(observed: Mapping[str, Any]) -> dict[str, int]:
    """What all stages of a batch have measured, from Spark's report of the batch."""
    totals = dict.fromkeys((*SLICE_MEASURES, *SLIDE_MEASURES), 0)
    for name, row in observed.items():
        if name.startswith(METRICS) and row is not None:
            for measure, value in row.asDict().items():
                if measure in totals:
                    totals[measure] += value or 0
    return totals
