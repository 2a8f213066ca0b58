"""What a query in replay may name."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from windrow.clustering import KnownClusterings
from windrow.errors import SettingsError, WindrowError
from windrow.language import Windrow
from windrow.local.evaluate.types import written_type
from windrow.local.expressions import FUNCTIONS, type_of
from windrow.plan.catalog import Catalog, Stream, UserAggregate
from windrow.plan.lateness import read_lateness
from windrow.plan.user_aggregates import check_aggregate, wrong_result


class LocalEngine:
    """Row expressions as replay evaluates them."""

    def type_of(self, expression: exp.Expr, schema: pa.Schema) -> pa.DataType:
        return type_of(expression, schema)


def local_catalog(
    streams: Mapping[str, pa.Table],
    tables: Mapping[str, pa.Table],
    *,
    time: str | None,
    lateness: str,
    idle_clock: bool,
    aggregates: Mapping[str, type],
    clusterings: Mapping[str, type],
) -> tuple[Catalog, dict[str, type]]:
    """The streams, tables and users' code of a replay, and that code by name."""
    if time is None and (idle_clock or read_lateness(lateness)):
        what = "idle clock" if idle_clock else "lateness"
        raise SettingsError(f"streams timed by arrival have no {what}: say with time=... when events happened")
    known = {}
    for name, events in streams.items():
        if time is not None and time not in events.column_names:
            raise SettingsError(f"stream {name!r} has no column {time!r}; columns: {', '.join(events.column_names)}")
        known[name] = Stream(name, events.schema, time, read_lateness(lateness), idle_clock)
    user = {}
    for name, implementation in aggregates.items():
        check_aggregate(name, implementation)
        if name.lower() in FUNCTIONS:
            raise SettingsError(f"{name.upper()} is a function already: give the aggregate another name")
        user[name.lower()] = UserAggregate(implementation, _result_type(name, implementation))
    plugins = KnownClusterings(clusterings)
    schemas = {name: table.schema for name, table in tables.items()}
    code = {name: registered.implementation for name, registered in user.items()} | dict(clusterings)
    return Catalog(LocalEngine(), known, schemas, user, plugins), code


def _result_type(name: str, implementation: type) -> pa.DataType:
    """The type that a user's aggregate says it returns."""
    returns = getattr(implementation, "returns", "DOUBLE")
    if not isinstance(returns, str):
        raise wrong_result(name, returns, "it is no text")
    try:
        cast = sqlglot.parse_one(f"CAST(NULL AS {returns})", dialect=Windrow)
        if isinstance(cast, exp.Cast):
            return written_type(cast.to)
    except (SqlglotError, WindrowError, ValueError):
        pass
    raise wrong_result(name, returns, "there is no such type, or replay does not know it")
