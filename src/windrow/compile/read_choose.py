"""What users ask for by name, read and checked: the wishes of a session, of a query, or of a command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from windrow.compile.choices import OWN, choices
from windrow.errors import SettingsError
from windrow.language.spelling import closest, listed
from windrow.plan.nodes.wanted import Wanted

INDEX_METHODS = ("insert", "move", "nearest")


def read_choose(choose: Mapping[str, Any] | None, **doors: str | None) -> Wanted:
    """The wishes of a mapping from choices to alternatives, and of the `doors` that some choices have of their own.

    >>> wanted = read_choose({"maintenance": "Two Stacks", "index": "grid"})
    >>> wanted.get("maintenance"), wanted.get("schedule")
    ('two stacks', None)
    >>> read_choose({"keep": "row"})
    Traceback (most recent call last):
    windrow.errors.SettingsError: choose: there is no keep 'row'; did you mean rows? It is one of partials or rows
    """
    if choose is not None and not isinstance(choose, Mapping):
        raise SettingsError(f"choose={choose!r} is no mapping, such as {{'maintenance': 'two stacks'}}")
    found, index = {}, None
    for choice, asked in (choose or {}).items():
        if choice == "index" and not isinstance(asked, str):
            found[choice], index = OWN, _index(asked)
        else:
            found[choice] = _alternative(choice, asked)
    for choice, value in doors.items():
        if value is not None:
            if found.get(choice, value) != value:
                raise SettingsError(f"{choice}={value!r} and choose={{{choice!r}: {found[choice]!r}}}: which of them?")
            found[choice] = value
    return Wanted(tuple(sorted(found.items())), index)


def _alternative(choice: Any, asked: Any) -> str:
    known = choices()
    if choice not in known:
        raise unknown_choice(choice)
    names = {name.upper(): name for name in known[choice]}
    if choice == "index" and str(asked) == OWN:
        raise SettingsError("choose: an index of your own is given as its class, as in choose={'index': KdTree}")
    if not isinstance(asked, str) or asked.upper() not in names:
        meant = _meant(asked, known[choice])
        raise SettingsError(f"choose: there is no {choice} {asked!r};{meant} It is one of {_list(known[choice])}")
    return names[asked.upper()]


def unknown_choice(choice: Any) -> SettingsError:
    """What to say of a choice that does not exist."""
    known = choices()
    return SettingsError(f"choose: there is no choice {choice!r};{_meant(choice, known)} It is one of {_list(known)}")


def _meant(word: Any, known: Any) -> str:
    names = {name.upper(): name for name in known}
    found = closest(str(word), names)
    return f" did you mean {names[found]}?" if found else ""


def _list(names: Any) -> str:
    return listed([name for name in names if name != OWN] + (["a class of your own"] if OWN in names else []))


def _index(asked: Any) -> type:
    missing = [method for method in INDEX_METHODS if not callable(getattr(asked, method, None))]
    if not isinstance(asked, type) or missing:
        raise SettingsError(
            f"choose: {asked!r} is no index: it is scan, grid, boxes or a class with {', '.join(INDEX_METHODS)}"
        )
    return asked
