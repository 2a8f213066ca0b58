"""Changes of an answer merged by key into an Iceberg table."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.spark.sinks.net_changes import NetChanges

_SMALL_BYTES, _MANY = 8_000_000, 16
"""Of smaller files than this, so many are written into one with what changes."""


def merge_into(table: Any, commit: Any, net: NetChanges, noted: dict[str, str]) -> None:
    """Write files of `table` anew in which rows change, within `commit`, a transaction of it, as one snapshot.

    A file is read whole only where the bounds that the table knows of it, and then its keys, say that a row changes.
    """
    from pyiceberg.io.pyarrow import _dataframe_to_data_files

    key, schema = list(net.key), net.came.schema
    tasks = list(table.scan(row_filter=_bounds(net)).plan_files())
    kind = net.came.select(key).schema
    keys = [_rows(table, task, key).cast(kind) for task in tasks]
    changes = net.check_held(pa.concat_tables([kind.empty_table(), *keys]))
    ends = np.cumsum([0, *(part.num_rows for part in keys)])
    anew, parts = [], [net.came]
    for task, first, last in zip(tasks, ends[:-1], ends[1:]):
        if changes[first:last].any():
            rows = _rows(table, task, schema.names).cast(schema)
            parts.append(rows.filter(pa.array(~changes[first:last])))
            anew.append(task.file)
    for task in _many_small(table, {file.file_path for file in anew}):
        parts.append(_rows(table, task, schema.names).cast(schema))
        anew.append(task.file)
    rows = pa.concat_tables(parts)
    with commit.update_snapshot(snapshot_properties=noted).overwrite() as snapshot:
        for file in anew:
            snapshot.delete_data_file(file)
        for file in _dataframe_to_data_files(commit.table_metadata, rows, table.io) if rows.num_rows else ():
            snapshot.append_data_file(file)


def _many_small(table: Any, taken: set[str]) -> list[Any]:
    """Files that are written into one, if there are many: each merge that brings new keys adds one."""
    small = [task for task in table.scan().plan_files() if task.file.file_size_in_bytes < _SMALL_BYTES]
    return [task for task in small if task.file.file_path not in taken] if len(small) > _MANY else []


def _rows(table: Any, task: Any, names: list[str]) -> pa.Table:
    from pyiceberg.expressions import AlwaysTrue
    from pyiceberg.io.pyarrow import ArrowScan

    scan = ArrowScan(table.metadata, table.io, table.schema().select(*names), AlwaysTrue())
    return scan.to_table([task]).select(names)


def _bounds(net: NetChanges) -> Any:
    """A condition that holds for all rows whose key changes."""
    import pyiceberg.expressions

    made: Any = pyiceberg.expressions
    bounds = []
    for name, low, high, nulls in net.reach():
        within = made.And(made.GreaterThanOrEqual(name, low), made.LessThanOrEqual(name, high))
        bounds.append(made.Or(within, made.IsNull(name)) if nulls else within)
    return reduce(made.And, bounds, made.AlwaysTrue())
