"""APPROX_TOP_K: the most frequent values, from a bounded number of counters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from windrow.kernels import bits
from windrow.kernels.columns import live, plain, valid
from windrow.kernels.counted_values import CountCodec, Counts
from windrow.kernels.kernel import OBJECT, Field, Fields, Irreversible, Lowered, Rows, integer


@dataclass(frozen=True)
class FrequentItems(Irreversible):
    """At most `most` values with a counter each, exact as long as no more are met (Misra and Gries 1982; merged as in
    Agarwal, Cormode, Huang, Phillips, Wei, Yi: Mergeable summaries, PODS 2012, section 3).

    NULL is a value too, as in Spark. Where there are more, all counters go down by the largest that has no place.
    `missed` is what each may have lost by that, at most n / most of n values; as in Apache DataSketches, an estimate is
    the counter and that.

    >>> from windrow.kernels.partials import identity
    >>> frequent = FrequentItems(pa.string(), 100)
    >>> partials = identity(frequent, 1)
    >>> frequent.lift(partials, np.zeros(4, int), Rows(pa.array(["b", "a", None, "b"]), np.arange(4)))
    >>> type = pa.list_(pa.struct([("item", pa.string()), ("count", pa.int64())]))
    >>> frequent.lower(partials, "APPROX_TOP_K 1", type).values[0].as_py()
    [{'item': 'b', 'count': 2}]
    """

    type: pa.DataType
    most: int

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        codec = CountCodec(pa.int64() if bits.fits(self.type) else self.type)
        return (Field("counts", OBJECT, codec.type, None, codec=codec), integer("missed"))

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        codes = live(codes, rows, nulls=True)
        kept = np.flatnonzero(codes >= 0)
        if not len(kept):
            return
        values = plain(rows.values).take(pa.array(kept))
        if bits.fits(values.type):
            distinct, places = np.unique(bits.keys(values), return_inverse=True)
            names = distinct.tolist()
        else:
            encoded = values.dictionary_encode()
            names, places = encoded.dictionary.to_pylist(), encoded.indices.fill_null(0).to_numpy()
        known = valid(values)
        if known is not None:
            places = np.where(known, places, len(names))
        names.append(None)
        width = len(names)
        pairs, counts = np.unique(codes[kept].astype(np.int64) * width + places, return_counts=True)
        fresh: dict[int, Counts] = {}
        for slot, number, count in zip((pairs // width).tolist(), (pairs % width).tolist(), counts.tolist()):
            fresh.setdefault(slot, {})[names[number]] = count
        self._add(into, ((slot, counts, 0) for slot, counts in fresh.items()))

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        self._add(into, zip(slots.tolist(), newer["counts"], newer["missed"].tolist()))

    def _add(self, into: Fields, given: Iterable[tuple[int, Counts | None, int]]) -> None:
        """Counts are never changed once they are a partial, since many may share them."""
        held, missed = into["counts"], into["missed"]
        for slot, counts, lost in given:
            missed[slot] += lost
            if counts is None:
                continue
            both = dict(held[slot] or {})
            for value, count in counts.items():
                both[value] = both.get(value, 0) + count
            if len(both) > self.most:
                down = sorted(both.values(), reverse=True)[self.most]
                both = {value: count - down for value, count in both.items() if count > down}
                missed[slot] += down
            held[slot] = both or None

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        wanted = int(answer.split()[1])
        best = [_largest(counts or {}, wanted) for counts in partials["counts"]]
        items = [value for part in best for value, _ in part]
        counts = [count + missed for part, missed in zip(best, partials["missed"].tolist()) for _, count in part]
        if bits.fits(self.type):
            known = np.array([item is not None for item in items], np.bool_)
            keys = np.array([0 if item is None else item for item in items], np.int64)
            values = bits.unkeyed(keys, known, self.type)
        else:
            values = pa.array(items, self.type)
        fields = list(type.value_type)
        rows = pa.StructArray.from_arrays([values.cast(fields[0].type), pa.array(counts, pa.int64())], fields=fields)
        offsets = pa.array(np.cumsum([0, *map(len, best)]).astype(np.int32))
        return Lowered(pa.ListArray.from_arrays(offsets, rows, type=type))


def _largest(counts: Counts, wanted: int) -> list[tuple[object, int]]:
    """The most frequent values; of equally frequent ones the smallest, NULL last."""
    values = [*sorted(value for value in counts if value is not None), *([None] if None in counts else [])]
    return sorted(((value, counts[value]) for value in values), key=lambda item: -item[1])[:wanted]
