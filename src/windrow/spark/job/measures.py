"""What differs each time a task runs: how long it took, what its worker had in memory. It crosses no shuffle.

Spark compares a task that runs again with its first run by a checksum of what it sent. Where they differ, it takes all
that was computed from it for wrong: it throws the stage away, and ends the job if the last stage has begun. So
durations and sizes are observed in the stage that measures them, and left out of what goes on to the next one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

METRICS = "windrow"
"""The observation that has the counts of a batch; those that only measure are called by it and their stage. Results
that may be the input of other queries are observed by another name: Spark takes each only once in a query."""

SEEN, HEAVIEST, GROUPINGS, TOOK = "seen", "heaviest", "groupings", "took"
TEXTS = (SEEN, HEAVIEST, GROUPINGS, TOOK)
"""Measures that are JSON: what a map task has seen in passing, the groups of a shard with most events, how many
groups there are of each grouping, and what each query took, in microseconds, of a stage that another one follows."""

SLICE_MEASURES = ("scan_us", "slice_us", "events", SEEN)
SHARD_MEASURES = (
    "number", "slide_us", "state_us", "received", "arrived", "memory", "held", "state_written", "moved", HEAVIEST,
    GROUPINGS, TOOK,
)  # fmt: skip
SLIDE_MEASURES = (*SHARD_MEASURES, "state_read", "ran")
"""`received` are bytes of payloads, `arrived` the events that they stand for, `held` the groups of all windows;
all but those of TEXTS are numbers; `moved` is 1 where a shard had to be
read, since another worker ran it last; `ran` is 1 in the one row of a shard that carries its measures."""
Observed = dict[str, dict[str, Any]]
"""What was observed of a batch: values by their name, by the name of the observation."""

BY_SHARD = "by_shard"
"""What is observed of each shard."""


def measured(rows: DataFrame, stage: str, measures: Sequence[str], metrics: str) -> DataFrame:
    """The rows of `stage` without their columns `measures`, which are added up on the side."""
    totals = [F.sum(name).alias(name) for name in summed(measures)]
    each = [by_shard()] if "ran" in measures else [F.collect_list(F.when(F.col(SEEN) != "", F.col(SEEN))).alias(SEEN)]
    return rows.observe(f"{metrics} {stage}", *totals, *each).drop(*measures)


def summed(measures: Sequence[str]) -> list[str]:
    """Those of `measures` that are numbers."""
    return [name for name in measures if name not in TEXTS]


def by_shard() -> Column:
    """What each shard has measured, as a list."""
    measures = F.struct(*SHARD_MEASURES)
    return F.collect_list(F.when(F.col("ran") == 1, measures)).alias(BY_SHARD)


def measured_ddl(ddl: str, measures: Sequence[str]) -> str:
    """The columns `ddl`, and those of `measures`.

    >>> measured_ddl("shard INT", ("slide_us",))
    'shard INT, slide_us BIGINT'
    """
    return ", ".join((ddl, *(f"{name} {'STRING' if name in TEXTS else 'BIGINT'}" for name in measures)))


def total_measures(observed: Observed) -> dict[str, int]:
    """What all stages of a batch have measured."""
    totals = dict.fromkeys(summed((*SLICE_MEASURES, *SLIDE_MEASURES)), 0)
    for values in observed.values():
        for measure, value in values.items():
            if measure in totals:
                totals[measure] += value or 0
    return totals


def shard_measures(observed: Observed) -> list[dict[str, Any]]:
    """What each shard has measured in each stage of a batch."""
    return [dict(shard) for values in observed.values() for shard in values.get(BY_SHARD) or ()]


def seen_by_tasks(observed: Observed) -> list[dict[str, Any]]:
    """What the map tasks of a batch have seen in passing."""
    return [json.loads(seen) for values in observed.values() for seen in values.get(SEEN) or ()]


def added_up(shards: Sequence[Mapping[str, Any]], counts: Sequence[str]) -> dict[str, Any]:
    """What Spark would observe of all shards of the last stage, from what each of them tells.

    >>> shard = dict.fromkeys(("clock", "late", *SLIDE_MEASURES), 1) | {"alone": 0, "shared": [7, 8]}
    >>> told = added_up([shard, shard | {"clock": 5, "shared": [8]}], ("clock", "late"))
    >>> told["clock"], told["late"], told["windows"], len(told["by_shard"])
    (5, 2, 2, 2)
    """
    totals: dict[str, Any] = {
        name: (max if name == "clock" else sum)(shard[name] for shard in shards)
        for name in (*counts, *summed(SLIDE_MEASURES))
    }
    answered = {window for shard in shards for window in shard["shared"]}
    totals["windows"] = len(answered) + sum(shard["alone"] for shard in shards)
    totals[BY_SHARD] = [{name: shard[name] for name in SHARD_MEASURES} for shard in shards]
    return totals


def observed_in(rows: Mapping[str, Row | dict[str, Any] | None]) -> Observed:
    """What was observed of a batch, from Spark's report of it."""
    return {name: observed_values(row) for name, row in rows.items() if name.startswith(METRICS) and row is not None}


def observed_values(row: Row | dict[str, Any]) -> dict[str, Any]:
    """What was observed, by name. With Spark Connect a row comes as values beside a schema, and so do rows in it.

    >>> field = {"name": "windows"}
    >>> observed_values(Row(values=[7], schema={"fields": [field]})), observed_values(Row(windows=7))
    ({'windows': 7}, {'windows': 7})
    """
    found = row if isinstance(row, dict) else row.asDict(recursive=True)
    plain: dict[str, Any] = _by_name(found)
    return plain


def _by_name(value: Any) -> Any:
    match value:
        case {"values": list(values), "schema": {"fields": fields}}:
            return {field["name"]: _by_name(each) for field, each in zip(fields, values)}
        case list(values):
            return [_by_name(each) for each in values]
    return value
