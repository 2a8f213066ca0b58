"""The regular expression of the texts that Java reads by a pattern of dates and times."""

from __future__ import annotations

from functools import lru_cache
from itertools import dropwhile

from windrow.errors import NotSupportedYet

from .time_patterns import HALVES, MONTHS, Field, Optional, Part, parts_of, refused

_FIXED = {"y": 2, "M": 2, "L": 2, "d": 2, "D": 3, **dict.fromkeys("HhKkms", 2)}
_OFFSETS = {
    **{("X", 1): "Z|[+-][0-9]{2}(?:[0-9]{2})?", ("X", 2): "Z|[+-][0-9]{4}", ("X", 3): "Z|[+-][0-9]{2}:[0-9]{2}"},
    **{("x", 1): "[+-][0-9]{2}(?:[0-9]{2})?", ("x", 2): "[+-][0-9]{4}", ("x", 3): "[+-][0-9]{2}:[0-9]{2}"},
    **{("Z", count): "[+-][0-9]{4}" for count in (1, 2, 3)},
}
_QUOTED = frozenset(r"\.+*?()|[]{}^$")


@lru_cache(maxsize=256)
def regex_of(pattern: str) -> tuple[str, frozenset[str]]:
    r"""The regular expression of texts that are like the pattern, and the groups in it: one for each field.

    >>> regex_of("M/yy")[0], sorted(regex_of("M/yy")[1])
    ('(?is)\\A(?P<M>[0-9]{1,19})/(?P<yy>[0-9]{2})\\z', ['M', 'yy'])
    """
    parts = parts_of(pattern, reads=True)
    groups: list[str] = []
    written = _sequence(pattern, parts, groups)
    letters = {group[0] for group in groups}
    several = len(letters) < len(groups) or len(letters & set("HhKk")) > 1 or len(letters & set("XxZ")) > 1
    halved = "a" in letters and not letters & {"h", "K"}
    brackets = any(isinstance(part, Optional) for part in parts)
    counted = "D" in letters and ("y" not in letters or letters & {"M", "d"} or brackets)
    if several or halved or counted:
        raise NotSupportedYet(f"replay does not evaluate the pattern {pattern!r}: one field decides on another")
    return f"(?is)\\A{written}\\z", frozenset(groups)


def _sequence(pattern: str, parts: tuple[Part, ...], groups: list[str]) -> str:
    found = []
    for place, part in enumerate(parts):
        following = parts[place + 1] if place + 1 < len(parts) else None
        if isinstance(part, str):
            found.append("".join("\\" + sign if sign in _QUOTED else sign for sign in part))
        elif isinstance(part, Optional):
            # Java does not go back to leave out what it could read, so no other way may lead to the end.
            if _may_be_digit(part) and (_may_be_digit(following) or part is not parts[-1]):
                raise refused(pattern, "[")
            found.append(f"(?:{_sequence(pattern, part.parts, groups)})?")
        else:
            _check_digits(pattern, part, parts[place + 1 :])
            groups.append(_group(part))
            found.append(f"(?P<{groups[-1]}>{_field(part)})")
    return "".join(found)


def _group(field: Field) -> str:
    """The name of a field's group: years of two digits and names of months are read otherwise than numbers."""
    if field.letter in "ML":
        return "MMM" if field.count > 2 else "M"
    return "yy" if field == Field("y", 2) else field.letter


def _may_be_digit(part: Part | None) -> bool:
    """Whether what the part stands for may begin with a digit, or be nothing at all."""
    if isinstance(part, Optional):
        return not part.parts or _may_be_digit(part.parts[0])
    if isinstance(part, str):
        return part[:1].isdigit()
    return part is not None and part.letter not in "aXxZ" and _group(part) != "MMM"


def _is_fixed(part: Part) -> bool:
    return isinstance(part, Field) and _FIXED.get(part.letter) == part.count


def _check_digits(pattern: str, field: Field, behind: tuple[Part, ...]) -> None:
    """Java takes as many digits as it can and never gives one back, so what follows must not begin with one.

    Only a year gives way, to numbers of a fixed width.
    """
    if _is_fixed(field) or field.letter in "aXxZ" or _group(field) == "MMM":
        return
    if field == Field("y", 4):
        behind = tuple(dropwhile(_is_fixed, behind))
    if behind and _may_be_digit(behind[0]):
        raise refused(pattern, field.letter * field.count)


def _field(field: Field) -> str:
    letter, count = field.letter, field.count
    if _group(field) == "MMM":
        return "|".join(name[: 3 if count == 3 else None] for name in MONTHS)
    if letter == "a":
        return "|".join(HALVES)
    if (letter, count) in _OFFSETS:
        return _OFFSETS[letter, count]
    if _is_fixed(field):
        return f"[0-9]{{{count}}}"
    if letter == "y":
        return "[0-9]{4}|\\+[0-9]{5,19}|-[0-9]{4,19}" if count == 4 else "-?[0-9]{1,19}"
    return f"[0-9]{{1,{count if letter == 'S' else 19}}}"
