"""Addresses of files and folders: a path of this machine, or a URI as Spark writes it."""

from __future__ import annotations

import os
import re

from windrow.errors import SettingsError

_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://")
FILE = "file"


def scheme_of(address: str) -> str:
    """What a URI begins with, in small letters; a path of this machine is a `file`.

    >>> [scheme_of(one) for one in ("out/vwap", "file:/out", "FILE:///out", "s3a://bucket/out", "a:b")]
    ['file', 'file', 'file', 's3a', 'file']
    """
    found = _SCHEME.match(address)
    return FILE if found is None else found["scheme"].lower()


def local_path(address: str) -> str:
    """The path of an address on this machine. As in Spark, a URI is taken letter by letter: `%20` is no space.

    >>> [local_path(one) for one in ("out/vwap", "file:/out", "file:///out", "file://localhost/out")]
    ['out/vwap', '/out', '/out', '/out']
    """
    if scheme_of(address) != FILE:
        raise SettingsError(f"{address} is not on this machine\nhint: name a folder, or file:///folder")
    if address[: len(FILE) + 1].lower() != f"{FILE}:":
        return address
    path = address[len(FILE) + 1 :]
    if not path.startswith("//"):
        return path
    host, slash, rest = path[2:].partition("/")
    if host not in ("", "localhost"):
        raise SettingsError(f"{address} is on the machine {host}\nhint: a file of this machine is file:///{rest}")
    return slash + rest


def same_place(one: str, other: str) -> bool:
    """Whether two addresses are one place, however they are written.

    >>> same_place("/out/", "file:///out"), same_place("s3a://b/out", "s3://b/out/"), same_place("out", "s3://b/out")
    (True, True, False)
    """
    return plain_place(one) == plain_place(other)


def plain_place(address: str) -> tuple[str, str]:
    """What all addresses of one place have in common, to look one up among many."""
    scheme = scheme_of(address)
    if scheme == FILE:
        return scheme, os.path.normpath(local_path(address))
    return {"s3": "s3a"}.get(scheme, scheme), address.split("://", 1)[1].rstrip("/")
