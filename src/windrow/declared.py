"""`Declared`: what has been declared by name, for queries to read; a session runs it, a draft tells of it."""

from __future__ import annotations

import pyarrow as pa

from windrow.compile.compile import Compiler
from windrow.compile.spell_names import refuse_unknown
from windrow.errors import QueryError, SettingsError
from windrow.language import CreateIndex, Query, parse_query
from windrow.plan.catalog import Stream
from windrow.plan.idle_clock import IdleClock
from windrow.plan.nodes.run_names import CHANGES_OF
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.nodes.wanted import NOTHING, Wanted
from windrow.plan.sink import Sink
from windrow.plan.window_index import BoundIndex, bind_index, index_sink, where_written


class Declared:
    """Streams, tables, views, indexes and queries by their names. `_compiler` knows them by a catalog of the same."""

    _compiler: Compiler

    def __init__(self, beat_us: int | None = None) -> None:
        """`beat_us` is how often all idle clocks are looked at that say nothing else."""
        self._beat_us = IdleClock(beat_us=beat_us).beat_us
        self._streams: dict[str, Stream] = {}
        self._columns_of_tables: dict[str, pa.Schema] = {}
        self._views: dict[str, Query] = {}
        self._indexes: dict[str, BoundIndex] = {}
        self._queries: dict[str, AnyQuery] = {}
        self._texts: dict[str, Query] = {}

    def derive(self, name: str, query: str | Query) -> None:
        """Register a stream whose events are the answers of a query, each at the end of its window.

        Other queries read it as any stream, through windows of their own.
        """
        self._check_name(name)
        if name.startswith((CHANGES_OF, "#")):
            raise SettingsError(f"no stream can be called {name!r}: give it another name")
        self._streams[name] = self._compiler.derive_stream(name, _read(query))

    def branch(self, name: str, query: Query) -> None:
        """Register a stream of what a query takes of another one, row by row: queries over both share its scan."""
        self._check_name(name)
        self._compiler.check_branch(query)
        self._views[name] = query

    def view(self, name: str, query: str | Query) -> None:
        """Register a query by a name that others may read, as if it stood in their WITH."""
        self._check_name(name)
        self._views[name] = _read(query)

    def check_views(self) -> None:
        """Refuse a view of what has not been declared, also where no query reads the view."""
        for view in self._views.values():
            refuse_unknown(view, self._compiler.catalog)

    def create_index(self, index: CreateIndex) -> Sink:
        """Register an index that has been read already; returns where its rows go."""
        bound = bind_index(index, self._compiler.catalog, self._compiler.columns_of)
        self._refuse_twice(index.name, bound.query)
        try:
            self.register(index.name, bound.query)
        except QueryError as error:
            raise where_written(index, error) from None
        self._indexes[index.name] = bound
        return index_sink(bound)

    def register(self, name: str, query: Query, choose: Wanted = NOTHING) -> AnyQuery:
        """Register a query that has been read already; returns its plan."""
        self._refuse_twice(name, query)
        self._queries[name] = self._compiler.compile_query(name, query, self._queries.values(), choose)
        self._texts[name] = query
        return self._queries[name]

    def _refuse_twice(self, name: str, query: Query) -> None:
        if name in self._queries:
            raise QueryError(f"there is a query {name!r} already", text=query.text, at=query.span[0], end=query.span[1])

    def _check_name(self, name: str) -> None:
        if name in self._streams or name in self._columns_of_tables or name in self._views:
            raise SettingsError(f"there is a stream, table or view {name!r} already")


def _read(query: str | Query) -> Query:
    return parse_query(query) if isinstance(query, str) else query
