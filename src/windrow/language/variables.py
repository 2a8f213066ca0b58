"""Variables of a script: `SET minutes = 10;` and then `RANGE ${minutes} MINUTES`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

from windrow.errors import QueryError, SettingsError
from windrow.language.spelling import closest

_PARTS = re.compile(
    r"(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))"
    r"|(?P<text>'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`)"
    r"|(?P<end>;)|(?P<variable>\$\{\s*(?P<name>\w*)\s*\})",
    re.DOTALL,
)
_COMMENTS = re.compile(r"--[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_INSIDE = re.compile(r"\$\{\s*(?P<name>\w*)\s*\}")
_SET = re.compile(r"\s*SET\s+(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>.*?)\s*\Z", re.IGNORECASE | re.DOTALL)


def with_variables(text: str, given: Mapping[str, str] | None = None) -> str:
    """The script with a value for every `${name}`, in texts too, and without SET; names are as they are written.

    A value holds from its SET on. One that is `given`, as on the command line, holds everywhere, whatever SET says.
    Lines stay where they are, so that an error is found in the script.

    >>> with_variables("SET minutes = 10; SELECT COUNT(*) FROM s [RANGE ${minutes} MINUTES SLIDE 1 MINUTE]").strip()
    'SELECT COUNT(*) FROM s [RANGE 10 MINUTES SLIDE 1 MINUTE]'
    """
    fixed = dict(given or {})
    known, used, written = dict(fixed), set[str](), list[str]()
    for begin, end, after in _statements(text):
        found = _SET.match(_COMMENTS.sub(_blank, text[begin:end]))
        if found is None:
            written.append(_filled(text, begin, end, known, used) + text[end:after])
            continue
        name, at = found["name"], begin + found.start("value")
        if not found["value"]:
            place = begin + found.start("name")
            raise QueryError(f"SET {name} has no value", text=text, at=place, end=end, hint=f"SET {name} = 10")
        value = _filled(text, at, begin + found.end("value"), known, used)
        if name not in fixed:
            known[name] = _unquoted(value)
        written.append("\n" * text.count("\n", begin, after))
    unused = [name for name in fixed if name not in used]
    if unused:
        raise SettingsError(f"no ${{{unused[0]}}} stands in the script, which was given as a variable")
    return "".join(written)


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _statements(text: str) -> list[tuple[int, int, int]]:
    """Where each statement begins and ends, and where the one after its semicolon begins."""
    bounds, begin = [], 0
    for part in _PARTS.finditer(text):
        if part["end"]:
            bounds.append((begin, part.start(), part.end()))
            begin = part.end()
    return [*bounds, (begin, len(text), len(text))]


def _filled(text: str, begin: int, end: int, known: Mapping[str, str], used: set[str]) -> str:
    """A part of the script with its variables filled in; what stands in comments stays."""

    def value(found: re.Match[str], offset: int) -> str:
        name = found["name"]
        if name not in known:
            at = offset + found.start()
            named = {each.upper(): each for each in known}
            meant = named.get(closest(name, list(named)) or "")
            hint = f"did you mean {meant}?" if meant else f"SET {name or 'name'} = ...; or --var {name or 'name'}=..."
            raise QueryError(f"unknown variable {name!r}", text=text, at=at, end=at + len(found[0]), hint=hint)
        used.add(name)
        return known[name]

    written, last = [], begin
    for part in _PARTS.finditer(text, begin, end):
        written.append(text[last : part.start()])
        if part["variable"]:
            written.append(value(part, 0))
        elif part["text"]:
            written.append(_INSIDE.sub(partial(value, offset=part.start()), part[0]))
        else:
            written.append(part[0])
        last = part.end()
    return "".join([*written, text[last:end]])


def _unquoted(value: str) -> str:
    """The value of SET; quotes around it are not part of it."""
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if quoted else value
