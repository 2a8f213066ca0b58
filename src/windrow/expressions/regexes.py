r"""Java's regular expressions for Arrow's matcher, RE2, and for Python's, as far as all mean the same by them.

They differ in line ends, of which Java knows six, in `\s` and in what `(?i)` makes the same. Such parts are written
out; what one of them lacks (look-around, back references, possessive quantifiers) or reads otherwise (`\b`, other
flags, class arithmetic) is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from windrow.errors import NotSupportedYet

_ENDS = r"\n\r\x{85}\x{2028}\x{2029}"
_PYTHON_ENDS = r"\n\r\x85\u2028\u2029"
_BLANK = r" \t\n\x0B\f\r"
_ESCAPES = {"s": f"[{_BLANK}]", "S": f"[^{_BLANK}]"}
_TOKEN = re.compile(
    r"""(?P<escape>\\[dDwWtnrf.\\+*?()|\[\]{}^$/\-]|\\[sS]|\\[&~`!@\#%=:;"',<>_\ ])
      | (?P<set>\[\^?(?:\\[dDwWtnrf.\\+*?()|\[\]{}^$/\-]|[^\\\[\]&]|&(?!&))+\])
      | (?P<group>\((?:\?:)?(?!\?))
      | (?P<close>\))
      | (?P<count>(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??(?![*+?{]))
      | (?P<any>\.)
      | (?P<end>\$(?=\)|\||$))
      | (?P<plain>[^\\\[\](){}*+?.$]|\^|\||\]|\})""",
    re.VERBOSE | re.DOTALL,
)
_IN_SET = re.compile(r"\\.|[a-zA-Z]-[a-zA-Z]|.", re.DOTALL)
_ANY_CASE = "(?i)"


@dataclass(frozen=True, slots=True)
class Regex:
    """A pattern of Java's in its tokens."""

    tokens: tuple[tuple[str, str], ...]

    @property
    def groups(self) -> int:
        return sum(token == "(" for _, token in self.tokens)

    @property
    def ends(self) -> bool:
        """Whether it asks for the end, before which Java looks for a line end that it does not take."""
        return any(kind == "end" for kind, _ in self.tokens)

    def re2(self, group: int | None = None) -> str:
        """The pattern as RE2 reads it, for a match anywhere; of the groups, `group` alone is one, with the name g."""
        written = "".join(self._re2_parts(group))
        return f"(?P<g>{written})" if group == 0 else written

    def _re2_parts(self, wanted: int | None) -> list[str]:
        parts, group = [], 0
        for kind, token in self.tokens:
            if token == "(":
                group += 1
                parts.append("(" if wanted is None else "(?P<g>" if group == wanted else "(?:")
            else:
                parts.append(_re2(kind, token))
        return parts

    def python(self) -> re.Pattern[str]:
        return re.compile("".join(_python(kind, token) for kind, token in self.tokens), re.ASCII)

    def may_be_empty(self) -> bool:
        """Whether it may match nothing, as what RE2 and Java do with such matches differs."""
        anchored = self.ends or any(token == "^" for _, token in self.tokens)
        return anchored or self.python().match("") is not None


@lru_cache(maxsize=256)
def java_regex(pattern: str) -> Regex:
    """The tokens of a pattern that all read alike.

    >>> java_regex("(a|b)+c").groups
    1
    >>> java_regex("(?=a)")
    Traceback (most recent call last):
    windrow.errors.NotSupportedYet: replay does not evaluate the regular expression '(?=a)': at '(?=a)'
    """
    any_case = pattern.startswith(_ANY_CASE)
    tokens, place = [], len(_ANY_CASE) if any_case else 0
    while place < len(pattern):
        token = _TOKEN.match(pattern, place)
        if token is None:
            raise _refused(pattern, pattern[place:])
        kind, text = str(token.lastgroup), token.group()
        if kind == "set" and "--" in text:
            raise _refused(pattern, text)
        tokens.append(_in_any_case(pattern, kind, text) if any_case else (kind, text))
        place = token.end()
    regex = Regex(tuple(tokens))
    _refuse_empty_loops(pattern, regex)
    return regex


def _refused(pattern: str, part: str) -> NotSupportedYet:
    return NotSupportedYet(f"replay does not evaluate the regular expression {pattern!r}: at {part!r}")


def _in_any_case(pattern: str, kind: str, token: str) -> tuple[str, str]:
    """A letter in both of its cases. Java means ASCII letters by that, where RE2 takes the Kelvin sign for a k."""
    if kind == "plain" and token.isascii() and token.isalpha():
        return "set", f"[{token.lower()}{token.upper()}]"
    if kind != "set":
        return kind, token
    begin = 2 if token[1] == "^" else 1
    more = []
    for part in _IN_SET.findall(token[begin:-1]):
        if len(part) == 3 and (part[0].islower() != part[2].islower()):
            raise _refused(pattern, token)
        if not part.startswith("\\") and part[0].isascii() and part[0].isalpha():
            more.append(part.swapcase())
    return "set", token[:-1] + "".join(more) + "]"


def _refuse_empty_loops(pattern: str, regex: Regex) -> None:
    """A group that is repeated and may be empty ends with other contents in each of the three."""
    opened: list[int] = []
    for place, (kind, _) in enumerate(regex.tokens):
        if kind == "group":
            opened.append(place)
        elif kind == "close":
            if not opened:
                raise _refused(pattern, ")")
            begin = opened.pop()
            following = regex.tokens[place + 1][0] if place + 1 < len(regex.tokens) else ""
            if following == "count" and Regex(regex.tokens[begin : place + 1]).may_be_empty():
                raise _refused(pattern, "".join(token for _, token in regex.tokens[begin : place + 2]))


def _re2(kind: str, token: str) -> str:
    match kind:
        case "any":
            return f"[^{_ENDS}]"
        case "end":
            return rf"(?:\r\n|[{_ENDS}])?\z"
        case "escape":
            return _ESCAPES.get(token[1], token if token[1] not in "&~`!@#%=:;\"',<>_ /-" else token[1])
        case _:
            return token


def _python(kind: str, token: str) -> str:
    match kind:
        case "any":
            return f"[^{_PYTHON_ENDS}]"
        case "end":
            return rf"(?=(?:\r\n|[{_PYTHON_ENDS}])?\Z)"
        case "plain" if token in "^|]}":
            return token if token in "^|" else "\\" + token
        case "plain":
            return re.escape(token)
        case "set":
            return re.sub(r"(?<!\\)[&~|]", r"\\\g<0>", token)
        case _:
            return _re2(kind, token)


def re2_of_java(pattern: str) -> str:
    r"""The pattern as RE2 reads it, for a match anywhere.

    >>> re2_of_java("^ab+$")
    '^ab+(?:\\r\\n|[\\n\\r\\x{85}\\x{2028}\\x{2029}])?\\z'
    """
    return java_regex(pattern).re2()
