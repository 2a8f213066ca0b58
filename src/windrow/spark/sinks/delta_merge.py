"""Changes of an answer merged by key into a Delta table."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from windrow.spark.sinks.net_changes import OPERATION, NetChanges

_FEW = 16
"""So many files are left as they are, however small."""


def merge_into(table: Any, net: NetChanges, noted: Any) -> None:
    """Merge changes into `table`, an opened table of `deltalake`, in one commit with the properties `noted`."""
    bounds = [
        ((pc.field(name) >= low) & (pc.field(name) <= high)) | (pc.field(name).is_null() if nulls else pc.scalar(False))
        for name, low, high, nulls in net.reach()
    ]
    files = table.to_pyarrow_dataset()
    touched = files.get_fragments(reduce(and_, bounds) if bounds else None)  # by what the log says of each file
    keys = [file.to_table(schema=files.schema, columns=list(net.key)) for file in touched]
    told = net.told
    kind = told.select(list(net.key)).schema
    net.check_held(pa.concat_tables([kind.empty_table(), *(part.cast(kind) for part in keys)]))
    same = " AND ".join(_same(_quoted(name), told.column(name).null_count > 0) for name in net.key)
    values = {_quoted(name): f"s.{_quoted(name)}" for name in net.came.column_names}
    merging = table.merge(
        told, same, source_alias="s", target_alias="t", streamed_exec=False, commit_properties=noted
    ).when_matched_delete(f"s.{OPERATION} = '-'")
    merging.when_matched_update(values).when_not_matched_insert(values, f"s.{OPERATION} = '+'").execute()


def make_fewer(table: Any, before: int) -> int:
    """Put small files of `table` together where there are many more than the `before` of last time; how many are left.

    Each merge that brings new keys adds a file. Together they are twice as many before they are read again.
    """
    there = len(table.file_uris())
    if there <= 2 * before + _FEW:
        return before
    table.optimize.compact()
    return len(table.file_uris())


def _same(name: str, nulls: bool) -> str:
    """Without a NULL among them by `=` alone, from which files that cannot hold a key are known."""
    equal = f"t.{name} = s.{name}"
    return f"({equal} OR (t.{name} IS NULL AND s.{name} IS NULL))" if nulls else equal


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
