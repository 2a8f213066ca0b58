"""APPROX_COUNT_DISTINCT and APPROX_QUANTILE: sketches of a fixed size, by Apache DataSketches."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import datasketches
import numpy as np
import pyarrow as pa

from windrow.kernels import bits
from windrow.kernels.columns import live, plain, reals
from windrow.kernels.kernel import OBJECT, Field, Fields, Irreversible, Lowered, Rows, integer
from windrow.kernels.value_runs import runs_by_code

LOG2_REGISTERS = 12
"""4096 registers: the standard error of a count is 1.6 %."""

EMPTY = "\0empty"
"""What stands for a text without letters, which a sketch would pass over; other names are as they were in state."""

CENTROIDS = 400
"""About twice as many are kept; the error of a rank is below 1 % in the middle and far less at the ends."""


class DistinctCodec:
    """Sketches of distinct values as bytes."""

    def to_arrow(self, objects: np.ndarray) -> pa.Array:
        return pa.array([None if held is None else held.serialize_compact() for held in objects], pa.binary())

    def from_arrow(self, column: pa.Array) -> np.ndarray:
        return _objects([None if held is None else _hll(held) for held in column.to_pylist()])


class DigestCodec:
    """Digests as bytes."""

    def to_arrow(self, objects: np.ndarray) -> pa.Array:
        return pa.array([None if held is None else held.serialize() for held in objects], pa.binary())

    def from_arrow(self, column: pa.Array) -> np.ndarray:
        read = datasketches.tdigest_double.deserialize
        return _objects([None if held is None else read(held) for held in column.to_pylist()])


@dataclass(frozen=True, slots=True)
class DistinctSketch(Irreversible):
    """About how many distinct values there are (HyperLogLog: Flajolet, Fusy, Gandouet, Meunier 2007).

    The same values give the same bits, in whatever order they come.

    >>> from windrow.kernels.partials import identity
    >>> sketch = DistinctSketch(pa.int64())
    >>> partials = identity(sketch, 1)
    >>> sketch.lift(partials, np.zeros(9, int), Rows(pa.array([1, 2, 3] * 3), np.arange(9)))
    >>> sketch.lower(partials, "APPROX_COUNT_DISTINCT", pa.int64()).values[0].as_py()
    3
    >>> texts, partials = DistinctSketch(pa.string()), identity(sketch, 1)
    >>> texts.lift(partials, np.zeros(3, int), Rows(pa.array(["", "a", ""]), np.arange(3)))
    >>> texts.lower(partials, "APPROX_COUNT_DISTINCT", pa.int64()).values[0].as_py()
    2
    """

    type: pa.DataType
    fields = (Field("sketch", OBJECT, pa.binary(), None, codec=DistinctCodec()),)

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        held, values = into["sketch"], plain(rows.values)
        if bits.fits(values.type):
            names, keys = None, bits.keys(values)
        else:
            encoded = values.dictionary_encode()
            names, keys = [_name(value) for value in encoded.dictionary.to_pylist()], encoded.indices.fill_null(0)
        codes = live(codes, rows).astype(np.int64)
        distinct, _, begins = runs_by_code(codes, np.asarray(keys, np.int64), len(held))
        for slot in np.flatnonzero(np.diff(begins)).tolist():
            fresh = datasketches.hll_sketch(LOG2_REGISTERS, datasketches.tgt_hll_type.HLL_8)
            for key in distinct[begins[slot] : begins[slot + 1]].tolist():
                fresh.update(key if names is None else names[key])
            held[slot] = _united([held[slot], fresh])

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        held, given = into["sketch"], _given(slots, newer["sketch"])
        for slot, sketches in given.items():
            held[slot] = _united([held[slot], *sketches])

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        # A sketch that was never merged has a finer estimate; but answers must not depend on where panes are cut.
        counts = [0 if held is None else round(_united([held, held]).get_estimate()) for held in partials["sketch"]]
        return Lowered(pa.array(counts, pa.int64()).cast(type))


@dataclass(frozen=True, slots=True)
class Digest(Irreversible):
    """About which value has a share of all values below it (t-digest: Dunning, Ertl 2019); no random numbers.

    Infinities and NaN, of which there is no mean, are counted apart; NaN is above all.

    >>> from windrow.kernels.partials import identity
    >>> digest = Digest()
    >>> partials = identity(digest, 1)
    >>> digest.lift(partials, np.zeros(101, int), Rows(pa.array(np.arange(101.0)), np.arange(101)))
    >>> digest.lower(partials, "APPROX_QUANTILE 0.5", pa.float64()).values[0].as_py()
    50.0
    """

    fields = (
        Field("digest", OBJECT, pa.binary(), None, codec=DigestCodec()),
        integer("below"),
        integer("above"),
        integer("nan"),
    )

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        codes, values = live(codes, rows), reals(plain(rows.values))
        for name, odd in (("below", values == -np.inf), ("above", values == np.inf), ("nan", np.isnan(values))):
            np.add.at(into[name], codes[odd & (codes >= 0)], 1)
        kept = np.flatnonzero((codes >= 0) & np.isfinite(values))
        order = kept[np.argsort(codes[kept], kind="stable")]
        slots, begins = np.unique(codes[order], return_index=True)
        for slot, first, stop in zip(slots.tolist(), begins.tolist(), [*begins[1:].tolist(), len(order)]):
            fresh = _copied(into["digest"][slot])
            fresh.update(values[order[first:stop]])
            into["digest"][slot] = fresh

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        for name in ("below", "above", "nan"):
            np.add.at(into[name], slots, newer[name])
        for slot, digests in _given(slots, newer["digest"]).items():
            merged = _copied(into["digest"][slot])
            for digest in digests:
                merged.merge(digest)
            into["digest"][slot] = merged

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        share = float(answer.split()[1])
        columns = zip(*(partials[field.name].tolist() for field in self.fields))
        return Lowered(pa.array([_quantile(share, *held) for held in columns], pa.float64()).cast(type))


def _quantile(share: float, digest: datasketches.tdigest_double, below: int, above: int, nan: int) -> float | None:
    finite = 0 if digest is None else digest.get_total_weight()
    total = below + finite + above + nan
    if not total:
        return None
    rank = share * (total - 1)
    if rank < below:
        return -np.inf
    if rank <= below + finite - 1:
        return float(copy.copy(digest).get_quantile(0.0 if finite == 1 else (rank - below) / (finite - 1)))
    return np.inf if rank < below + finite + above else np.nan


def _united(sketches: list[datasketches.hll_sketch | None]) -> datasketches.hll_sketch:
    union = datasketches.hll_union(LOG2_REGISTERS)
    for sketch in sketches:
        if sketch is not None:
            union.update(sketch)
    return union.get_result(datasketches.tgt_hll_type.HLL_8)


def _copied(digest: datasketches.tdigest_double | None) -> datasketches.tdigest_double:
    return datasketches.tdigest_double(CENTROIDS) if digest is None else copy.copy(digest)


def _given(slots: np.ndarray, elements: np.ndarray) -> dict[int, list[Any]]:
    given: dict[int, list[Any]] = {}
    for slot, element in zip(slots.tolist(), elements):
        if element is not None:
            given.setdefault(slot, []).append(element)
    return given


def _hll(stored: bytes) -> datasketches.hll_sketch:
    return datasketches.hll_sketch.deserialize(stored)


def _name(value: object) -> str:
    """A text that tells values of one type apart."""
    text = "" if value is None else value.hex() if isinstance(value, bytes) else str(value)
    return text or EMPTY


def _objects(values: list[Any]) -> np.ndarray:
    column = np.empty(len(values), object)
    column[:] = values
    return column
