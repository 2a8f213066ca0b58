"""SPLIT, REGEXP_REPLACE, REGEXP_EXTRACT and their kin: what regular expressions find in texts.

Arrow's kernels do what they can. What they lack is done by Python's matcher, once for each distinct text.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import NotSupportedYet, QueryError

from . import types
from .columns import only, over_distinct, repeat
from .regexes import Regex, java_regex
from .registry import NUMBER_WRITTEN, PATTERN, TEXT, function

_TEXTS = pa.list_(pa.field("element", pa.string(), nullable=False))
_REFERENCE = re.compile(r"\\(?P<escaped>.)|\$(?P<group>[0-9]+)|(?P<plain>[^\\$]+)", re.DOTALL)
_PLAIN = re.compile(r"[^\\\[\](){}*+?.$^|]+")


def _regex(pattern: pa.Array) -> Regex:
    return java_regex(only(pattern))


def _repeated(pattern: pa.Array) -> Regex:
    """The expression, to be found again and again.

    One that finds nothing between any two characters is refused: Java finds it inside of characters, too, that it
    counts as two.
    """
    regex = _regex(pattern)
    if any(match.span() == (1, 1) for match in regex.python().finditer("\0\0")):
        raise NotSupportedYet(f"replay does not evaluate the regular expression {only(pattern)!r}, which may be empty")
    return regex


def _group(name: str, regex: Regex, group: pa.Array | None) -> int:
    wanted = 1 if group is None else only(group)
    if not 0 <= wanted <= regex.groups:
        raise QueryError(f"{name} asks for group {wanted} of a regular expression that has {regex.groups}")
    return int(wanted)


@function("split", takes=[TEXT, PATTERN, NUMBER_WRITTEN], least=2)
def split(text: pa.Array, pattern: pa.Array, limit: pa.Array | None = None) -> pa.Array:
    """The parts between matches; a limit above zero leaves the last part whole."""
    written, most = only(pattern), 0 if limit is None else only(limit)
    if not written:
        return over_distinct(lambda value: _characters(value, most), text, _TEXTS)
    literal = _PLAIN.fullmatch(written) or re.fullmatch(r"\\[^A-Za-z0-9]", written)
    if literal:
        parts = pc.split_pattern(text, written.removeprefix("\\"), max_splits=most - 1 if most > 0 else None)
        return parts.cast(_TEXTS)
    regex = _repeated(pattern)
    if not regex.may_be_empty() and most <= 0:
        return pc.split_pattern_regex(text, regex.re2()).cast(_TEXTS)
    matcher = regex.python()
    return over_distinct(lambda value: _parts(matcher, value, most), text, _TEXTS)


def _characters(value: str, most: int) -> list[str]:
    whole = len(value) if most <= 0 else min(most, len(value))
    return [*value[: whole - 1], value[whole - 1 :]] if value else [""]


def _parts(matcher: re.Pattern[str], value: str, most: int) -> list[str]:
    parts: list[str] = []
    begin = 0
    for match in matcher.finditer(value):
        if len(parts) == most - 1:
            break
        if match.end() == 0:  # Java gives no empty part before a match of nothing at the beginning
            continue
        parts.append(value[begin : match.start()])
        begin = match.end()
    return [*parts, value[begin:]]


@function("regexp_extract", takes=[TEXT, PATTERN, NUMBER_WRITTEN], least=2)
def extract(text: pa.Array, pattern: pa.Array, group: pa.Array | None = None) -> pa.Array:
    """What a group of the first match holds; an empty text where there is none."""
    regex = _regex(pattern)
    wanted = _group("regexp_extract", regex, group)
    if regex.ends and wanted == 0:
        matcher = regex.python()
        return over_distinct(lambda value: _first(matcher, value), text, types.STRING)
    found = pc.struct_field(pc.extract_regex(text, regex.re2(wanted)), "g")
    return pc.if_else(text.is_valid(), pc.fill_null(found, ""), pa.scalar(None, types.STRING))


def _first(matcher: re.Pattern[str], value: str) -> str:
    found = matcher.search(value)
    return "" if found is None else found.group()


@function("regexp_substr", takes=[TEXT, PATTERN])
def extract_whole(text: pa.Array, pattern: pa.Array) -> pa.Array:
    """The first match; NULL where there is none, or it is empty."""
    found = extract(text, pattern, repeat(0, len(text), types.INT))
    return pc.if_else(pc.equal(found, ""), pa.scalar(None, types.STRING), found)


@function("regexp_extract_all", takes=[TEXT, PATTERN, NUMBER_WRITTEN], least=2)
def extract_all(text: pa.Array, pattern: pa.Array, group: pa.Array | None = None) -> pa.Array:
    regex = _repeated(pattern)
    wanted = _group("regexp_extract_all", regex, group)
    matcher = regex.python()

    def found(value: str) -> list[str]:
        return [match.group(wanted) or "" for match in matcher.finditer(value)]

    return over_distinct(found, text, pa.list_(pa.string()))


@function("regexp_count", takes=[TEXT, PATTERN])
def count(text: pa.Array, pattern: pa.Array) -> pa.Array:
    regex = _repeated(pattern)
    if not regex.may_be_empty():
        return pc.count_substring_regex(text, regex.re2()).cast(types.INT)
    matcher = regex.python()
    return over_distinct(lambda value: sum(1 for _ in matcher.finditer(value)), text, types.INT)


@function("regexp_instr", takes=[TEXT, PATTERN])
def place(text: pa.Array, pattern: pa.Array) -> pa.Array:
    """Where the first match begins, from 1, or 0."""
    matcher = _regex(pattern).python()

    def begin(value: str) -> int:
        found = matcher.search(value)
        return found.start() + 1 if found else 0

    return over_distinct(begin, text, types.INT)


@function("regexp_replace", takes=[TEXT, PATTERN, PATTERN])
def replace_matches(text: pa.Array, pattern: pa.Array, replacement: pa.Array) -> pa.Array:
    """Every match replaced by a text, in which $1 stands for the first group."""
    regex = _repeated(pattern)
    parts = _replacement(only(replacement), regex.groups)
    if not regex.may_be_empty() and all(isinstance(part, str) or part < 10 for part in parts):
        rewrite = "".join(part.replace("\\", "\\\\") if isinstance(part, str) else f"\\{part}" for part in parts)
        return pc.replace_substring_regex(text, regex.re2(), rewrite)
    matcher = regex.python()

    def written(match: re.Match[str]) -> str:
        return "".join(part if isinstance(part, str) else match.group(part) or "" for part in parts)

    return over_distinct(lambda value: matcher.sub(written, value), text, types.STRING)


def _replacement(written: str, groups: int) -> list[str | int]:
    """The texts and the numbers of groups in a replacement, as Java reads it.

    >>> _replacement(r"<$1>\\$12", 1)
    ['<', 1, '>', '$', '12']
    """
    parts: list[str | int] = []
    at = 0
    while at < len(written):
        token = _REFERENCE.match(written, at)
        if token is None:
            raise NotSupportedYet(f"replay does not evaluate the replacement {written!r}")
        at = token.end()
        if token["group"] is None:
            parts.append(token["escaped"] or token["plain"])
            continue
        digits = token["group"]
        # As many digits as make the number of a group that there is.
        taken = max((n for n in range(1, len(digits) + 1) if int(digits[:n]) <= groups), default=0)
        if not taken:
            raise QueryError(f"the replacement {written!r} names a group that is not there")
        parts += [int(digits[:taken]), *([digits[taken:]] if digits[taken:] else [])]
    return parts
