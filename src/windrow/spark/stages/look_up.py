"""Tables looked up for answers, behind the shards: Spark's stateful step cannot take what is broadcast."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame

from windrow.spark.stages.ship_tables import ShippedTables
from windrow.storage.columns import decode, encode_batch


def look_up(packed: DataFrame, tables: ShippedTables) -> DataFrame:
    """The packed results, those of queries that look up tables with what these tell of each answer."""

    def add(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        look_ups = tables.look_ups()
        for batch in batches:
            rows, kept = [], []
            for name, body in zip(batch.column("query").to_pylist(), batch.column("rows").to_pylist()):
                found = look_ups.added([(name, decode(body))]) if name in look_ups else []
                rows.append(encode_batch(found[0][1]) if found else body)
                kept.append(name not in look_ups or bool(found))
            place = batch.schema.names.index("rows")
            whole = batch.set_column(place, batch.schema.field(place), pa.array(rows, pa.binary()))
            yield whole.filter(pa.array(kept))

    return packed.mapInArrow(add, packed.schema)
