"""What a query in replay may name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
from sqlglot import exp
from sqlglot.errors import SqlglotError

from windrow.clustering import KnownClusterings
from windrow.errors import SettingsError, WindrowError
from windrow.expressions.evaluate import FUNCTIONS
from windrow.expressions.local_engine import LocalEngine
from windrow.expressions.types import written_type
from windrow.kernels.state_codec import storing
from windrow.kernels.user import check_state
from windrow.language import parse_expression
from windrow.operators.stored_functions import check_function
from windrow.plan.aggregate_plugin import Abilities
from windrow.plan.catalog import Catalog, UserAggregate
from windrow.plan.idle_clock import IdleClock
from windrow.plan.stream_function import read_function
from windrow.plan.timed_by import TimedBy
from windrow.plan.user_aggregates import check_aggregate, wrong_result


def local_catalog(
    streams: Mapping[str, pa.Table],
    tables: Mapping[str, pa.Table],
    *,
    time: str | None,
    times: Mapping[str, str | None] | None = None,
    lateness: str,
    idle_clock: bool | IdleClock,
    ahead: str | None = None,
    aggregates: Mapping[str, type],
    clusterings: Mapping[str, type],
    states: Mapping[str, str] | None = None,
    deduplicate: Mapping[str, tuple[str, str]] | None = None,
    correct_for: str | None = None,
    shed: bool = False,
    functions: Mapping[str, type] | None = None,
) -> Catalog:
    """The streams, tables and users' code of a replay."""
    states = states or {}
    nameless = [name for name in times or {} if name not in streams]
    if nameless:
        raise SettingsError(f"times names {nameless[0]!r}, which is no stream; streams: {', '.join(streams)}")
    nameless = [name for name in deduplicate or {} if name not in streams]
    if nameless:
        raise SettingsError(f"deduplicate names {nameless[0]!r}, which is no stream; streams: {', '.join(streams)}")
    known = {}
    for name, events in streams.items():
        column = (times or {}).get(name, time)
        by, within = (deduplicate or {}).get(name, (None, None))
        timed_by = TimedBy.read(column, lateness, idle_clock, ahead, by, within, correct_for)
        if timed_by.denied is not None:
            what = timed_by.denied
            raise SettingsError(f"streams timed by arrival have no {what}: say with time=... when events happened")
        if column is not None and column not in events.column_names:
            raise SettingsError(f"stream {name!r} has no column {column!r}; columns: {', '.join(events.column_names)}")
        known[name] = replace(timed_by, shed_us=0 if shed else None).stream(name, events.schema)
    functions = functions or {}
    unknown = [name for name in states if not any(name in given for given in (aggregates, clusterings, functions))]
    if unknown:
        raise SettingsError(f"states names {unknown[0]!r}, which is no aggregate, clustering or function given here")
    twice = [name for name in functions if name in aggregates or name in clusterings]
    if twice:
        raise SettingsError(f"{twice[0]!r} is a stream function and something else: give one of them another name")
    user = {}
    for name, implementation in aggregates.items():
        check_aggregate(name, implementation)
        if name.lower() in FUNCTIONS:
            raise SettingsError(f"{name.upper()} is a function already: give the aggregate another name")
        implementation = storing(f"aggregate {name!r}", implementation, states.get(name))
        check_state(name, implementation)
        user[name.lower()] = UserAggregate(implementation, _result_type(name, implementation))
    clusterings = {
        name: storing(f"clustering {name}", implementation, states.get(name))
        for name, implementation in clusterings.items()
    }
    plugins = KnownClusterings(clusterings)
    schemas = {name: table.schema for name, table in tables.items()}
    remembering = {
        name.lower(): check_function(name, read_function(name, code), states.get(name))
        for name, code in functions.items()
    }
    return Catalog(LocalEngine(), known, schemas, user, plugins, functions=remembering)


def as_arrow(events: Any, name: str) -> pa.Table:
    """Events as an Arrow table: from one, from record batches, or from pandas."""
    if isinstance(events, pa.Table):
        return events
    if isinstance(events, pa.RecordBatchReader):
        return events.schema.empty_table()  # its batches are read later
    if isinstance(events, pa.RecordBatch):
        return pa.Table.from_batches([events])
    if hasattr(events, "to_records"):  # pandas, which need not be installed
        return pa.Table.from_pandas(events, preserve_index=False)
    raise SettingsError(f"{name!r} is no table of Arrow or pandas, but {type(events).__name__}")


def _result_type(name: str, implementation: type) -> pa.DataType:
    """The type that a user's aggregate says it returns."""
    returns = Abilities.of(implementation).returns
    if not isinstance(returns, str):
        raise wrong_result(name, returns, "it is no text")
    try:
        cast = parse_expression(f"CAST(NULL AS {returns})")
        if isinstance(cast, exp.Cast):
            return written_type(cast.to)
    except (SqlglotError, WindrowError, ValueError):
        pass
    raise wrong_result(name, returns, "there is no such type, or replay does not know it")
