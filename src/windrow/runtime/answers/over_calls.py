"""LAG, FIRST_VALUE, SUM and the like OVER the rows of each window, in batches of answers."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import numpy as np
import pyarrow as pa

from windrow.expressions.evaluate_text import evaluate_text
from windrow.plan.nodes.ordering import whole_row
from windrow.plan.nodes.over_calls import OverCall
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.runtime.answers.framed_sums import averages, spreads, sums
from windrow.runtime.answers.sorted_rows import Sorted
from windrow.runtime.answers.top import Term, ranks

_UPWARD = Term("", descending=False, nulls_first=False)


def drawn(rows: pa.Table, call: OverCall, query: QueryPlan, zone: str) -> pa.Array:
    """What OVER draws for each row; rows that are equal in the order stand in that of the whole row."""
    if not rows.num_rows:
        return pa.array([], call.type)
    apart = [ranks(rows[name], _UPWARD) for name in query.told_apart_by]
    apart += [ranks(evaluate_text(text, rows, zone), _UPWARD) for text in call.partition]
    by = [evaluate_text(term.sql, rows, zone) for term in call.order]
    order = [ranks(column, Term("", term.descending, term.nulls_first)) for column, term in zip(by, call.order)]
    others = [ranks(rows[name], _UPWARD) for name in whole_row(query.emitted)]
    lines = Sorted.of(apart, order, others, rows.num_rows)
    values = [_whole(evaluate_text(text, rows, zone)).take(pa.array(lines.sorting)) for text in call.arguments]
    distances = None
    if not call.frame.in_rows and any((call.frame.start, call.frame.end)):
        distances = _distances(_whole(by[0]).take(pa.array(lines.sorting)), call.order[0].descending)
    found = _drawn(call, lines, values, distances)
    return found.cast(call.type).take(pa.array(np.argsort(lines.sorting, kind="stable")))


def _whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _distances(by: pa.Array, descending: bool) -> tuple[np.ndarray, np.ndarray]:
    """The values that a range is measured in, rising, and which rows have none."""
    missing = by.is_null().to_numpy(zero_copy_only=False)
    if pa.types.is_timestamp(by.type):
        by = by.cast(pa.timestamp("us", by.type.tz))
    numbers = by.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return (-numbers if descending else numbers), missing


def _drawn(
    call: OverCall, lines: Sorted, values: list[pa.Array], distances: tuple[np.ndarray, np.ndarray] | None
) -> pa.Array:
    if call.function in ("ntile", "percent_rank", "cume_dist"):
        return pa.array(_shares(call, lines))
    if call.function in ("lag", "lead"):
        return _shifted(call, lines, values)
    low, high = lines.framed(call.frame, distances)
    known = values[0].is_valid().to_numpy(zero_copy_only=False)
    if call.function in ("first_value", "last_value", "nth_value"):
        return values[0].take(pa.array(_edges(call, low, high, known), pa.int64()))
    counts = np.concatenate([[0], np.cumsum(known)])
    many = np.where(high > low, counts[high] - counts[low], 0)
    if call.function == "count":
        return pa.array(many)
    if call.function in ("min", "max"):
        return values[0].take(pa.array(_extremes(call, lines, values[0], low, high, many), pa.int64()))
    if call.function in ("sum", "avg"):
        totals = sums(values[0], call.frame, lines, low, high)
        return averages(totals, many, call.type) if call.function == "avg" else _fitting(totals, many, call.type)
    return spreads(call.function, values[0], low, high, many)


def _shares(call: OverCall, lines: Sorted) -> np.ndarray:
    """Where a row stands in its partition, as a part of it."""
    place, size = np.arange(lines.count) - lines.begins, lines.ends - lines.begins
    found: np.ndarray
    if call.function == "ntile":
        small, more = size // call.number, size % call.number
        wide = more * (small + 1)
        found = np.where(place < wide, place // (small + 1), more + (place - wide) // np.maximum(small, 1)) + 1
    elif call.function == "percent_rank":
        found = np.where(size > 1, (lines.first_alike - lines.begins) / np.maximum(size - 1, 1), 0.0)
    else:
        found = (lines.last_alike - lines.begins) / size
    return found


def _shifted(call: OverCall, lines: Sorted, values: list[pa.Array]) -> pa.Array:
    """The value so many rows back or ahead, and the default where there are not as many."""
    back = call.function == "lag"
    place = np.arange(lines.count)
    if call.ignore_nulls and call.number:
        known = np.flatnonzero(values[0].is_valid().to_numpy(zero_copy_only=False))
        found = np.searchsorted(known, place) - call.number if back else np.searchsorted(known, place, "right")
        found = found if back else found + call.number - 1
        inside = (found >= 0) & (found < len(known))
        place = np.where(inside, np.append(known, 0)[np.where(inside, found, 0)], -1)
    else:
        place = place - call.number if back else place + call.number
    inside = (place >= lines.begins) & (place < lines.ends)
    taken = values[0].take(pa.array(place, pa.int64(), mask=~inside))
    if len(values) == 1:
        return taken
    default = values[1].cast(values[0].type)
    return pa.concat_arrays([taken, default]).take(pa.array(np.where(inside, 0, lines.count) + np.arange(lines.count)))


def _edges(call: OverCall, low: np.ndarray, high: np.ndarray, known: np.ndarray) -> pa.Array:
    """Which row of each frame is asked for."""
    if call.ignore_nulls:
        rows = np.append(np.flatnonzero(known), 0)
        first, end = (np.searchsorted(rows[:-1], edge) for edge in (low, high))
    else:
        rows, first, end = np.arange(len(low) + 1), low, high
    place = end - 1 if call.function == "last_value" else first
    place = place + (call.number - 1 if call.function == "nth_value" else 0)
    missing = (place >= end) | (place < first)
    return pa.array(rows[np.where(missing, 0, place)], pa.int64(), mask=missing)


def _extremes(
    call: OverCall, lines: Sorted, values: pa.Array, low: np.ndarray, high: np.ndarray, many: np.ndarray
) -> pa.Array:
    """Which row has the smallest, or the largest, value of each frame."""
    smallest = call.function == "min"
    found = ranks(values, Term("", descending=not smallest, nulls_first=False))
    least = lines.folded(np.minimum, found, call.frame, low, high, 1 << 62)
    order = np.argsort(found, kind="stable")
    place = order[np.minimum(np.searchsorted(found[order], least), len(found) - 1)]
    return pa.array(place, pa.int64(), mask=many == 0)


def _fitting(totals: np.ndarray, many: np.ndarray, type: pa.DataType) -> pa.Array:
    """Sums as they are told; one of whole numbers that 64 bits cannot hold is none."""
    if totals.dtype != object:
        return pa.array(totals, mask=many == 0)
    if pa.types.is_decimal(type):
        return pa.array(list(_decimals(totals, many, type.scale)), type)
    known = [int(total) if count and -(2**63) <= total < 2**63 else None for total, count in zip(totals, many)]
    return pa.array(known, type)


def _decimals(totals: np.ndarray, many: np.ndarray, scale: int) -> Iterator[Decimal | None]:
    for total, count in zip(totals, many):
        yield Decimal(int(total)).scaleb(-scale) if count else None
