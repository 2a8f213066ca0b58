"""The functions that replay evaluates: a name, what each argument is taken as, and the code over columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

import pyarrow as pa

from windrow.errors import NotSupportedYet, QueryError

from . import types
from .casts import cast, coerce
from .session_zones import UTC, is_utc, read_back, refuse_mixed, shown


@dataclass(frozen=True, slots=True)
class Taken:
    """What an argument is taken as: `kind` from any type that `accepts` lets in, or the argument itself.

    One that is `constant` has to be written in the query: what a pattern means is then known before any row is read.
    """

    kind: pa.DataType | None
    accepts: Callable[[pa.DataType], bool]
    constant: bool = False

    def take(self, name: str, argument: pa.Array, zone: str = UTC) -> pa.Array:
        if argument.type == types.VOID and self.kind is not None:
            return argument.cast(self.kind)
        if not self.accepts(argument.type):
            raise NotSupportedYet(f"replay does not evaluate {name} of {types.sql_name(argument.type)}")
        return argument if self.kind is None else coerce(argument, self.kind, zone)


ANY = Taken(None, lambda kind: True)
NUMBER = Taken(None, lambda kind: types.is_number(kind) or kind == types.VOID)
INTEGRAL = Taken(types.BIGINT, types.is_integral)
TEXT = Taken(types.STRING, types.is_atom)
DOUBLE = Taken(types.DOUBLE, lambda kind: types.is_number(kind) or kind == types.STRING)
# Spark also takes BIGINT where it needs INT, and wraps it; nobody means that.
INT = Taken(types.INT, lambda kind: kind in (types.TINYINT, types.SMALLINT, types.INT))
BINARY = Taken(types.BINARY, lambda kind: kind in (types.BINARY, types.STRING))
PATTERN = Taken(types.STRING, lambda kind: kind == types.STRING, constant=True)
NUMBER_WRITTEN = Taken(types.INT, lambda kind: kind == types.INT, constant=True)
TRUTH_WRITTEN = Taken(types.BOOLEAN, lambda kind: kind == types.BOOLEAN, constant=True)
DATE = Taken(types.DATE, lambda kind: types.is_time(kind) or kind == types.STRING)
TIMESTAMP = Taken(types.TIMESTAMP, lambda kind: types.is_time(kind) or kind == types.STRING)


@dataclass(frozen=True, slots=True)
class Function:
    """A function of columns, called with arguments of any type.

    One that reads the `clock` is given what that of the session's zone shows; one that is `zoned` is told the zone.
    """

    name: str
    apply: Callable[..., pa.Array]
    takes: tuple[Taken, ...]
    least: int
    variadic: bool
    clock: bool
    zoned: bool

    def constant(self, place: int) -> bool:
        """Whether the argument at `place` has to be written in the query."""
        return bool(self.takes) and self.takes[min(place, len(self.takes) - 1)].constant

    def __call__(self, arguments: list[pa.Array], zone: str = UTC) -> pa.Array:
        if len(arguments) < self.least:
            raise QueryError(f"{self.name} takes at least {self.least} arguments, not {len(arguments)}")
        if len(arguments) > len(self.takes) and not self.variadic:
            # Spark may well take more: CEIL has a second argument there.
            raise NotSupportedYet(f"replay does not evaluate {self.name} of {len(arguments)} arguments")
        if self.clock and not is_utc(zone):
            return self._by_clock(arguments, zone)
        taken = self._taken(arguments, zone)
        if self.zoned:
            return self.apply(*taken, zone=zone)
        refuse_mixed(
            self.name, [given.type for place, given in enumerate(taken) if self._taken_as(place) is None], zone
        )
        return self.apply(*taken)

    def _taken(self, arguments: list[pa.Array], zone: str) -> list[pa.Array]:
        last = len(self.takes) - 1
        return [self.takes[min(place, last)].take(self.name, given, zone) for place, given in enumerate(arguments)]

    def _by_clock(self, arguments: list[pa.Array], zone: str) -> pa.Array:
        """Texts are read in the zone; what shows a clock without one is what it is."""
        given = [
            cast(one, types.TIMESTAMP, zone)
            if one.type == types.STRING and self._taken_as(place) == types.TIMESTAMP
            else one
            for place, one in enumerate(arguments)
        ]
        instants = [one for one in given if one.type == types.TIMESTAMP]
        answer = self.apply(*self._taken([shown(one, zone) for one in given], UTC))
        return read_back(answer, zone, instants[0] if len(instants) == 1 else None)

    def _taken_as(self, place: int) -> pa.DataType | None:
        return self.takes[min(place, len(self.takes) - 1)].kind if self.takes else None


REGISTRY: dict[str, Function] = {}

Code = Callable[..., pa.Array]


def function(
    *names: str,
    takes: list[Taken],
    least: int | None = None,
    variadic: bool = False,
    clock: bool = False,
    zoned: bool = False,
) -> Callable[[Code], Code]:
    """Register the decorated code under `names`; arguments beyond the first `least` may be left out.

    A variadic function takes any number of arguments as its last one says. Of `clock` and `zoned`, see Function.
    """

    def register(apply: Code) -> Code:
        for name in names:
            fewest = len(takes) if least is None else least
            REGISTRY[name] = Function(name, apply, tuple(takes), fewest, variadic, clock, zoned)
        return apply

    return register


def unknown_function(name: str) -> NotSupportedYet:
    """The error for a function that is not among these; what it may be a slip of is named."""
    close = get_close_matches(name, REGISTRY, n=1)
    hint = f"did you mean {close[0]}?" if close else "docs/functions_replay.md lists what it evaluates"
    return NotSupportedYet(f"replay does not evaluate {name}", hint=hint)


def call(name: str, arguments: list[pa.Array], zone: str = UTC) -> pa.Array:
    """The function `name` of the arguments, in a session of that time zone.

    >>> call("my_function", [])
    Traceback (most recent call last):
    windrow.errors.NotSupportedYet: replay does not evaluate my_function
    hint: docs/functions_replay.md lists what it evaluates
    """
    if name not in REGISTRY:
        raise unknown_function(name)
    return REGISTRY[name](arguments, zone)


# The types that are functions as well. Spark does not try here, it casts: INT(x) would wrap, and is left out.
function("string", takes=[TEXT])(lambda value: value)
function("double", takes=[DOUBLE])(lambda value: value)
function("float", takes=[Taken(types.FLOAT, DOUBLE.accepts)])(lambda value: value)
function("boolean", takes=[Taken(types.BOOLEAN, lambda kind: kind == types.BOOLEAN or DOUBLE.accepts(kind))])(
    lambda value: value
)
