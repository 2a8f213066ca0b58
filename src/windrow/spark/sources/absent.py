"""Columns that are declared, and that files or all events of a batch lack: NULL there, and counted by column.

Tasks that read files by name see which columns each has. Where Spark reads Parquet files of this machine, the driver
looks at the ends of those that a batch reads. Of anything else, such as messages, only the values are known: a column
is counted where no event of a batch has one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.streaming.query import StreamingQuery
from sqlglot import exp

from windrow.language import parse_expression
from windrow.places.addresses import FILE, scheme_of
from windrow.spark.sources.file_columns import MOST
from windrow.spark.sources.missing_files import place_in, sources_of_files

Absent = dict[str, tuple[int, int]]
"""By column how many files lack it, and how many rows they have."""


def add_absent(found: Absent, column: str, files: int, rows: int) -> None:
    """Count some files and rows that lack a column."""
    known = found.get(column, (0, 0))
    found[column] = known[0] + files, known[1] + rows


def absent_in_files(query: StreamingQuery, asked: Collection[str]) -> Absent | None:
    """Those of the columns `asked` for, in small letters, that files of the batch under way lack.

    None where Spark reads no Parquet files of this machine in it. One that cannot be read now is another matter: the
    batch names it.
    """
    found: Absent | None = None
    for relation in sources_of_files(query):
        if relation.fileFormat().toString().lower() != "parquet":
            continue
        files = list(relation.location().inputFiles())
        if len(files) > MOST or any(scheme_of(file) != FILE for file in files):
            continue
        found = {} if found is None else found
        declared = [name for name in relation.dataSchema().fieldNames() if name.lower() in asked]
        for file in files:
            for name, rows in _lacking(place_in(file)[1], declared).items():
                add_absent(found, name, 1, rows)
    return found


def _lacking(path: str, declared: Iterable[str]) -> dict[str, int]:
    try:
        metadata = pq.read_metadata(path)
    except (OSError, pa.ArrowException):
        return {}
    known = {name.lower() for name in metadata.schema.to_arrow_schema().names}
    return {name: metadata.num_rows for name in declared if name.lower() not in known}


def absent_in_batch(tasks: Sequence[Mapping[str, Any]]) -> Absent:
    """What the map tasks of a batch, by what they tell, have counted of files by name, or seen of no value.

    >>> task = {"stream": "tx", "events": 5, "absent": None, "empty": ["v", "w", "v + 1"]}
    >>> absent_in_batch([task, task | {"empty": ["v"]}, task | {"empty": None}])
    {'v': (0, 10)}
    >>> absent_in_batch([task | {"absent": {"v": [1, 3]}}, task | {"absent": {"v": [0, 2]}}])
    {'v': (1, 5)}
    """
    found: Absent = {}
    empty: dict[str, tuple[set[str], int]] = {}
    for task in tasks:
        for column, (files, rows) in (task["absent"] or {}).items():
            add_absent(found, column, files, rows)
        if task["empty"] is None or task["absent"] is not None:
            continue
        texts, events = empty.get(task["stream"], (set(task["empty"]), 0))
        empty[task["stream"]] = texts & set(task["empty"]), events + task["events"]
    for texts, events in empty.values():
        for column in sorted(filter(None, map(_column, texts))):
            add_absent(found, column, 0, events)
    return found


def _column(text: str) -> str | None:
    tree = parse_expression(text)
    return tree.name if isinstance(tree, exp.Column) and len(tree.parts) == 1 else None


def told_of_absent(streams: str, column: str, files: int, rows: int) -> str:
    """What is said of a column when it is found missing for the first time."""
    if files:
        lack = "1 file lacks" if files == 1 else f"{files:,} files lack"
        return f"{streams}: {lack} the column {column!r}, which is NULL in {_rows(rows)}"
    return f"{streams}: no event of a batch of {rows:,} has a value in the column {column!r}"


def _rows(rows: int) -> str:
    return "1 row" if rows == 1 else f"{rows:,} rows"
