"""Spark's Python as it is installed, in place of the archive that Spark puts before it on the path.

An archive holds no compiled code: each daemon would compile what it loads of Spark anew, a second or so of its start.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Sequence

_ARCHIVE = "pyspark.zip"
_NEEDED = "pyspark/worker.py"


def without_archive(path: Sequence[str]) -> list[str]:
    """`path` without the archive of Spark's Python, where a folder behind it holds the very same code."""
    for number, place in enumerate(path):
        if os.path.basename(place) == _ARCHIVE and any(_same(place, folder) for folder in path[number + 1 :]):
            return [*path[:number], *path[number + 1 :]]
    return list(path)


def _same(archive: str, folder: str) -> bool:
    """Whether all that `folder` has of an archive is as it is there; packages are installed without their tests."""
    if not os.path.isfile(os.path.join(folder, _NEEDED)):
        return False
    try:
        with zipfile.ZipFile(archive) as packed:
            return all(_is_like(told, folder) for told in packed.infolist() if told.filename.endswith(".py"))
    except (OSError, zipfile.BadZipFile):
        return False


def _is_like(told: zipfile.ZipInfo, folder: str) -> bool:
    try:
        with open(os.path.join(folder, told.filename), "rb") as file:
            return zlib.crc32(file.read()) == told.CRC
    except FileNotFoundError:
        return told.filename != _NEEDED
