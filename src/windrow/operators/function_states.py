"""The states of a function that remembers, one for each key, in chunks of which only those that changed are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.errors import FunctionError
from windrow.kernels.state_codec import StateCodec
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.chunks import SlotChunks

STATE, DUE = "state", "due"

_AROUND = 300
"""Bytes that a state takes in memory beside those that it is stored in."""


def stored_otherwise(what: str, before: str) -> FunctionError:
    """What is said where a class that has changed cannot go on with the states of the one before."""
    message = f"{what}: its states are stored as {before}, and the class is another now"
    return FunctionError(f"{message}: under another name it begins anew")


def _are_objects(stored: pa.Schema) -> bool:
    """Whether states are of any kind, and no numbers."""
    return STATE in stored.names and pa.types.is_binary(stored.field(STATE).type)


class ObjectStates:
    """States of any kind, by slot, and when each key is to be woken.

    A state is read when it is asked for, and written only if it was: most keys of a batch that nobody spoke of stay
    the bytes that they were.
    """

    def __init__(self, codec: StateCodec, family: str, blocks: Blocks, snapshot: Snapshot | None) -> None:
        self._codec = codec
        self._chunks = SlotChunks(family, blocks, snapshot, keeps=False)
        self._stored: list[bytes | None] = []
        self.dues: dict[int, int] = {}
        for batch in self._chunks.load():
            if not _are_objects(batch.schema):
                raise stored_otherwise(codec.what, "the columns of step_many")
            begin = len(self._stored)
            self._stored += batch.column(STATE).to_pylist()
            dues = enumerate(batch.column(DUE).to_pylist(), begin)
            self.dues |= {slot: due for slot, due in dues if due is not None}
        self._live: dict[int, Any] = {}
        self._changed: set[int] = set()
        self._bytes = sum(len(stored) + _AROUND for stored in self._stored if stored is not None)

    def get(self, slot: int) -> Any:
        """The state of a key, which may then be changed; None before its first event."""
        self._changed.add(slot)
        state = self._live.get(slot)
        if state is None and slot < len(self._stored) and (stored := self._stored[slot]) is not None:
            state = self._live[slot] = self._codec.decode(stored)
        return state

    def put(self, slot: int, state: Any) -> None:
        """Another object is the state of a key; None forgets it."""
        if state is None:
            self._live.pop(slot, None)
            self.dues.pop(slot, None)
            if slot < len(self._stored) and (stored := self._stored[slot]) is not None:
                self._stored[slot] = None
                self._bytes -= len(stored) + _AROUND
        else:
            self._live[slot] = state

    def bytes_of(self, slot: int) -> bytes:
        """The state as it is now, to come back to."""
        return self._codec.encode(self._live[slot])

    def state_of(self, stored: bytes) -> Any:
        """The state that was so."""
        return self._codec.decode(stored)

    def has(self, slot: int) -> bool:
        return slot in self._live or (slot < len(self._stored) and self._stored[slot] is not None)

    @property
    def nbytes(self) -> int:
        return self._bytes

    def sweep(self, kept: np.ndarray) -> None:
        """Keys have been numbered anew: slot i was `kept[i]`."""
        before = kept.tolist()
        self._stored += [None] * (max(before, default=-1) + 1 - len(self._stored))
        self._stored = [self._stored[slot] for slot in before]
        self._live = {i: self._live[slot] for i, slot in enumerate(before) if slot in self._live}
        self.dues = {i: self.dues[slot] for i, slot in enumerate(before) if slot in self.dues}
        self._changed = set(range(len(before)))

    def save(self, version: int, keys: int) -> None:
        self._stored += [None] * (keys - len(self._stored))
        for slot in self._changed:
            was, state = self._stored[slot], self._live.get(slot)
            if state is not None:
                self._stored[slot] = now = self._codec.encode(state)
                self._bytes += len(now) - len(was) if was is not None else len(now) + _AROUND
        self._chunks.touch(np.fromiter(self._changed, np.int64, len(self._changed)))
        self._changed.clear()
        self._chunks.save(self._saved, keys, version)

    def snapshot(self) -> Snapshot:
        return self._chunks.snapshot()

    def _saved(self, slots: slice) -> dict[str, pa.Array]:
        dues = [self.dues.get(slot) for slot in range(slots.start, slots.stop)]
        return {STATE: pa.array(self._stored[slots], StateCodec.TYPE), DUE: pa.array(dues, pa.int64())}


class ColumnStates:
    """States that are numbers, or arrays of so many numbers: a column for each name, with a place for each key."""

    def __init__(self, what: str, first: Any, family: str, blocks: Blocks, snapshot: Snapshot | None) -> None:
        """`first` is the state of a key before its first event."""
        self._first = {name: _number(what, name, value) for name, value in _columns(what, first).items()}
        self._chunks = SlotChunks(family, blocks, snapshot, keeps=False)
        self._columns = {name: _repeated(value, 64) for name, value in self._first.items()}
        self._used = 0
        for batch in self._chunks.load():
            begin = self._used
            self.grow(begin + batch.num_rows)
            if _are_objects(batch.schema):
                raise stored_otherwise(what, "what step changes")
            for name, column in self._columns.items():
                if name in batch.schema.names:  # what init has since then begins as it says
                    column[begin : self._used] = _loaded(what, name, batch.column(name), column)

    def grow(self, keys: int) -> dict[str, np.ndarray]:
        """The columns of so many keys; they may be changed."""
        room = len(next(iter(self._columns.values())))
        if keys > room:
            more = max(keys, 2 * room) - room
            self._columns = {
                name: np.concatenate([column, _repeated(self._first[name], more)])
                for name, column in self._columns.items()
            }
        self._used = keys
        return {name: column[:keys] for name, column in self._columns.items()}

    def touch(self, slots: np.ndarray) -> None:
        self._chunks.touch(slots)

    def take(self, what: str, told: Mapping[str, np.ndarray], given: Mapping[str, Any]) -> None:
        """Take over columns that were put in the place of those that were `told`, to be changed."""
        if given.keys() != self._columns.keys():
            names, made = (", ".join(columns) for columns in (self._columns, given))
            raise FunctionError(f"{what}: its states are {names}, and step_many makes {made} of them")
        for name, column in self._columns.items():
            if given[name] is told[name]:
                continue
            own, new = column[: self._used], np.asarray(given[name])
            if new.shape != own.shape or not np.can_cast(new.dtype, own.dtype, "same_kind"):
                raise FunctionError(
                    f"{what}: step_many puts {new.dtype}{list(new.shape)} in the place of {name},"
                    f" which is {own.dtype}{list(own.shape)}: change what it has"
                )
            changed = own != new
            self._chunks.touch(np.flatnonzero(changed if changed.ndim == 1 else changed.any(axis=1)))
            own[...] = new

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for column in self._columns.values())

    def save(self, version: int) -> None:
        self._chunks.save(
            lambda slots: {name: _stored(column[slots]) for name, column in self._columns.items()},
            self._used,
            version,
        )

    def snapshot(self) -> Snapshot:
        return self._chunks.snapshot()


def _columns(what: str, first: Any) -> dict[str, Any]:
    if not isinstance(first, dict) or not first:
        raise FunctionError(f"{what}: init gives {type(first).__name__}, and step_many needs a dict of numbers")
    return first


def _number(what: str, name: str, value: Any) -> np.ndarray:
    number = np.asarray(value)
    if number.ndim > 1 or not number.size or number.dtype.kind not in "biuf":
        raise FunctionError(f"{what}: init gives {value!r} for {name!r}, which is no number, and no array of numbers")
    return number


def _repeated(first: np.ndarray, keys: int) -> np.ndarray:
    """A column with the same state for so many keys."""
    return np.broadcast_to(first, (keys, *first.shape)).copy()


def _loaded(what: str, name: str, stored: pa.Array, column: np.ndarray) -> np.ndarray:
    """Stored numbers as a column has them, unless init gives others now."""
    width = stored.type.list_size if pa.types.is_fixed_size_list(stored.type) else None
    numbers: np.ndarray = (stored if width is None else stored.flatten()).to_numpy(zero_copy_only=False)
    fits = numbers.dtype != object and np.can_cast(numbers.dtype, column.dtype, "safe")
    if not fits or (None if column.ndim == 1 else column.shape[1]) != width:
        raise stored_otherwise(what, f"{stored.type} for {name!r}")
    return numbers.reshape(-1, *column.shape[1:])


def _stored(column: np.ndarray) -> pa.Array:
    """A copy, since the next batch changes the column; of arrays, all have one length."""
    numbers = pa.array(column.flatten())
    return numbers if column.ndim == 1 else pa.FixedSizeListArray.from_arrays(numbers, column.shape[1])
