"""JSON as Spark's parser reads it and writes it again: Python's values, with numbers as they are written.

Python's own parser is as strict as Jackson but for what is put right here. Where it finds a mistake, texts in single
quotes, which Spark lets pass, are tried.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .write_text import java_floating

_BLANKS = re.compile(r"[ \t\r\n]*")
_SINGLE_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_ESCAPED = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPES = {ord(sign): text for sign, text in _ESCAPED.items()}
_ESCAPES |= {code: f"\\u{code:04X}" for code in range(32) if code not in _ESCAPES}
_BEYOND = re.compile("[\U00010000-\U0010ffff]")
_LONE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Floating:
    """A number with a point or an exponent, as it is written."""

    text: str


class Pairs(list[tuple[str, Any]]):
    """The fields of an object in their order; a name may come twice."""


class NoJsonError(Exception):
    """A text that is no JSON."""


def _no_constant(name: str) -> Any:
    raise ValueError(name)  # NaN and Infinity are no JSON


def _decoder(constant: Callable[[str], Any]) -> json.JSONDecoder:
    return json.JSONDecoder(strict=False, object_pairs_hook=Pairs, parse_float=Floating, parse_constant=constant)


STRICT, LENIENT = _decoder(_no_constant), _decoder(Floating)
"""Without NaN and Infinity, as GET_JSON_OBJECT reads, and with them, as FROM_JSON does."""


def read_json(text: str, decoder: json.JSONDecoder = STRICT) -> tuple[Any, str]:
    """The first value in a text, and what stands behind it.

    >>> read_json('{"a": 1.50} and more')
    ([('a', Floating(text='1.50'))], ' and more')
    """
    begin = _BLANKS.match(text).end()  # type: ignore[union-attr]
    try:
        value, end = decoder.raw_decode(text, begin)
        return value, text[end:]
    except (ValueError, RecursionError):
        if "'" not in text:
            raise NoJsonError from None
    quoted = _SINGLE_QUOTED.sub(_in_double_quotes, text)
    try:
        value, end = decoder.raw_decode(quoted, begin)
        return value, quoted[end:]
    except (ValueError, RecursionError):
        raise NoJsonError from None


def _in_double_quotes(match: re.Match[str]) -> str:
    inside = match.group(1)
    return match.group() if inside is None else '"' + inside.replace('"', '\\"').replace("\\'", "'") + '"'


def plain_text(value: str) -> str:
    """A text without half characters, for which Java writes question marks."""
    return _LONE.sub("?", value)


def quoted(value: str) -> str:
    """A text as JSON has it.

    >>> print(quoted('a"\\n\\x01é'))
    "a\\"\\n\\u0001é"
    """
    return '"' + plain_text(value).translate(_ESCAPES) + '"'


def double_text(number: float) -> str:
    """A double as JSON has it; what is no number is a text."""
    written = java_floating(np.float64(number))
    return written if np.isfinite(number) else f'"{written}"'


def _as_bytes(value: str) -> str:
    """A text as Jackson writes it into bytes: characters beyond the first plane as two halves."""
    return _BEYOND.sub(_halves, quoted(value))


def _halves(match: re.Match[str]) -> str:
    data = match.group().encode("utf-16-be").hex().upper()
    return f"\\u{data[:4]}\\u{data[4:]}"


def written_json(value: Any) -> str:
    """A value that was read, as Jackson writes it: without blanks, and numbers with a point as doubles.

    >>> written_json(read_json('{"a" : [1, 2.50]}')[0])
    '{"a":[1,2.5]}'
    """
    match value:
        case Pairs():
            return "{" + ",".join(f"{_as_bytes(name)}:{written_json(item)}" for name, item in value) + "}"
        case list():
            return "[" + ",".join(map(written_json, value)) + "]"
        case str():
            return _as_bytes(value)
        case Floating(text):
            return double_text(float(text))
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case _:
            return str(value)
