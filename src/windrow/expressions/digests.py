"""Digests and codes of bytes: MD5, SHA, CRC-32, hexadecimal and base 64. Each distinct value is done once."""

from __future__ import annotations

import base64
import binascii
import hashlib
import zlib

import pyarrow as pa

from windrow.errors import NotSupportedYet, QueryError

from . import types
from .columns import only, over_distinct
from .registry import BINARY, NUMBER_WRITTEN, PATTERN, TEXT, Taken, function

_LINE = 76
_SHA2 = {0: "sha256", 224: "sha224", 256: "sha256", 384: "sha384", 512: "sha512"}
# Of Spark's charsets those that have every character.
_CHARSETS = {"UTF-8": "utf-8", "UTF-16BE": "utf-16-be", "UTF-16LE": "utf-16-le"}
HEXED = Taken(None, lambda kind: types.is_integral(kind) or kind in (types.STRING, types.BINARY))


@function("md5", takes=[BINARY])
def md5(data: pa.Array) -> pa.Array:
    return over_distinct(lambda value: hashlib.md5(value, usedforsecurity=False).hexdigest(), data, types.STRING)


@function("sha1", "sha", takes=[BINARY])
def sha1(data: pa.Array) -> pa.Array:
    return over_distinct(lambda value: hashlib.sha1(value, usedforsecurity=False).hexdigest(), data, types.STRING)


@function("sha2", takes=[BINARY, NUMBER_WRITTEN])
def sha2(data: pa.Array, bits: pa.Array) -> pa.Array:
    name = _SHA2.get(only(bits))
    if name is None:
        return pa.nulls(len(data), types.STRING)
    return over_distinct(lambda value: hashlib.new(name, value).hexdigest(), data, types.STRING)


@function("crc32", takes=[BINARY])
def crc32(data: pa.Array) -> pa.Array:
    return over_distinct(zlib.crc32, data, types.BIGINT)


@function("hex", takes=[HEXED])
def hexadecimal(value: pa.Array) -> pa.Array:
    """Bytes in two digits each, or a whole number, of which a negative one has sixteen."""
    if types.is_integral(value.type):
        return over_distinct(lambda number: f"{number & (1 << 64) - 1:X}", value, types.STRING)
    return over_distinct(lambda data: data.hex().upper(), value.cast(types.BINARY), types.STRING)


@function("unhex", takes=[TEXT])
def bytes_of_hexadecimal(text: pa.Array) -> pa.Array:
    """The bytes that pairs of digits stand for; NULL where something is no digit."""

    def read(digits: str) -> bytes | None:
        try:
            return binascii.unhexlify(("0" + digits if len(digits) % 2 else digits).encode("ascii"))
        except (binascii.Error, UnicodeEncodeError):
            return None

    return over_distinct(read, text, types.BINARY)


@function("base64", takes=[BINARY])
def base_64(data: pa.Array) -> pa.Array:
    """Base 64 in lines of 76 characters, as in mail."""

    def write(value: bytes) -> str:
        whole = base64.b64encode(value).decode()
        return "\r\n".join(whole[at : at + _LINE] for at in range(0, len(whole), _LINE))

    return over_distinct(write, data, types.STRING)


@function("encode", takes=[TEXT, PATTERN])
def encode(text: pa.Array, charset: pa.Array) -> pa.Array:
    codec = _codec(only(charset))
    if codec == "utf-8":
        return text.cast(types.BINARY)
    return over_distinct(lambda value: value.encode(codec), text, types.BINARY)


@function("decode", takes=[BINARY, PATTERN])
def decode(data: pa.Array, charset: pa.Array) -> pa.Array:
    codec = _codec(only(charset))

    def read(value: bytes) -> str:
        try:
            return value.decode(codec)
        except UnicodeDecodeError:
            raise QueryError(f"decode finds bytes that are not in {only(charset)}") from None

    return over_distinct(read, data, types.STRING)


def _codec(charset: str) -> str:
    if charset.upper() not in _CHARSETS:
        raise NotSupportedYet(f"replay does not evaluate the charset {charset!r}")
    return _CHARSETS[charset.upper()]
