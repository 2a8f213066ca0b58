"""What a slice task does with names of files: reads what it needs of its share, and evaluates row expressions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from windrow.errors import JobError
from windrow.expressions.evaluate_text import evaluate_text
from windrow.expressions.session_zones import UTC
from windrow.language import parse_expression
from windrow.plan.instants import EARLIEST_US, LATEST_US
from windrow.runtime import reject
from windrow.runtime.slice.expression_column import expression_column
from windrow.runtime.slice.split_chunks import FAILED
from windrow.spark.sources.absent import Absent, add_absent
from windrow.spark.sources.missing_files import vanished
from windrow.spark.sources.named_files import ARRIVED, LENGTH, PATH, TASK
from windrow.spark.sources.parquet_files import ParquetRows, Read, as_uri, coded_type, local_path
from windrow.spark.sources.refuted import refuted
from windrow.spark.sources.shares import FilePart, shares

_DAY_US = 86_400_000_000
_ROWS = ""
"""A column that no expression can name: it says how many rows there are, where no other does."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How rows are read of files: `columns` of the files, `partitions` of their names, and what is evaluated of them.

    `time` is None where events happen as they arrive. `timing` are the columns that it needs, and `types` those of
    expressions. Where `wheres` are all refuted by the statistics of a row group, only times are read of it. Columns
    that are `coded` are handed over as dictionaries. `zone` is that of the session.
    """

    columns: dict[str, pa.DataType]
    partitions: dict[str, pa.DataType]
    time: str | None
    timing: tuple[str, ...]
    texts: tuple[str, ...]
    types: tuple[pa.DataType, ...]
    failing: tuple[str, ...]
    arrives: bool
    wheres: tuple[str, ...]
    tasks: int
    ignores_missing: bool
    coded: tuple[str, ...] = ()
    zone: str = UTC

    def rows(self, batches: Iterator[pa.RecordBatch], absent: Absent | None = None) -> Iterator[pa.RecordBatch]:
        """The events of one task, from all names of the batch: as slicers take them.

        Names come in any order; they are read in their own, so that a task that runs again sends the same. What files
        lack is counted in `absent`.
        """
        told = [row for batch in batches for row in _named(batch)]
        told.sort(key=lambda row: (row[PATH], row[LENGTH]))
        if not told:
            return
        own = shares([row[LENGTH] for row in told], self.tasks)[told[0][TASK]]
        for part in own:
            yield from self._read(told[part.file], part, {} if absent is None else absent)

    def _read(self, told: dict[str, Any], part: FilePart, absent: Absent) -> Iterator[pa.RecordBatch]:
        path = local_path(told[PATH])
        try:
            file = ParquetRows(path, self.columns, self.coded)
        except FileNotFoundError as error:
            if self.ignores_missing:
                return
            raise JobError(vanished([as_uri(path)])) from error
        with file:
            groups = file.groups_between(part.start, part.end)
            for name in file.lacking:  # of a file in several parts, the first counts it
                rows = sum(file.metadata.row_group(group).num_rows for group in groups)
                add_absent(absent, name, int(part.start == 0), rows)
            for needed, together in self._runs(file, groups):
                names = list(self.columns) if needed else [name for name in self.columns if name in self.timing]
                for read in file.read(together, names):
                    if read[0]:
                        yield self._events(read, told, needed)

    def _runs(self, file: ParquetRows, groups: list[int]) -> list[tuple[bool, list[int]]]:
        """Row groups that are next to each other, and whether more than their times is needed."""
        types = {name.lower(): type for name, type in self.columns.items()}
        runs: list[tuple[bool, list[int]]] = []
        for group in groups:
            told = file.metadata.row_group(group)
            needed = not self.wheres or not all(refuted(where, told, types) for where in self.wheres)
            if runs and runs[-1][0] == needed:
                runs[-1][1].append(group)
            else:
                runs.append((needed, [group]))
        return runs

    def _events(self, read: Read, told: dict[str, Any], needed: bool) -> pa.RecordBatch:
        rows, columns = read
        for i, (name, type) in enumerate(self.partitions.items()):
            columns[name] = pa.repeat(told[f"p{i}"].cast(type), rows)
        batch = pa.record_batch({**columns, _ROWS: pa.nulls(rows)})
        arrived = pa.repeat(told[ARRIVED], rows)
        events = {reject.TIME: arrived if self.time is None else _microseconds(self._evaluated(self.time, batch))}
        for i, (text, type) in enumerate(zip(self.texts, self.types)):
            events[expression_column(i)] = self._value(text, batch) if needed else self._unknown(text, type, rows)
        if self.failing:
            failed = sum((_true(self._evaluated(text, batch)) for text in self.failing), np.zeros(rows, np.int64))
            events[FAILED] = pa.array(failed, pa.int64())
        if self.arrives:
            events[reject.ARRIVED] = arrived
        return pa.record_batch(events)

    def _value(self, text: str, batch: pa.RecordBatch) -> pa.Array:
        name = bare_column(text, self.coded)
        return self._evaluated(text, batch) if name is None else batch.column(name)

    def _evaluated(self, text: str, batch: pa.RecordBatch) -> pa.Array:
        return evaluate_text(text, batch, self.zone)

    def _unknown(self, text: str, type: pa.DataType, rows: int) -> pa.Array:
        return pa.nulls(rows, type if bare_column(text, self.coded) is None else coded_type(type))


def _named(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """The rows of what a task was told; columns of folders stay as Arrow has them."""
    plain = {name: batch.column(name).to_pylist() for name in (TASK, PATH, LENGTH)}
    kept = [name for name in batch.schema.names if name not in plain]
    return [
        {name: values[i] for name, values in plain.items()} | {name: batch.column(name)[i] for name in kept}
        for i in range(batch.num_rows)
    ]


@lru_cache(maxsize=1024)
def bare_column(text: str, names: tuple[str, ...]) -> str | None:
    """The one of `names` that an expression is, and nothing else.

    >>> bare_column("`Symbol`", ("symbol",)), bare_column("symbol || 'x'", ("symbol",))
    ('symbol', None)
    """
    tree = parse_expression(text)
    if not isinstance(tree, exp.Column) or len(tree.parts) != 1:
        return None
    return next((name for name in names if name.lower() == tree.name.lower()), None)


def _true(told: pa.Array) -> np.ndarray:
    found: np.ndarray = pc.fill_null(told, False).to_numpy(zero_copy_only=False)
    return found.astype(np.int64)


def _microseconds(times: pa.Array) -> pa.Array:
    """Times as microseconds since the epoch; a day that is too far away is just outside of the years that there are.

    >>> _microseconds(pa.array([1, None], pa.date32())).to_pylist()
    [86400000000, None]
    """
    if not pa.types.is_date(times.type):
        return times.view(pa.int64())
    days = pc.cast(times.view(pa.int32()), pa.int64())
    early, late = EARLIEST_US // _DAY_US, LATEST_US // _DAY_US
    far = pc.or_(pc.greater(days, late), pc.less(days, early))
    outside = pc.if_else(pc.greater(days, 0), LATEST_US + 1, EARLIEST_US - 1)
    return pc.if_else(far, outside, pc.multiply(pc.if_else(far, 0, days), _DAY_US))
