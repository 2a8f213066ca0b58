"""COLLECT_LIST, STRING_AGG and MAP_AGG: the values of a window, in the order of their events."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from windrow.kernels.columns import live, plain
from windrow.kernels.kernel import OBJECT, Field, Fields, KernelDefaults, Lowered, Rows
from windrow.kernels.listed import joined_texts, last_by_key
from windrow.kernels.spilled_lists import Piece, Pieces, SpilledPieces
from windrow.kernels.spilled_window import SpilledGroup

PIECES = "pieces"
"""The field of a partial that holds rows."""


class PieceCodec:
    """A list of times and values for each slot; NULL where there are none."""

    def __init__(self, type: pa.DataType) -> None:
        self.type = pa.list_(pa.struct([("time", pa.int64()), ("value", type)]))

    def to_arrow(self, objects: np.ndarray) -> pa.Array:
        pieces = [piece for held in objects if held is not None for piece in held]
        item = self.type.value_type
        times = np.concatenate([np.empty(0, np.int64), *(times for times, _ in pieces)])
        values = pa.concat_arrays([pa.array([], item[1].type), *(values for _, values in pieces)])
        items = pa.StructArray.from_arrays([pa.array(times), values], fields=list(item))
        lengths = [0 if held is None else sum(len(times) for times, _ in held) for held in objects]
        offsets = np.cumsum([0, *lengths]).astype(np.int32)
        mask = pa.array([held is None for held in objects], pa.bool_())
        return pa.ListArray.from_arrays(pa.array(offsets), items, type=self.type, mask=mask)

    def from_arrow(self, column: pa.Array) -> np.ndarray:
        objects = np.empty(len(column), object)
        times, values = column.values.flatten()
        offsets, times = column.offsets.to_numpy(), times.to_numpy()
        for slot in np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False)).tolist():
            first, stop = int(offsets[slot]), int(offsets[slot + 1])
            objects[slot] = ((times[first:stop], values.slice(first, stop - first)),)
        return objects


@dataclass(frozen=True)
class Collected(KernelDefaults):
    """The values that are not NULL, or with `nulls` all, in pieces that are shared and never changed.

    What leaves is cut off in front.

    A window's panes leave in the order they came, which is all that `remove` can undo.

    >>> from windrow.kernels.partials import identity
    >>> collected = Collected(pa.string())
    >>> partials = identity(collected, 1)
    >>> collected.lift(partials, np.zeros(3, int), Rows(pa.array(["b", None, "a"]), np.array([20, 15, 10])))
    >>> collected.lower(partials, "COLLECT_LIST", pa.list_(pa.string())).values.to_pylist()
    [['a', 'b']]
    """

    type: pa.DataType
    nulls: bool = False
    reversible = True
    spill = SpilledPieces()

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        codec = PieceCodec(self.type)
        return (Field(PIECES, OBJECT, codec.type, None, codec=codec),)

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        lift_pieces(into[PIECES], live(codes, rows, nulls=self.nulls), rows.times, rows.values)

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        append_pieces(into[PIECES], slots, newer[PIECES])

    def remove(self, into: Fields, slots: np.ndarray, older: Fields) -> None:
        held, given = into[PIECES], _given(slots, older[PIECES])
        for slot, pieces in given.items():
            held[slot] = _without(held[slot], sum(len(times) for times, _ in pieces)) or None

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        lengths, times, values = all_rows(partials[PIECES])
        values = pa.array([], self.type) if values is None else values
        order = np.lexsort((times, np.repeat(np.arange(len(lengths)), lengths)))
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        lists = pa.ListArray.from_arrays(pa.array(offsets), values.take(pa.array(order)))
        if answer.startswith("STRING_AGG"):
            return Lowered(joined_texts(lists, answer.removeprefix("STRING_AGG ")).cast(type))
        return Lowered(last_by_key(lists, type) if answer == "MAP_AGG" else lists.cast(type))


def lift_pieces(held: np.ndarray, codes: np.ndarray, times: np.ndarray, values: pa.Array) -> None:
    """Put the rows of each slot behind what is `held` there, as one piece; those with a negative code are of none."""
    order = np.argsort(codes, kind="stable")
    order = order[np.searchsorted(codes[order], 0) :]
    times, values = times[order], plain(values).take(pa.array(order))
    slots, begins = np.unique(codes[order], return_index=True)
    for slot, first, stop in zip(slots.tolist(), begins.tolist(), [*begins[1:].tolist(), len(order)]):
        piece = (times[first:stop], values.slice(first, stop - first))
        held[slot] = (*(held[slot] or ()), piece)


def append_pieces(held: np.ndarray, slots: np.ndarray, newer: np.ndarray) -> None:
    """Put `newer` pieces behind those that are `held` in their slots."""
    for slot, pieces in _given(slots, newer).items():
        before = held[slot]
        held[slot] = before.plus(tuple(pieces)) if isinstance(before, SpilledGroup) else (*(before or ()), *pieces)


def all_rows(held: np.ndarray) -> tuple[np.ndarray, np.ndarray, pa.Array | None]:
    """How many rows each slot has, and the times and values of all, one slot after the other."""
    found = [_at_hand(parts) for parts in held.tolist()]
    pieces = [piece for parts in found for piece in parts]
    lengths = np.array([sum(len(times) for times, _ in parts) for parts in found], np.int64)
    times = np.concatenate([np.empty(0, np.int64), *(times for times, _ in pieces)])
    return lengths, times, pa.concat_arrays([values for _, values in pieces]) if pieces else None


def _at_hand(parts: Pieces | SpilledGroup | None) -> Pieces:
    """The pieces of a group, read where they are not in memory."""
    if isinstance(parts, SpilledGroup):
        read: Pieces = parts.read()
        return read
    return parts or ()


def _given(slots: np.ndarray, elements: np.ndarray) -> dict[int, list[Piece]]:
    """What each slot is given, in order."""
    given: dict[int, list[Piece]] = {}
    for slot, pieces in zip(slots.tolist(), elements):
        if pieces is not None:
            given.setdefault(slot, []).extend(pieces)
    return given


def _without(pieces: tuple[Piece, ...], count: int) -> tuple[Piece, ...]:
    """The pieces without their first `count` rows."""
    for number, (times, values) in enumerate(pieces):
        if count < len(times):
            return ((times[count:], values.slice(count)), *pieces[number + 1 :])
        count -= len(times)
    return ()
