"""`windrow ask`: what an index of a job holds now, asked in SQL from another terminal."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv
import typer

from windrow.errors import SettingsError
from windrow.indexes.facts import IndexFacts
from windrow.indexes.published import PublishedIndex
from windrow.local.ask import ask
from windrow.places.outside_spark import settings_outside_spark
from windrow.places.place import place_of
from windrow.serve.values import json_value
from windrow.spark.job.job_indexes import published_index

FORMATS = ("table", "json", "csv")


def ask_index(checkpoint: str, text: str, format: str) -> None:
    """Print the answer of a query over an index, as of the last committed batch of the job."""
    if format not in FORMATS:
        raise SettingsError(f"--format {format!r} is not known\nhint: {', '.join(FORMATS)}")
    place = place_of(checkpoint, settings_outside_spark())
    if not place.is_folder():
        raise SettingsError(f"there is no checkpoint {checkpoint!r}")
    if not (place / "windrow.json").exists():
        raise SettingsError(f"{checkpoint} is no checkpoint of a job\nhint: the folder that --checkpoint named")

    def named(name: str) -> tuple[IndexFacts, PublishedIndex]:
        index = published_index(place, name)
        return index.manifest()[1], index

    _print(ask(text, named), format)


def _print(rows: pa.Table, format: str) -> None:
    if format == "json":
        for row in rows.to_pylist():
            typer.echo(_as_json(row))
    elif format == "csv":
        sink = pa.BufferOutputStream()
        csv.write_csv(rows, sink)
        typer.echo(sink.getvalue().to_pybytes().decode(), nl=False)
    else:
        typer.echo(_as_text(rows))


def _as_json(row: dict[str, Any]) -> str:
    """
    >>> from datetime import datetime
    >>> _as_json({"n": 2**60, "mean": float("nan"), "at": datetime(2024, 1, 1)})
    '{"n": 1152921504606846976, "mean": "NaN", "at": "2024-01-01T00:00:00"}'
    """
    plain = {name: value if isinstance(value, int) else json_value(value) for name, value in row.items()}
    return json.dumps(plain, ensure_ascii=False, allow_nan=False)


def _as_text(rows: pa.Table) -> str:
    """
    >>> print(_as_text(pa.table({"seg": [5, 12], "speed": [61.5, None]})))
    seg  speed
    ---  -----
      5   61.5
     12   NULL
    """
    cells = [["NULL" if value is None else str(value) for value in column.to_pylist()] for column in rows.columns]
    names = rows.column_names
    wide = [max(map(len, [name, *column])) for name, column in zip(names, cells)]
    lines = [names, ["-" * width for width in wide], *zip(*cells)]
    right = [pa.types.is_integer(kind.type) or pa.types.is_floating(kind.type) for kind in rows.schema]
    shown = (
        "  ".join(cell.rjust(width) if number else cell.ljust(width) for cell, width, number in zip(line, wide, right))
        for line in lines
    )
    return "\n".join(line.rstrip() for line in shown)
