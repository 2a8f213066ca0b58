"""The answers that a query would have over recent events, by replay: a look before it is added."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from windrow.errors import AskError
from windrow.local.replay import replay
from windrow.plan.catalog import Stream
from windrow.serve.values import json_rows

MOST_EVENTS, MOST_ROWS = 20_000, 500


def preview_of(
    name: str, text: str, streams: Mapping[str, Stream], events: Mapping[str, pa.Table], tables: Mapping[str, pa.Table]
) -> dict[str, Any]:
    """The newest rows of a query over the newest of some events."""
    began = time.perf_counter()
    recent = {own: table.slice(max(0, table.num_rows - MOST_EVENTS)) for own, table in events.items()}
    times = {own: streams[own].time for own in recent}
    found = replay(text, streams=recent, times=times, tables=dict(tables), lateness="0 seconds")
    note = ""
    if not found.num_rows:
        found = replay(text, streams=recent, times=times, tables=dict(tables), lateness="0 seconds", flush=True)
        note = "no window is full with these events: they are shown as if the stream had ended"
    shown = found.slice(max(0, found.num_rows - MOST_ROWS))
    return {
        "query": name,
        "columns": [{"name": field.name, "type": str(field.type)} for field in shown.schema],
        "rows": json_rows(shown),
        "count": found.num_rows,
        "events": sum(table.num_rows for table in recent.values()),
        "seconds": round(time.perf_counter() - began, 3),
        "note": note,
    }


def events_for(names: set[str], events: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """The recent events of the streams that a query reads."""
    missing = sorted(name for name in names if name not in events)
    if missing:
        raise AskError(
            f"no recent events of {missing[0]!r} can be read here, so there is no preview"
            "\nhint: it can be added all the same; files of Parquet on this machine can be looked into"
        )
    return {name: events[name] for name in names}
