"""An index whose events are all in a wider one of the same key: it is published by a word that says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from windrow.indexes.facts import IndexFacts
from windrow.indexes.published import MANIFEST, shared_folder, sharing_manifest
from windrow.places.place import Place
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.sink import INDEX, Sink
from windrow.plan.window_index import facts_of, source_of
from windrow.spark.sinks.index_files import IndexSink
from windrow.spark.sinks.staged_files import Nowhere, StagedFile


class SharedIndexSink(IndexSink):
    """Publishes an index that reads the runs of a wider one, which the same batches publish: each row is there once.

    Its rows come to it all the same, so that it can go on by itself when the wider one is dropped.
    """

    def __init__(self, facts: IndexFacts, folder: Place, spark: SparkSession, prefix: str, wide: str) -> None:
        """`wide` is the folder of the wider index, beside its own."""
        super().__init__(facts, folder, spark, prefix)
        self._word = sharing_manifest(facts, wide)

    def by_tasks(self, schema: pa.Schema) -> Nowhere:  # type: ignore[override]
        return Nowhere()

    def stage(self, rows: pa.Table, batch: int) -> list[StagedFile]:
        return []

    def stage_by_spark(self, rows: DataFrame, batch: int) -> list[StagedFile]:
        return []

    def clear(self, batch: int) -> None:
        """Say whose runs it has."""
        for folder in (self._home.parent, self._home):
            folder.make_folder()
        (self._home / MANIFEST).write(self._word)

    def commit(self, staged: Sequence[StagedFile], batch: int, clock_us: int | None) -> None:
        """The wider one has published it."""


@dataclass(frozen=True, slots=True)
class IndexBeside:
    """An index of a Spark query: where its rows come from, and what is kept of them."""

    source: str | None
    facts: IndexFacts

    def holds(self, other: IndexBeside) -> bool:
        """Whether what another index holds is in this one, in the same order.

        Two that hold the same are told apart by whoever asks.
        """
        own = self.facts
        return (
            self.source is not None
            and self.source == other.source
            and own.keys == other.facts.keys
            and own.range_us >= other.facts.range_us
            and all(field in own.schema for field in other.facts.schema)
        )


def wider_indexes(queries: Sequence[AnyQuery], sinks: Mapping[str, Sink]) -> dict[str, list[str]]:
    """For each index of some queries that run together those that hold all that it holds, the widest first."""
    indexes = {
        query.name: IndexBeside(source_of(sinks[query.name]), facts_of(query.name, sinks[query.name], query.emitted))
        for query in queries
        if sinks[query.name].format == INDEX
    }
    ranked = sorted(indexes, key=lambda name: (-indexes[name].facts.range_us, -len(indexes[name].facts.schema)))
    return {
        name: [wide for wide in ranked[:place] if indexes[wide].holds(indexes[name])]
        for place, name in enumerate(ranked)
    }


def chosen_of(folder: Place, wider: Mapping[str, Place]) -> Place | None:
    """The folder of the index whose runs one is to share, of those that are `wider`, the widest first.

    One that has runs of its own keeps them, and one that shares goes on with the same: another may hold less.
    """
    manifest = folder / MANIFEST
    if not manifest.exists():
        return next(iter(wider.values()), None)
    shared = shared_folder(manifest.read())
    return next((place for place in wider.values() if place.name == shared), None)
