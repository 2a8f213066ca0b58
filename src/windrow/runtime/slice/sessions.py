"""Events into pieces of sessions: what a map task does for windows of rows that follow each other closely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from windrow.kernels import Kernel, identity, to_arrow
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.groupings import plain_keys, sets_in
from windrow.plan.nodes.spaces import RowSpace
from windrow.plan.windows.session_window import SessionWindow
from windrow.runtime.reject import RAW, TIME
from windrow.runtime.rows.session_numbers import numbered_sessions
from windrow.runtime.slice.chunk import Chunk
from windrow.runtime.slice.places import Places
from windrow.runtime.slice.rows import counted_rows

START, LAST, EVENTS, CAME = "start", "last", "events", "came"
"""When the first and the last row of a piece happened; how many rows of a group it has, those included that WHERE keeps
out; and these rows with their times as they came, where late ones are to be kept."""


def session_entries(
    space: RowSpace, kernels: Mapping[Partial, Kernel], chunk: Chunk, keeps: bool = False
) -> pa.RecordBatch | None:
    """One entry for each group of each piece: rows that are here and of one session, whatever else belongs to it.

    Rows that WHERE keeps out belong to sessions all the same, so a group may have an empty partial. With `keeps`,
    pieces have their rows with them, since only a shard knows which are late. Where sessions are answered while they
    are open, a piece ends where such an answer is due, which has what came before.
    """
    assert isinstance(space.window, SessionWindow)
    if sets_in(space.keys):
        return _every_grouping(space, kernels, chunk, keeps)
    return _entries(space, kernels, chunk, keeps, whole=space.window.every_us is not None)  # pieces may wait together


def _entries(
    space: RowSpace, kernels: Mapping[Partial, Kernel], chunk: Chunk, keeps: bool, whole: bool
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
    if keeps:
        order = np.argsort(codes, kind="stable")
        came = pa.StructArray.from_arrays([pa.array(times[order]), chunk.raw.take(pa.array(rows[order]))], [TIME, RAW])
        offsets = np.searchsorted(codes[order], np.arange(len(held) + 1)).astype(np.int32)
        columns[CAME] = pa.ListArray.from_arrays(pa.array(offsets), came)
    columns |= {f"key_{i}": key.take(pa.array(group)) for i, key in enumerate(keys)}
    lifted = np.full(len(chunk), -1)
    lifted[rows] = codes if space.where is None else np.where(chunk.passed(space.where)[rows], codes, -1)
    for partial in space.partials:
        fields = identity(kernels[partial], len(held))
        kernels[partial].lift(fields, lifted, chunk.rows(partial))
        stored = to_arrow(kernels[partial], fields, whole=whole)
        columns |= {f"{partial.name}.{name}": column for name, column in stored.items()}
    return pa.record_batch(columns)


def _every_grouping(
    space: RowSpace, kernels: Mapping[Partial, Kernel], chunk: Chunk, keeps: bool
) -> pa.RecordBatch | None:
    """The entries of each grouping, folded by itself: FIRST and the like go by the order of rows of all its keys.

    Rows are counted, and kept, with the first of them.
    """
    plain, parts = plain_keys(space.keys), []
    for number, chosen in enumerate(sets_in(space.keys)):
        part = _entries(replace(space, keys=tuple(plain[i] for i in chosen)), kernels, chunk, keeps, whole=True)
        if part is None:
            return None
        columns = {name: part.column(name) for name in part.schema.names if not name.startswith("key_")}
        if number:
            columns[EVENTS] = pa.array(np.zeros(part.num_rows, np.int64))
        if number and keeps:
            columns[CAME] = pa.array([[]] * part.num_rows, part.schema.field(CAME).type)
        for place, key in enumerate(plain):
            known = part.column(f"key_{chosen.index(place)}") if place in chosen else pa.nulls(part.num_rows)
            columns[f"key_{place}"] = known.cast(key.type)
        columns[f"key_{len(plain)}"] = pa.array(np.full(part.num_rows, number, np.int32))
        parts.append(pa.record_batch(columns))
    return pa.Table.from_batches(parts).combine_chunks().to_batches()[0]
