"""What a kernel is: an aggregate as a monoid over columns, one slot per group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import pyarrow as pa

from windrow.kernels.spilled_window import Spill
from windrow.kernels.two_doubles import Pair

Fields = dict[str, np.ndarray]
"""Partials by column: one array per field of a kernel, and in each the slots of all groups."""

INT = np.dtype(np.int64)
FLOAT = np.dtype(np.float64)
BOOL = np.dtype(np.bool_)
OBJECT = np.dtype(np.object_)


class ObjectCodec(Protocol):
    """How the objects of a column become Arrow and come back; None is NULL."""

    def to_arrow(self, objects: np.ndarray) -> pa.Array: ...

    def from_arrow(self, column: pa.Array) -> np.ndarray: ...


@dataclass(frozen=True, slots=True)
class Field:
    """One column of a partial: how it is held (`dtype`), how it is stored (`type`), and what it is when empty.

    `holds` says what the objects of an object column are: plain Python values, or Arrow scalars (which lose nothing of
    nested and nanosecond types). With a `codec`, they are what it says.
    """

    name: str
    dtype: np.dtype
    type: pa.DataType
    identity: Any
    holds: Literal["values", "scalars"] = "values"
    codec: ObjectCodec | None = None

    def empty(self, n: int) -> np.ndarray:
        """The column of `n` empty partials.

        >>> integer("n").empty(3)
        array([0, 0, 0])
        """
        if self.dtype.kind in "bif" and not self.identity:
            return np.zeros(n, self.dtype)  # several times as fast as `full` where there are few
        return np.full(n, self.identity, self.dtype)


def integer(name: str) -> Field:
    """A column of int64 that starts at 0: a counter, a limb."""
    return Field(name, INT, pa.int64(), 0)


def real(name: str) -> Field:
    """A column of float64 that starts at 0.0."""
    return Field(name, FLOAT, pa.float64(), 0.0)


def flag(name: str) -> Field:
    """A column of bool that starts False."""
    return Field(name, BOOL, pa.bool_(), False)


@dataclass(frozen=True, slots=True)
class Rows:
    """Some events' values for one aggregate, in the events' order.

    `values` is None for COUNT(*). `times` are microseconds. `mask` marks the rows that a FILTER lets through.
    """

    values: pa.Array | None
    times: np.ndarray
    mask: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class Lowered:
    """Answers, one per slot; `overflows` of them are NULL because their type cannot hold the value."""

    values: pa.Array
    overflows: int = 0


class Kernel(Protocol):
    """An aggregate as a monoid: lift rows into partials, combine partials, lower them to answers.

    `combine` is associative, has the fields' identities as its unit, and takes older before newer. Where slots
    repeat, partials are folded in their order. Inputs may be read-only; `into` is changed in place. What most kernels
    do alike is in `KernelDefaults`: a kernel begins with it and says where it differs.
    """

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns of a partial."""

    @property
    def reversible(self) -> bool:
        """Whether `remove` takes a partial out again without a trace."""

    @property
    def calls_code(self) -> bool:
        """Whether it calls users' code, which takes longer than all else: then no value is folded twice."""

    @property
    def running(self) -> Kernel:
        """The kernel of windows that are kept folded: it is given partials of this one. Most often this one itself."""

    @property
    def spill(self) -> Spill | None:
        """How answers are drawn from panes where a window cannot be in memory; None where partials are small."""

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        """Add row i to slot `codes[i]`; a code of -1 skips the row. Called with each batch of events."""

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        """Fold partial i of `newer` into slot `slots[i]` of `into`, which is the older."""

    def remove(self, into: Fields, slots: np.ndarray, older: Fields) -> None:
        """Take partial i of `older` out of slot `slots[i]`: the inverse of `combine`. Others than reversible kernels
        are not asked, and raise TypeError."""

    def slide(self, into: Fields, slots: np.ndarray, partials: Fields, turns: np.ndarray, told: Fields) -> None:
        """Take partials in and out of `into` by turns, as many windows are answered one after the other: see `Turn`.

        What is told is copied into `told`, so many rows a turn as `into` has."""

    def combine_owned(self, into: Fields, slots: np.ndarray, newer: Fields, owner: object) -> None:
        """As `combine`, where a context is merged: objects that are marked as the `owner`'s may be changed in place,
        and new ones are so marked. For kernels that would copy large objects otherwise."""

    def combine_aligned(self, into: Fields, newer: Fields, owner: object) -> None:
        """As `combine_owned` where both have the same slots: element by element, where that is quicker."""

    def remove_owned(self, into: Fields, slots: np.ndarray, older: Fields, owner: object) -> None:
        """As `remove`, where one context is taken out of another; `owner` as in `combine_owned`."""

    def ended(self, partials: Fields, ends: np.ndarray) -> Fields:
        """Partials that are to be lowered, of windows that hold what is before `ends`, where `lower` needs to know."""

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        """The `answer` ('SUM', 'AVG', ...) of every slot, as an array of `type`. Called when windows close; the
        partials stay as they are, and the answers outlive them."""

    @property
    def rounds(self) -> bool:
        """Whether answers depend, in their last bits, on the order in which partials were merged."""

    def rounding(self, partials: Fields, answer: str) -> np.ndarray:
        """How far the `answer` of each slot may be off because of rounding; NaN where it has none. Asked of kernels
        with `rounds`, where answers are compared with earlier ones."""

    def halves(self, partials: Fields) -> tuple[Pair, np.ndarray]:
        """The sums as pairs of doubles, and which of them fit into the type of the answer. Asked for AGING of kernels
        that keep SUM and AVG; others raise TypeError."""


