"""Tables as a checkpoint has them: which batch joins with which rows, written down before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pyarrow as pa

from windrow.errors import StateError
from windrow.places.place import AnyPlace, Place, place_of
from windrow.spark.job.checkpoint import not_writable, read_back, write_whole
from windrow.spark.job.file_names import file_name
from windrow.spark.stages.editions import Edition, as_file, as_read

Known = dict[str, list[tuple[int, str]]]
"""By table, from which batch on it has which version; the first is from 0 on."""


def keep_editions(folder: AnyPlace, tables: Mapping[str, pa.Table]) -> list[Edition]:
    """The tables for each batch that is to run, or to run again; `folder` is that of the streams in the checkpoint.

    A table that has been read anew is joined from the first batch on that Spark has not begun. One that it has begun,
    and not finished, is joined with the rows that it had.
    """
    if not tables:
        return []
    folder = place_of(folder)
    place = folder / "tables.json"
    known = read_back(place, _as_known) if place.exists() else {}
    begun = _last(folder, "offsets")
    again = begun if begun > _last(folder, "commits") else begun + 1
    editions = []
    try:
        (folder / "tables").make_folder()
        for read in as_read(tables):
            past = [(first, version) for first, version in known.get(read.table, []) if first <= begun]
            past = [(first, v) for i, (first, v) in enumerate(past) if i + 1 == len(past) or past[i + 1][0] > again]
            if not past or past[-1][1] != read.version:
                past.append((begun + 1 if past else 0, read.version))
                _file(folder, read.table, read.version).write(as_file(read.rows))
            known[read.table] = past
            for first, version in past:
                rows = read.rows if version == read.version else _read(_file(folder, read.table, version))
                editions.append(Edition(read.table, version, first, rows))
        known = {table: past for table, past in known.items() if table in tables}
        write_whole(place, known)
    except OSError as error:
        raise not_writable(folder, error) from error
    _tidy(folder, known)
    return editions


def kept_table(checkpoint: AnyPlace, table: str) -> tuple[pa.Table, int] | None:
    """The rows that the last batches of a checkpoint have joined a table with, if any, and when they were kept.

    Where streams had joined different ones, the newest are told.
    """
    found = []
    place = place_of(checkpoint)
    for folder in (place.at(entry) for entry in (place.listed() if place.exists() else ()) if entry.is_folder):
        if not (folder / "tables.json").exists():
            continue
        past = read_back(folder / "tables.json", _as_known).get(table)
        if past:
            file = _file(folder, table, past[-1][1])
            if file.exists():
                found.append((round(file.modified().timestamp() * 1_000_000), file))
    if not found:
        return None
    kept_us, newest = max(found, key=lambda each: each[0])
    return _read(newest), kept_us


def _last(folder: Place, log: str) -> int:
    """The number of the last batch that a log of Spark has; -1 if it has none."""
    numbers = [-1]
    numbers += [int(name) for name in (folder / "spark" / log).names() if name.isdigit()]
    return max(numbers)


def _file(folder: Place, table: str, version: str) -> Place:
    return folder / "tables" / f"{file_name(table)}.{version}.arrow"


def _read(place: Place) -> pa.Table:
    try:
        return pa.ipc.open_file(place.read()).read_all()
    except (OSError, pa.ArrowInvalid) as error:
        raise StateError(
            f"{place} is damaged or gone: a batch that is to run again was joined with it"
            "\nhint: bring it back from a copy, or start with a new checkpoint"
        ) from error


def _tidy(folder: Place, known: Known) -> None:
    """Remove what no batch joins with any more."""
    used = {_file(folder, table, version).name for table, past in known.items() for _, version in past}
    for place in (folder / "tables").entries():
        if place.name.endswith(".arrow") and place.name not in used:
            with suppress(OSError):
                place.delete()


def _as_known(content: Any) -> Known:
    known = {table: [(first, version) for first, version in past] for table, past in content.items()}
    if not all(type(first) is int and isinstance(v, str) for past in known.values() for first, v in past):
        raise ValueError("an edition is none")
    return known
