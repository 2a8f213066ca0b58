"""What a user's aggregate is: what it must have, what it may have, and what a class says that it can do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

METHODS = ("init", "add", "finish")
"""What an aggregate must have."""

PICKLE, PLAIN = "pickle", "plain"


class AggregatePlugin(Protocol):
    """A user's aggregate: a class whose states are whatever `init` gives. It is made without arguments.

    `add`, `merge` and `remove` may change the state that they are given and return None, or return another instead.
    May have more: `Merging`, `Removing`, `Dumping`; and as attributes `returns`, the SQL type of what `finish` gives,
    if not DOUBLE, and `state = "pickle"`, where states are to be stored as pickles.
    """

    def init(self) -> Any:
        """The state of no rows. Called for each group when its first row comes."""

    def add(self, state: Any, *values: Any) -> Any:
        """The state after one more row. Called with each row, in the order of their times within a pane."""

    def finish(self, state: Any) -> Any:
        """The answer, or None for NULL. Called when a window closes, on a copy of the state."""


class Merging(AggregatePlugin, Protocol):
    """An aggregate whose panes are shared by windows, which then cost a few merges."""

    def merge(self, state: Any, other: Any) -> Any:
        """The state after the rows of `other`, which are the newer. Called where panes are folded into windows."""


class Removing(AggregatePlugin, Protocol):
    """An aggregate whose windows slide: each costs the rows that came and went."""

    def remove(self, state: Any, *values: Any) -> Any:
        """The state without a row that was added. Called with each row that leaves the window, oldest first."""


class Dumping(AggregatePlugin, Protocol):
    """An aggregate, or a clustering, whose states are no plain values: numbers, texts, lists, arrays and the like."""

    def dump(self, state: Any) -> Any:
        """The state as plain values. Called when state is saved or sent to another task."""

    def load(self, plain: Any) -> Any:
        """The state again, of what `dump` gave."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a user's class can do: it is asked here once, and nowhere else.

    >>> class Newest:
    ...     def init(self): return None
    ...     def add(self, state, value): return value
    ...     def merge(self, state, other): return other
    ...     def finish(self, state): return state
    >>> Abilities.of(Newest)
    Abilities(missing=(), merges=True, removes=False, dumps=False, loads=False, returns='DOUBLE', state='plain')
    """

    missing: tuple[str, ...]
    """The methods that an aggregate must have and this one has not."""
    merges: bool
    removes: bool
    dumps: bool
    loads: bool
    returns: Any
    """The type of its answers, as the class says it."""
    state: str
    """How its states are stored: `PLAIN`, which is by `dump` and `load` if it has them, or `PICKLE`."""

    @classmethod
    def of(cls, code: object) -> Abilities:
        """What `code` can do: a class, or an object of one."""

        def has(method: str) -> bool:
            return callable(getattr(code, method, None))

        made_of = code if isinstance(code, type) else type(code)
        return cls(
            tuple(method for method in METHODS if not has(method)),
            has("merge"),
            has("remove"),
            has("dump"),
            has("load"),
            getattr(code, "returns", "DOUBLE"),
            PICKLE if getattr(made_of, "state", PLAIN) == PICKLE else PLAIN,
        )