class KernelDefaults:
    """The part of a kernel that most have alike: nothing is owned, and a window's partials are those of its panes."""

    __slots__ = ()
    calls_code = False
    rounds = False
    spill: Spill | None = None

    @property
    def running(self: Kernel) -> Kernel:
        return self

    def slide(self: Kernel, into: Fields, slots: np.ndarray, partials: Fields, turns: np.ndarray, told: Fields) -> None:
        for first, stop, sign, row in turns.tolist():
            if first < stop:
                change = self.combine if sign > 0 else self.remove
                change(into, slots[first:stop], {name: column[first:stop] for name, column in partials.items()})
            if row >= 0:
                for name, column in into.items():
                    told[name][row : row + len(column)] = column

    def combine_owned(self: Kernel, into: Fields, slots: np.ndarray, newer: Fields, owner: object) -> None:
        self.combine(into, slots, newer)

    def combine_aligned(self: Kernel, into: Fields, newer: Fields, owner: object) -> None:
        self.combine_owned(into, every(newer), newer, owner)

    def remove_owned(self: Kernel, into: Fields, slots: np.ndarray, older: Fields, owner: object) -> None:
        self.remove(into, slots, older)

    def ended(self, partials: Fields, ends: np.ndarray) -> Fields:
        return partials

    def rounding(self, partials: Fields, answer: str) -> np.ndarray:
        raise TypeError(f"{type(self).__name__} gives the same bits in any order: there is no rounding to tell of")

    def halves(self, partials: Fields) -> tuple[Pair, np.ndarray]:
        raise TypeError(f"{type(self).__name__} keeps no sum")


class Irreversible(KernelDefaults):
    """The part of a kernel that has forgotten too much to take anything out again."""

    __slots__ = ()
    reversible = False

    def remove(self, into: Fields, slots: np.ndarray, older: Fields) -> None:
        raise TypeError(f"{type(self).__name__} cannot be taken back: fold its panes again instead")


Turn = tuple[int, int, int, int]
"""Partials first <= i < stop are combined (sign 1) or removed (sign -1); then, unless row is -1, what all slots have
come to is told from that row on."""


def one_turn(count: int, sign: int) -> np.ndarray:
    """The turns of a compiled loop that slides where so many partials are only combined, or removed.

    >>> one_turn(3, -1).tolist()
    [[0, 3, -1, -1]]
    """
    return np.array([[0, count, sign, -1]])


_FIRST = np.arange(1024)
_FIRST.flags.writeable = False


def every(partials: Fields) -> np.ndarray:
    """The places of all elements."""
    n = len(next(iter(partials.values())))
    return _FIRST[:n] if n <= len(_FIRST) else np.arange(n)
