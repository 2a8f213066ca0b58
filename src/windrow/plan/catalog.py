"""What a query may name: streams, tables, and the aggregates that users have registered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa
from sqlglot import exp


class Engine(Protocol):
    """Whoever evaluates row expressions, asked beforehand what comes out."""

    def type_of(self, expression: exp.Expr, schema: pa.Schema) -> pa.DataType:
        """The type of an expression over columns of `schema`; raises QueryError if it has none."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream's columns, how its events are timed (None: by arrival), and how late they may be."""

    name: str
    schema: pa.Schema
    time: str | None
    lateness_us: int = 0


@dataclass(frozen=True, slots=True)
class UserAggregate:
    """A user's aggregate: its class and the type that its `finish` returns."""

    implementation: type
    type: pa.DataType


@dataclass(frozen=True, slots=True)
class Catalog:
    """All that is known to the queries of a session."""

    engine: Engine
    streams: Mapping[str, Stream] = field(default_factory=dict)
    tables: Mapping[str, pa.Schema] = field(default_factory=dict)
    aggregates: Mapping[str, UserAggregate] = field(default_factory=dict)
