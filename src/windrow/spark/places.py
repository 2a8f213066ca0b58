"""Where files lie: a path or an address, as pyarrow reaches it."""

from __future__ import annotations

import os

import pyarrow.fs as pafs


def file_system(path: str) -> tuple[pafs.FileSystem, str]:
    """The file system of `path`, and the path there."""
    if "://" in path:
        found: tuple[pafs.FileSystem, str] = pafs.FileSystem.from_uri(path)
        return found
    return pafs.LocalFileSystem(), os.path.abspath(path.removeprefix("file:"))
