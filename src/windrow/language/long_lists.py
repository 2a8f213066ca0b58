"""Long lists of constants behind IN: read at once, and kept as one node, since a list may have 100,000 of them."""

from __future__ import annotations

import re

MANY = 100
"""Lists shorter than this are read word by word, as everything else."""

_CONSTANT = r"(?:-?\d+(?:\.\d+)?(?:E[+-]?\d+)?(?![\w.])|'[^'\\]*'|NULL\b)"
_TEXTS_AND_LISTS = re.compile(
    r"""\bR'[^']*' | \bR"[^"]*" | '(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*" | `(?:[^`]|``)*` | --[^\n]* | /\*.*?\*/"""
    rf"""| \bIN \s* \( \s* (?P<list> {_CONSTANT} (?: \s*,\s* {_CONSTANT} ){{{MANY - 1},}} ) \s* \)""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_ONE = re.compile(_CONSTANT, re.IGNORECASE)

Lists = dict[int, tuple[str, ...]]
"""The constants of each list, by the place where it begins."""


def without_long_lists(text: str) -> tuple[str, Lists]:
    """A text as long as `text`, in which a single 0 stands for each long list of constants, and these.

    Strings and comments are passed over, so that a list inside of one stays what it is.

    >>> shorter, lists = without_long_lists("a IN (" + ", ".join(["'x'", "-1.5", "null"] * 40) + ")")
    >>> shorter.split(), [(place, len(constants), constants[:3]) for place, constants in lists.items()]
    (['a', 'IN', '(0', ')'], [(6, 120, ("'x'", '-1.5', 'NULL'))])
    """
    lists: Lists = {}
    pieces, end = [], 0
    for found in _TEXTS_AND_LISTS.finditer(text) if len(text) > 2 * MANY else ():
        written = found["list"]
        if written is None:
            continue
        begin = found.start("list")
        lists[begin] = tuple(_canonical(constant) for constant in _ONE.findall(written))
        pieces += [text[end:begin], "0".ljust(len(written))]
        end = found.end("list")
    return "".join([*pieces, text[end:]]), lists


def constants_of(texts: list[str]) -> tuple[str, ...] | None:
    """The same constants as they are kept; None where one of them is not read at once."""
    plain = all(_ONE.fullmatch(text) for text in texts)
    return tuple(_canonical(text) for text in texts) if plain else None


def _canonical(constant: str) -> str:
    return constant if constant[0] == "'" else constant.upper()
