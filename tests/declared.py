"""Whether what a class has is what its Protocol declares: every member, and every method with the same parameters."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType


def members(protocol: type) -> Iterator[tuple[str, object]]:
    """What a Protocol and those that it extends declare, by name."""
    for base in protocol.__mro__:
        if base is protocol or getattr(base, "_is_protocol", False):
            yield from ((name, thing) for name, thing in vars(base).items() if not name.startswith("_"))


def lacking(thing: object, protocol: type) -> list[str]:
    """What `thing`, a class or an object, has not, or takes other parameters for."""
    missing = [name for name, _ in members(protocol) if not hasattr(thing, name)]
    wrong = [
        f"{name}{inspect.signature(getattr(thing, name))}"
        for name, declared in members(protocol)
        if inspect.isfunction(declared) and name not in missing and not _takes(getattr(thing, name), declared)
    ]
    return missing + wrong


def undocumented(protocol: type) -> list[str]:
    """What a Protocol declares without a word on what it is."""
    return [name for name, declared in members(protocol) if not inspect.getdoc(declared)]


def classes_in(room: ModuleType) -> set[type]:
    """All classes that the files of a room define, Protocols not counted."""
    found = set()
    for file in pkgutil.iter_modules(room.__path__):
        module = importlib.import_module(f"{room.__name__}.{file.name}")
        own = (thing for thing in vars(module).values() if isinstance(thing, type))
        found |= {kind for kind in own if kind.__module__ == module.__name__ and not vars(kind).get("_is_protocol")}
    return found


def _takes(own: object, declared: object) -> bool:
    """Whether `own` can be called as it is declared."""
    wanted = [name for name in inspect.signature(declared).parameters if name != "self"]
    given = {name: one for name, one in inspect.signature(own).parameters.items() if name != "self"}
    more = [one for name, one in given.items() if name not in wanted]
    return [*given][: len(wanted)] == wanted and all(one.default is not inspect.Parameter.empty for one in more)
