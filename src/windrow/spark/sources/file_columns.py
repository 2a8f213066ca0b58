"""Whether files have the columns that are declared of them: Spark would read NULLs for one that is not there."""

from __future__ import annotations

import csv
import fnmatch
import glob
import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from itertools import islice

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq

from windrow.language.spelling import closest

MOST = 1000
"""So many files are looked into; where there are more, what these lack may be in others."""


def missing_column(format: str, options: Mapping[str, str], declared: Sequence[str]) -> tuple[str, str, str] | None:
    """A declared column that no file has, what is wrong, and the way out; None where there is none, or no file.

    A column that some files lack is one that came later, or went, and is NULL there.
    """
    lowered = {name.lower(): value for name, value in options.items()}
    files = list(islice(files_of(lowered.get("path", ""), lowered), MOST + 1))
    if len(files) > MOST or not declared:
        return None
    found = [names for file in files if (names := _columns(format.lower(), file, lowered)) is not None]
    if not found:
        return None
    apart = {name.lower() for file in files for name in folder_columns(file)}
    own = {lowered.get("columnnameofcorruptrecord", "_corrupt_record").lower(), *apart}
    wanted = [name for name in declared if name.lower() not in own]
    seen = {name.lower(): name for names in found for name in names}
    for name in wanted:
        if name.lower() not in seen:
            meant = closest(name, [known.upper() for known in seen])
            way_out = f"did you mean {seen[meant.lower()]}?" if meant else f"they have {', '.join(seen.values())}"
            return name, f"no file has the column {name!r}, which would be NULL in every row", way_out
    if format.lower() == "csv":
        return _out_of_order(wanted, found)
    return None


def _out_of_order(wanted: Sequence[str], found: list[list[str]]) -> tuple[str, str, str] | None:
    """Spark takes the columns of csv files by their places, whatever the first line calls them."""
    longest = max(found, key=len)
    for number, (name, other) in enumerate(zip(wanted, longest), start=1):
        if name.lower() != other.lower():
            message = (
                f"column {number} of the files is {other!r}, not {name!r}, and csv is read by the order of columns"
            )
            return name, message, f"declare them as the files have them: {', '.join(longest)}"
    return None


def files_of(path: str, options: Mapping[str, str]) -> Iterator[str]:
    """The files that a path stands for, on this machine; names that begin with _ or . are nobody's rows."""
    if not path or ("://" in path and not path.startswith("file:")):
        return
    plain = path.removeprefix("file://").removeprefix("file:")
    for place in sorted(glob.glob(plain)) or [plain]:
        if os.path.isfile(place):
            yield place
        for folder, folders, names in os.walk(place):
            deeper = options.get("recursivefilelookup", "").lower() == "true"
            folders[:] = sorted(name for name in folders if name[0] not in "_." and (deeper or "=" in name))
            chosen = fnmatch.filter(sorted(names), options.get("pathglobfilter", "*"))
            yield from (os.path.join(folder, name) for name in chosen if name[0] not in "_.")


def folder_columns(file: str) -> list[str]:
    """Columns that are in the names of folders: `day=2024-01-01`."""
    return [part.partition("=")[0] for part in os.path.dirname(file).split(os.sep) if "=" in part]


def in_folders(files: Sequence[str], options: Mapping[str, str], declared: pa.Schema) -> pa.Schema | None:
    """The declared columns in Spark's order, which puts those in names of folders last; None where only Spark can tell.

    That is where one is not declared, where folders differ, and where a value may not be of the type.

    >>> declared = pa.schema([("day", pa.date32()), ("n", pa.int64())])
    >>> in_folders(["x/day=2026-11-16/a.parquet"], {"path": "x"}, declared).names
    ['n', 'day']
    >>> in_folders(["x/day=soon/a.parquet"], {"path": "x"}, declared)
    """
    found = [[part.split("=", 1) for part in os.path.dirname(file).split(os.sep) if "=" in part] for file in files]
    shapes = {tuple(name for name, _ in parts) for parts in found}
    if shapes <= {()}:
        return declared
    if len(shapes) > 1 or "recursivefilelookup" in options or any(sign in options["path"] for sign in "=*?[{"):
        return None
    fields, (names,) = {field.name.lower(): field for field in declared}, shapes
    if len({name.lower() for name in names} & fields.keys()) < len(names):
        return None
    if not all(_is_plain(value, fields[name.lower()].type) for parts in found for name, value in parts):
        return None
    apart = [fields[name.lower()] for name in names]
    return pa.schema([*(field for field in declared if field not in apart), *apart])


def _is_plain(value: str, type: pa.DataType) -> bool:
    """Whether the value of a folder is one of a type whatever reads it."""
    if pa.types.is_string(type):
        return "%" not in value
    if pa.types.is_date(type):
        with suppress(ValueError):
            return date.fromisoformat(value).isoformat() == value
        return False
    return bool(type in (pa.int32(), pa.int64()) and re.fullmatch(r"(0|-?[1-9]\d{0,8})", value))


def _columns(format: str, file: str, options: Mapping[str, str]) -> list[str] | None:
    """The columns that a file says it has; None where it says nothing, or cannot be read, which is said later."""
    try:
        if format == "parquet":
            return list(pq.read_schema(file).names)
        if format == "orc":
            return list(orc.ORCFile(file).schema.names)
        if format == "csv" and options.get("header", "").lower() == "true":
            return _first_line(file, options)
    except (OSError, pa.ArrowException, UnicodeDecodeError, csv.Error):
        pass
    return None


def _first_line(file: str, options: Mapping[str, str]) -> list[str] | None:
    encoding = options.get("encoding", options.get("charset", "utf-8"))
    separator, quote = options.get("sep", options.get("delimiter", ",")), options.get("quote", '"')
    if len(separator) != 1 or len(quote) != 1 or "multiline" in options or "comment" in options:
        return None
    try:
        with pa.input_stream(file, compression="detect") as stream, io.TextIOWrapper(stream, encoding) as text:
            line = text.readline()
    except LookupError:  # an encoding that only Java has
        return None
    (names,) = csv.reader([line], delimiter=separator, quotechar=quote) if line.strip() else ([],)
    return [name.strip().removeprefix("\ufeff") for name in names] or None
