"""Times as state has them, whatever the time zone of the Spark session."""

from __future__ import annotations

import pyarrow as pa


def in_utc(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same rows, with times as state has them: Spark hands them over in the zone of the session."""
    schema = pa.schema([field.with_type(_utc(field.type)) for field in batch.schema])
    return batch if schema == batch.schema else batch.cast(schema)


def _utc(type: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(type) and type.tz is not None:
        return pa.timestamp(type.unit, tz="UTC")
    if pa.types.is_list(type):
        return pa.list_(type.value_field.with_type(_utc(type.value_type)))
    if pa.types.is_struct(type):
        return pa.struct([field.with_type(_utc(field.type)) for field in type])
    return type
