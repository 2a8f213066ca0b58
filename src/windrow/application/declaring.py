"""Where the statements of a script are declared, as a contract: a session, or a draft, which has no Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import pyarrow as pa

from windrow.language import ColumnDefinition, CreateIndex, Query
from windrow.plan.history import History
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.refresh import Refresh
from windrow.plan.sink import Sink
from windrow.plan.timed_by import TimedBy


class Declaring(Protocol):
    """Where the statements of a script are declared: a `Session`, or a `Draft`, which has no Spark."""

    reads_files: bool
    """Whether a stream is opened on its files; else the columns that are declared are enough."""

    def open_stream(self, format: str, options: Mapping[str, str], ddl: str | None) -> Any:
        """A stream, to be given to `declare_opened`; without `ddl`, its columns are found in the files."""

    def open_messages(
        self,
        options: Mapping[str, str],
        message: str | None,
        message_options: Mapping[str, str],
        columns: Sequence[ColumnDefinition],
    ) -> Any:
        """A stream of Kafka, to be given to `declare_opened`."""

    def declare_opened(
        self, name: str, opened: Any, timed_by: TimedBy, after: History | None = None, beside: Sequence[str] = ()
    ) -> None:
        """Register a stream that was opened, to be read `after` its history, which may lack the columns `beside`."""

    def open_table(
        self, name: str, format: str, options: Mapping[str, str], ddl: str | None, refresh: Refresh | None = None
    ) -> None:
        """Register rows that events are joined with."""

    def derive(self, name: str, query: str | Query) -> None:
        """Register a stream whose events are the answers of a query."""

    def view(self, name: str, query: str | Query) -> None:
        """Register a query by a name that others may read."""

    def check_views(self) -> None:
        """Refuse a view of what has not been declared."""

    def branch(self, name: str, query: Query) -> None:
        """Register a stream of what a query takes of another one."""

    def register(self, name: str, query: Query) -> AnyQuery:
        """Register a query; returns its plan."""

    def create_index(self, index: CreateIndex) -> Sink:
        """Register an index, and the query that its rows are; returns where they go."""

    def missing_format(self, format: str) -> str | None:
        """What is wrong with the name of a format, if anything."""

    def shown_columns(self, query: AnyQuery) -> pa.Schema:
        """The columns of a query's rows as their reader sees them."""
