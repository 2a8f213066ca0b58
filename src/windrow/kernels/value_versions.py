"""A large set of values that looks as if it were copied at every change."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, Protocol, TypeVar


class Changeable(Protocol):
    """What versions share: something that is changed in place, and back."""

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""

    def change(self, runs: Any, sign: int) -> None: ...


I = TypeVar("I", bound=Changeable)  # noqa: E741 # the index
R = TypeVar("R")


class Version(Generic[I]):
    """One state of a window's values: whoever has it sees it unchanged, though the index behind it is changed in place.

    Only one version has the index. Every other knows what to change to come to the next (Baker: Shallow binding makes
    functional arrays fast, 1978), so that going on costs no copy, and coming back costs the changes between. What has
    been asked of earlier versions is found for each before it is left, so that answers may be asked for late.

    >>> class Total:
    ...     value = 3
    ...     def change(self, more, sign): self.value += sign * more
    >>> old = Version(Total())
    >>> new = old.changed(4, 1)
    >>> old.index().value, new.index().value, old.index().value
    (3, 7, 3)
    """

    __slots__ = ("_asked", "_change", "_found", "_index", "_newer")

    def __init__(self, index: I, asked: dict[Hashable, Callable[[I], Any]] | None = None) -> None:
        self._index: I | None = index
        self._newer: Version[I] | None = None
        self._change: tuple[Any, int] | None = None
        self._asked: dict[Hashable, Callable[[I], Any]] = {} if asked is None else asked
        self._found: dict[Hashable, Any] = {}

    def changed(self, runs: Any, sign: int) -> Version[I]:
        """The version with `runs` added, or taken out if `sign` is -1."""
        index = self.index()
        for name, answer in self._asked.items():
            if name not in self._found:
                self._found[name] = answer(index)
        index.change(runs, sign)
        newer = Version(index, self._asked)
        self._index, self._newer, self._change = None, newer, (runs, sign)
        return newer

    def ask(self, name: Hashable, answer: Callable[[I], R]) -> R:
        """What `answer` makes of the index; `name` tells it from others."""
        if name not in self._found:
            self._asked.setdefault(name, answer)
            self._found[name] = answer(self.index())
        found: R = self._found[name]
        return found

    def index(self) -> I:
        """The index in the state of this version. It is this version's until another asks."""
        if self._index is None:
            self._fetch()
        assert self._index is not None
        return self._index

    @property
    def nbytes(self) -> int:
        """What the index takes, for the version that has it."""
        return 0 if self._index is None else self._index.nbytes

    def _fetch(self) -> None:
        """Bring the index here, turning round the way that leads to it."""
        way: list[Version[I]] = [self]
        while way[-1]._index is None:
            assert way[-1]._newer is not None
            way.append(way[-1]._newer)
        for newer, older in zip(reversed(way), reversed(way[:-1])):
            index, change = newer._index, older._change
            assert index is not None and change is not None
            runs, sign = change
            index.change(runs, -sign)
            newer._index, newer._newer, newer._change = None, older, (runs, -sign)
            older._index, older._newer, older._change = index, None, None
