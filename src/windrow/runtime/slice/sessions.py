"""Events into pieces of sessions: what a map task does for windows of rows that follow each other closely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from windrow.kernels import Kernel, identity, to_arrow
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.groupings import plain_keys, sets_in
from windrow.plan.nodes.spaces import RowSpace
from windrow.plan.windows.cuts import Cuts
from windrow.plan.windows.session_window import SessionWindow
from windrow.runtime.reject import RAW, TIME
from windrow.runtime.rows.session_numbers import numbered_sessions
from windrow.runtime.slice.chunk import Chunk
from windrow.runtime.slice.places import Places
from windrow.runtime.slice.rows import counted_rows

START, LAST, EVENTS, CAME, COUNT = "start", "last", "events", "came", "count"
"""When the first and the last row of a piece happened; how many rows of a group it has, those included that WHERE keeps
out; and of these rows the times, each with how many there are about then, or, where late ones are to be kept, each as
it came."""


@dataclass(frozen=True, slots=True)
class Decides:
    """What the shards of sessions must know to say who is late: events as `cuts` tell them apart, or `keeps` them."""

    cuts: Cuts | None = None
    keeps: bool = False


NOBODY = Decides()
"""Sessions that decide for themselves alone."""


def session_entries(
    space: RowSpace, kernels: Mapping[Partial, Kernel], chunk: Chunk, decides: Decides = NOBODY
) -> pa.RecordBatch | None:
    """One entry for each group of each piece: rows that are here and of one session, whatever else belongs to it.

    Rows that WHERE keeps out belong to sessions all the same, so a group may have an empty partial. Where the sessions
    `decide` for others who is late, pieces say when their rows happened, since only a shard knows that. Where sessions
    are answered while they are open, a piece ends where such an answer is due, which has what came before.
    """
    assert isinstance(space.window, SessionWindow)
    if sets_in(space.keys):
        return _every_grouping(space, kernels, chunk, decides)
    return _entries(space, kernels, chunk, decides, whole=space.window.every_us is not None)  # pieces may wait together


def _entries(
    space: RowSpace, kernels: Mapping[Partial, Kernel], chunk: Chunk, decides: Decides, whole: bool
) -> pa.RecordBatch | None:
    assert isinstance(space.window, SessionWindow)
    counted = counted_rows(space, chunk)
    rows = np.flatnonzero(counted)
    if not len(rows):
        return None
    owners, _ = chunk.groups(tuple(space.keys[i] for i in space.partition))
    times = chunk.times[rows]
    cells, cell = 1, np.zeros(len(rows), np.int64)
    if space.window.every_us is not None:
        between, cell = np.unique(times // space.window.every_us, return_inverse=True)
        cells = len(between)
    pieces = numbered_sessions(owners[rows] * cells + cell, times, times, space.window.gap_us)
    groups, keys = chunk.groups(space.keys)
    if len(space.partition) == len(space.keys):
        codes, held = pieces.numbers, np.arange(len(pieces.owners))
        piece, group = held, pieces.owners // cells
    else:
        count = len(keys[0]) if keys else 1
        places = Places.of(pieces.numbers, groups[rows], len(pieces.owners), count)
        held, codes = np.unique(places.codes, return_inverse=True)
        piece, group = places.decode(held)
    columns = {START: pa.array(pieces.starts[piece]), LAST: pa.array(pieces.lasts[piece])}
    columns[EVENTS] = pa.array(np.bincount(codes, minlength=len(held)))
    if decides != NOBODY:
        columns[CAME] = _came(chunk, rows, codes, len(held), decides)
    columns |= {f"key_{i}": key.take(pa.array(group)) for i, key in enumerate(keys)}
    lifted = np.full(len(chunk), -1)
    lifted[rows] = codes if space.where is None else np.where(chunk.passed(space.where)[rows], codes, -1)
    for partial in space.partials:
        fields = identity(kernels[partial], len(held))
        kernels[partial].lift(fields, lifted, chunk.rows(partial))
        stored = to_arrow(kernels[partial], fields, whole=whole)
        columns |= {f"{partial.name}.{name}": column for name, column in stored.items()}
    return pa.record_batch(columns)


def _came(chunk: Chunk, rows: np.ndarray, codes: np.ndarray, count: int, decides: Decides) -> pa.ListArray:
    """When the `rows` of each of `count` entries happened: one by one as they came, or how many there are in a pane."""
    times = chunk.times[rows]
    if decides.keeps:
        order, counts = np.argsort(codes, kind="stable"), np.ones(len(rows), np.int64)
    else:
        assert decides.cuts is not None
        panes, _ = decides.cuts.cut(times)
        order = np.lexsort((panes, codes))
        begins = np.flatnonzero((np.diff(codes[order], prepend=-1) != 0) | (np.diff(panes[order], prepend=-1) != 0))
        order, counts = order[begins], np.diff(begins, append=len(rows))
    columns = {TIME: pa.array(times[order]), COUNT: pa.array(counts)}
    if decides.keeps:
        columns[RAW] = chunk.raw.take(pa.array(rows[order]))
    offsets = np.searchsorted(codes[order], np.arange(count + 1)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.StructArray.from_arrays([*columns.values()], [*columns]))


def _every_grouping(
    space: RowSpace, kernels: Mapping[Partial, Kernel], chunk: Chunk, decides: Decides
) -> pa.RecordBatch | None:
    """The entries of each grouping, folded by itself: FIRST and the like go by the order of rows of all its keys.

    Rows are counted, and kept, with the first of them.
    """
    plain, parts = plain_keys(space.keys), []
    for number, chosen in enumerate(sets_in(space.keys)):
        part = _entries(replace(space, keys=tuple(plain[i] for i in chosen)), kernels, chunk, decides, whole=True)
        if part is None:
            return None
        columns = {name: part.column(name) for name in part.schema.names if not name.startswith("key_")}
        if number:
            columns[EVENTS] = pa.array(np.zeros(part.num_rows, np.int64))
        if number and decides != NOBODY:
            columns[CAME] = pa.array([[]] * part.num_rows, part.schema.field(CAME).type)
        for place, key in enumerate(plain):
            known = part.column(f"key_{chosen.index(place)}") if place in chosen else pa.nulls(part.num_rows)
            columns[f"key_{place}"] = known.cast(key.type)
        columns[f"key_{len(plain)}"] = pa.array(np.full(part.num_rows, number, np.int32))
        parts.append(pa.record_batch(columns))
    return pa.Table.from_batches(parts).combine_chunks().to_batches()[0]
