"""Events that are read batch by batch, so that a stream may be longer than memory: all queries are told of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from windrow.errors import SettingsError
from windrow.local.replay_stages import StageReplay
from windrow.local.shares import Shares
from windrow.local.spill import blocks_in
from windrow.plan.catalog import Stream
from windrow.plan.nodes.stage import StagePlan

Told: TypeAlias = Callable[[str, pa.Table], None]
"""Who is given the rows of a query, by its name, as soon as a batch has brought them."""


def reader_in(events: Mapping[str, Any], batch_rows: int | None) -> tuple[str, pa.RecordBatchReader] | None:
    """The stream whose events come from a reader, if there is one; then it is the only one."""
    readers = {name: given for name, given in events.items() if isinstance(given, pa.RecordBatchReader)}
    if not readers:
        return None
    if len(events) > 1:
        raise SettingsError(f"{next(iter(readers))!r} is a reader, and there are other streams\nhint: give tables")
    if batch_rows is not None:
        raise SettingsError("batch_rows cuts tables: the batches of a reader are as they come")
    return next(iter(readers.items()))


def batch_by_batch(
    stream: str,
    reader: pa.RecordBatchReader,
    plans: Iterable[StagePlan],
    streams: Mapping[str, Stream],
    events: Mapping[str, pa.Table],
    flush: bool,
    spill: str | Path | None,
    shares: Shares | None = None,
    told: Told | None = None,
) -> dict[str, pa.Table]:
    """All results of each query over the batches of a reader, which are read once, whatever scans there are.

    Whoever is `told` them is given them batch by batch, and none is kept.
    """
    found: dict[str, list[pa.Table]] = {}

    def keep(name: str, rows: pa.Table) -> None:
        found[name].append(rows)

    take = keep if told is None else told
    with ExitStack() as opened:
        replays = [StageReplay(plan, streams, events, opened.enter_context(blocks_in(spill)), shares) for plan in plans]
        for replay in replays:
            found |= {name: [replay.shown(name).empty_table()] for name in replay.queries}
        for batch in reader:
            for replay in replays:
                rows, _ = replay.work_off({stream: pa.Table.from_batches([batch])})
                for name, table in rows.items():
                    take(name, table)
        for replay in replays if flush else ():
            for name, table in replay.end().items():
                take(name, table)
    return {name: pa.concat_tables(tables) for name, tables in found.items()}
