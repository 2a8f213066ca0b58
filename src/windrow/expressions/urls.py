"""URLs: their parts as Java's URI has them, and texts in their code. Each distinct text is done once."""

from __future__ import annotations

import re
import urllib.parse

import pyarrow as pa

from windrow.errors import QueryError

from . import types
from .columns import only, over_distinct
from .registry import PATTERN, TEXT, function

_PARTS = re.compile(
    r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):)?(?P<rest>(?://(?P<authority>[^/?#]*))?(?P<path>[^?#]*)"
    r"(?:\?(?P<query>[^#]*))?)(?:#(?P<fragment>.*))?",
    re.DOTALL,
)
_HOST = r"(?:(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)*[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.?"
_HOST += r"|[0-9]{1,3}(?:\.[0-9]{1,3}){3}|\[[0-9A-Fa-f:.]+\])"
_AUTHORITY = re.compile(rf"(?:(?P<user>[^@\[\]]*)@)?(?P<host>{_HOST})(?::(?P<port>[0-9]*))?")
_ILLEGAL = re.compile(
    r"""[\x00-\x20\x7f-\xa0"<>\\^`{|}\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]|%(?![0-9A-Fa-f]{2})"""
)
_BRACKETS = re.compile(r"[\[\]]")
_NOT_CODED = "*-._"


@function("url_encode", takes=[TEXT])
def url_encode(text: pa.Array) -> pa.Array:
    return over_distinct(_coded, text, types.STRING)


def _coded(value: str) -> str:
    return urllib.parse.quote_plus(value, safe=_NOT_CODED).replace("~", "%7E")


@function("url_decode", takes=[TEXT])
def url_decode(text: pa.Array) -> pa.Array:
    def read(value: str) -> str:
        if re.search("%(?![0-9A-Fa-f]{2})", value):
            raise QueryError(f"{value!r} is no text in the code of URLs")
        return urllib.parse.unquote_plus(value)

    return over_distinct(read, text, types.STRING)


@function("parse_url", takes=[TEXT, PATTERN, PATTERN], least=2)
def parse_url(text: pa.Array, part: pa.Array, key: pa.Array | None = None) -> pa.Array:
    """HOST, PATH, QUERY, REF, PROTOCOL, FILE, AUTHORITY or USERINFO of a URL; of the query, perhaps one value."""
    wanted, name = only(part), None if key is None else only(key)
    if name is not None and wanted != "QUERY":
        return pa.nulls(len(text), types.STRING)

    def read(url: str) -> str | None:
        found = _part(url, wanted)
        if name is None or found is None:
            return found
        value = re.search(rf"(?:&|^){name}=([^&]*)", found)
        return None if value is None else value.group(1)

    return over_distinct(read, text, types.STRING)


def _part(url: str, wanted: str) -> str | None:
    """A part of a URL, or None where it has none, or is no URL."""
    parts = _PARTS.fullmatch(url)
    if parts is None or _ILLEGAL.search(url) or _BRACKETS.search(parts["path"]):
        return None
    if parts["scheme"] is not None and not parts["rest"]:
        return None
    authority = parts["authority"]
    if parts["scheme"] is not None and authority is None and not parts["path"].startswith("/"):
        # mailto:a@b.c has a scheme and a fragment, and nothing that Java takes apart.
        return {"PROTOCOL": parts["scheme"], "REF": parts["fragment"], "FILE": None}.get(wanted)
    server = None if authority is None else _AUTHORITY.fullmatch(authority)
    match wanted:
        case "PROTOCOL":
            return parts["scheme"]
        case "AUTHORITY":
            return authority or None
        case "HOST":
            return server and server["host"]
        case "USERINFO":
            return server and server["user"]
        case "PATH":
            return parts["path"]
        case "QUERY":
            return parts["query"]
        case "REF":
            return parts["fragment"]
        case "FILE":
            query = parts["query"]
            return parts["path"] if query is None else f"{parts['path']}?{query}"
        case _:
            return None
