r"""Java's regular expressions for Arrow's matcher, RE2, as far as both mean the same by them.

They differ in line ends, of which Java knows six and RE2 one, and in `\s`. Such parts are written out; what RE2 lacks
(look-around, back references, possessive quantifiers) or reads otherwise (flags, class arithmetic) is refused.
"""

from __future__ import annotations

import re

from windrow.errors import NotSupportedYet

_ENDS = r"\n\r\x{85}\x{2028}\x{2029}"
_BLANK = r" \t\n\x0B\f\r"
_ESCAPES = {"s": f"[{_BLANK}]", "S": f"[^{_BLANK}]"}
_TOKEN = re.compile(
    r"""(?P<escape>\\[dDwWtnrf.\\+*?()|\[\]{}^$/\-]|\\[sS]|\\[&~`!@\#%=:;"',<>_\ ])
      | (?P<set>\[\^?(?:\\[dDwWtnrf.\\+*?()|\[\]{}^$/\-]|[^\\\[\]&])+\])
      | (?P<group>\((?:\?:)?(?!\?))
      | (?P<close>\))
      | (?P<count>(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??(?![*+?{]))
      | (?P<any>\.)
      | (?P<end>\$(?=\)|\||$))
      | (?P<plain>[^\\\[\](){}*+?.$]|\^|\||\]|\})""",
    re.VERBOSE | re.DOTALL,
)


def re2_of_java(pattern: str) -> str:
    r"""The pattern as RE2 reads it.

    >>> re2_of_java("^ab+$")
    '^ab+(?:\\r\\n|[\\n\\r\\x{85}\\x{2028}\\x{2029}])?\\z'
    >>> re2_of_java("(?=a)")
    Traceback (most recent call last):
    windrow.errors.NotSupportedYet: replay does not evaluate the regular expression '(?=a)': at '(?=a)'
    """
    parts, place = [], 0
    while place < len(pattern):
        token = _TOKEN.match(pattern, place)
        if token is None:
            raise NotSupportedYet(
                f"replay does not evaluate the regular expression {pattern!r}: at {pattern[place:]!r}"
            )
        parts.append(_written(str(token.lastgroup), token.group()))
        place = token.end()
    return "".join(parts)


def _written(kind: str, token: str) -> str:
    match kind:
        case "any":
            return f"[^{_ENDS}]"
        case "end":
            return rf"(?:\r\n|[{_ENDS}])?\z"
        case "escape":
            return _ESCAPES.get(token[1], token if token[1] not in "&~`!@#%=:;\"',<>_ /-" else token[1])
        case _:
            return token
