"""Variables of a script: `SET minutes = 10;` and then `RANGE ${minutes} MINUTES`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from windrow.errors import FilledText, QueryError, SettingsError
from windrow.language.spelling import closest

_PARTS = re.compile(
    r"(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))"
    r"|(?P<text>'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`)"
    r"|(?P<end>;)|(?P<variable>\$\{\s*(?P<name>\w*)\s*\})",
    re.DOTALL,
)
_COMMENTS = re.compile(r"--[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_INSIDE = re.compile(r"\$\{\s*(?P<name>\w*)\s*\}")
_WRONG_SET = re.compile(r"\s*(SET)\b", re.IGNORECASE)
_Piece = tuple[str, int, int]
"""A part of the text that comes of a script, and where it stands in the script."""
_SET = re.compile(r"\s*SET\s+(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>.*?)\s*\Z", re.IGNORECASE | re.DOTALL)


def with_variables(text: str, given: Mapping[str, str] | None = None) -> str:
    """The script with a value for every `${name}`, in texts too, and without SET; names are as they are written.

    A value holds from its SET on. One that is `given`, as on the command line, holds everywhere, whatever SET says.
    An error in what comes of it is shown in the script as it was written.

    >>> with_variables("SET minutes = 10; SELECT COUNT(*) FROM s [RANGE ${minutes} MINUTES SLIDE 1 MINUTE]").strip()
    'SELECT COUNT(*) FROM s [RANGE 10 MINUTES SLIDE 1 MINUTE]'
    """
    fixed = dict(given or {})
    known, used, pieces = dict(fixed), set[str](), list[_Piece]()
    for begin, end, after in _statements(text):
        found = _SET.match(_COMMENTS.sub(_blank, text[begin:end]))
        if found is None and (wrong := _WRONG_SET.match(_COMMENTS.sub(_blank, text[begin:end]))) is not None:
            at, stop = begin + wrong.start(1), begin + wrong.end(1)
            raise QueryError("SET takes a name and a value", text=text, at=at, end=stop, hint="SET minutes = 10")
        if found is None:
            pieces += [*_filled(text, begin, end, known, used), (text[end:after], end, after)]
            continue
        name, at = found["name"], begin + found.start("value")
        if not found["value"]:
            place = begin + found.start("name")
            raise QueryError(f"SET {name} has no value", text=text, at=place, end=end, hint=f"SET {name} = 10")
        value = "".join(piece for piece, *_ in _filled(text, at, begin + found.end("value"), known, used))
        if name not in fixed:
            known[name] = _unquoted(value)
        pieces.append(("\n" * text.count("\n", begin, after), begin, after))
    unused = [name for name in fixed if name not in used]
    if unused:
        raise SettingsError(f"no ${{{unused[0]}}} stands in the script, which was given as a variable")
    return _joined(text, pieces)


def _joined(text: str, pieces: list[_Piece]) -> str:
    """The pieces as one text, which knows where they were written; the same text if nothing was filled in."""
    filled = FilledText("".join(piece for piece, *_ in pieces))
    if filled == text:
        return text
    begins, at = list[tuple[int, int, int]](), 0
    for piece, begin, end in pieces:
        if piece:
            begins.append((at, begin, end))
        at += len(piece)
    filled.written, filled.pieces = text, tuple(begins)
    return filled


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


def _filled(text: str, begin: int, end: int, known: Mapping[str, str], used: set[str]) -> list[_Piece]:
    """A part of the script with its variables filled in; what stands in comments stays."""

    def value(found: re.Match[str]) -> str:
        name = found["name"]
        if name not in known:
            at = found.start()
            named = {each.upper(): each for each in known}
            meant = named.get(closest(name, list(named)) or "")
            hint = f"did you mean {meant}?" if meant else f"SET {name or 'name'} = ...; or --var {name or 'name'}=..."
            raise QueryError(f"unknown variable {name!r}", text=text, at=at, end=at + len(found[0]), hint=hint)
        used.add(name)
        return known[name]

    pieces, last = list[_Piece](), begin
    for part in _PARTS.finditer(text, begin, end):
        found = [] if part["comment"] else [part] if part["variable"] else list(_INSIDE.finditer(text, *part.span()))
        for variable in found:
            pieces.append((text[last : variable.start()], last, variable.start()))
            pieces.append((value(variable), variable.start(), variable.end()))
            last = variable.end()
    return [*pieces, (text[last:end], last, end)]


def _unquoted(value: str) -> str:
    """The value of SET; quotes around it are not part of it."""
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if quoted else value
