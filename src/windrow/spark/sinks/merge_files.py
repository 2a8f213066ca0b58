"""Files of one format as one file: rows of Parquet, or lines of text."""

from __future__ import annotations

import bz2
import gzip
import io
import posixpath
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest

import pyarrow as pa
import pyarrow.parquet as pq

from windrow.errors import SettingsError
from windrow.places.place import Place
from windrow.spark.sinks.file_format import PRESS

_UNPACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".deflate": zlib.decompress,
}
_CODECS = {".gz": "gzip", ".bz2": "bzip2", ".deflate": "deflate"}
_ROWS = 1 << 20
"""So many rows are in memory at once, and in a row group of what is written."""


def check_alike(paths: Sequence[Place], header: bool | None) -> None:
    """Refuse files that cannot be one, by the file and the column."""
    if _is_parquet(paths[0]):
        first = _columns(paths[0])
        for path in paths[1:]:
            _compare(paths[0], first, path, _columns(path))
    elif ".csv" in paths[0].name:
        lines = [_text(path).partition(b"\n")[0] for path in paths]
        if header is None and len(set(lines)) == 1:
            raise SettingsError(
                f"all files in {paths[0].parent} begin with the line {lines[0].decode()!r}: are these names?"
                "\nhint: --header where they are, --no-header where they are values"
            )
        for path, line in zip(paths[1:], lines[1:]) if header else ():
            _compare(paths[0], _names(lines[0]), path, _names(line))


def merge_into(place: Place, paths: Sequence[Place], header: bool) -> None:
    """Write the rows of all files to a new one, whole: it is made in memory, where a merged file has room."""
    file = io.BytesIO()
    if _is_parquet(place):
        _merge_parquet(file, paths)
    else:
        press = _CODECS.get(_ends(place))
        pressing = PRESS[press]() if press is not None else None
        for text in _texts(paths, header):
            file.write(text if pressing is None else pressing.compress(text))
        file.write(b"" if pressing is None else pressing.flush())
    place.write(file.getvalue())


def _merge_parquet(file: object, paths: Sequence[Place]) -> None:
    first = pq.ParquetFile(pa.BufferReader(paths[0].read()))
    pressed = first.metadata.row_group(0).column(0).compression.lower() if first.metadata.num_row_groups else "snappy"
    pressed = "none" if pressed == "uncompressed" else pressed
    with pq.ParquetWriter(file, first.schema_arrow, compression=pressed, store_decimal_as_integer=True) as writer:
        held: list[pa.Table] = []
        for path in paths:
            held.append(pq.read_table(pa.BufferReader(path.read())).cast(first.schema_arrow))
            if sum(map(len, held)) >= _ROWS:
                writer.write_table(pa.concat_tables(held))
                held = []
        if held:
            writer.write_table(pa.concat_tables(held))


def _texts(paths: Sequence[Place], header: bool) -> Iterator[bytes]:
    for number, path in enumerate(paths):
        text = _text(path)
        yield text.partition(b"\n")[2] if header and number else text


def _text(path: Place) -> bytes:
    data = path.read()
    return _UNPACK[_ends(path)](data) if _ends(path) in _UNPACK else data


def _is_parquet(path: Place) -> bool:
    return _ends(path) == ".parquet"


def _ends(path: Place) -> str:
    return posixpath.splitext(path.name)[1]


def _columns(path: Place) -> list[str]:
    try:
        with path.open() as file:
            return [f"{field.name} {field.type}" for field in pq.read_schema(file)]
    except (OSError, pa.ArrowInvalid) as error:
        raise SettingsError(f"{path} cannot be read as parquet: mend it or move it away") from error


def _names(line: bytes) -> list[str]:
    return line.decode(errors="replace").split(",")


def _compare(first: Place, columns: Sequence[str], path: Place, others: Sequence[str]) -> None:
    for here, there in zip_longest(columns, others, fillvalue="no column"):
        if here != there:
            raise SettingsError(
                f"{path} has {there} where {first} has {here}: files of two schemas cannot be one"
                "\nhint: move the files of one schema into a folder of their own"
            )
