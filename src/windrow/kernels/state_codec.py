"""The states of users' code in blocks and payloads: as plain values, by their own `dump` and `load`, or as pickles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.errors import SettingsError, StateError, WindrowError
from windrow.kernels import pickled
from windrow.kernels.plain_parts import NotPlain
from windrow.kernels.plain_values import Extension, PlainValues
from windrow.plan.aggregate_plugin import PICKLE, PLAIN, Abilities


def storing(what: str, code: type, state: str | None) -> type:
    """The class with the wish of who registers it, if there is one."""
    if state not in (None, PICKLE, PLAIN):
        raise SettingsError(f"{what}: state={state!r} is none of 'plain' and 'pickle'")
    if state is None or state == Abilities.of(code).state:
        return code
    named = {"__module__": code.__module__, "__qualname__": code.__qualname__, "__doc__": code.__doc__}
    return type(code.__name__, (code,), {**named, "state": state})


class StateCodec:
    """Each state as bytes, None as NULL. `what` is whose they are, as an error calls it, `code` an object of the class.

    A class may have `dump(state)`, which gives plain values, and `load(plain)`, which makes the state of them again.
    """

    TYPE = pa.binary()

    def __init__(
        self,
        what: str,
        code: Any,
        error: type[WindrowError],
        extensions: Sequence[Extension] = (),
    ) -> None:
        self.what, self._error = what, error
        able = Abilities.of(code)
        self._dump, self._load = code.dump if able.dumps else None, code.load if able.loads else None
        self._pickled = able.state == PICKLE
        self._plain = PlainValues(extensions)
        if able.dumps != able.loads:
            there, missing = ("dump", "load") if able.dumps else ("load", "dump")
            raise error(f"{what} has {there} and no {missing}: both are needed to store its state")

    def to_arrow(self, objects: np.ndarray) -> pa.Array:
        return pa.array([None if state is None else self.encode(state) for state in objects], self.TYPE)

    def from_arrow(self, column: pa.Array) -> np.ndarray:
        found = np.empty(len(column), object)
        for i, stored in enumerate(column):
            found[i] = self.decode(stored.as_py()) if stored.is_valid else None
        return found

    def encode(self, state: Any) -> bytes:
        if self._pickled:
            stored: bytes = self._called("its state cannot be pickled", pickled.dump, state)
            return stored
        if self._dump is not None:
            state = self._called("dump failed", self._dump, state)
        try:
            return self._plain.encode(state)
        except NotPlain as odd:
            raise self._error(self._refusal(odd.kind)) from None
        except ValueError as odd:
            raise self._error(f"{self.what}: its state cannot be stored: {odd}") from None

    def decode(self, stored: bytes) -> Any:
        if self._pickled:
            return self._called("its state cannot be read", pickled.load, stored)
        try:
            plain = self._plain.decode(stored)
        except ValueError as odd:
            raise StateError(f"{self.what}: the state that was stored cannot be read: {odd}") from None
        return plain if self._load is None else self._called("load failed", self._load, plain)

    def _called(self, failing: str, call: Callable[[Any], Any], argument: Any) -> Any:
        try:
            return call(argument)
        except Exception as error:
            raise self._error(f"{self.what}: {failing}: {type(error).__name__}: {error}") from error

    def _refusal(self, kind: type) -> str:
        held = "what dump gives" if self._dump is not None else "its state"
        return (
            f"{self.what}: {held} holds a {kind.__module__}.{kind.__qualname__}, which cannot be stored: keep plain"
            " values (None, numbers, texts, bytes, lists, tuples, dicts, sets, times, numpy arrays), or give the class"
            " dump(state) and load(plain), or register it with state='pickle'"
        )
