"""An index in replay: the rows of its query are found by their keys, as of each batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from windrow.errors import SettingsError
from windrow.indexes.choose import MakeStructure
from windrow.indexes.facts import TIME
from windrow.indexes.row_index import RowIndex
from windrow.language import CreateIndex, Query, parse_query, parse_script
from windrow.local.ask import aggregate, ask
from windrow.plan.catalog import Catalog
from windrow.plan.window_index import BoundIndex, ColumnsOf, bind_index
from windrow.runtime.outcome import Outcome


def index_in(text: str | Query, catalog: Catalog, columns_of: ColumnsOf) -> BoundIndex | None:
    """The index that a text declares, if it is no query."""
    if isinstance(text, Query):
        return None
    statements = parse_script(text)
    if len(statements) == 1 and isinstance(statements[0], CreateIndex):
        return bind_index(statements[0], catalog, columns_of)
    parse_query(text)
    return None


def read_indexes(texts: Sequence[str], catalog: Catalog, columns_of: ColumnsOf) -> list[BoundIndex]:
    """The indexes that some texts declare."""
    found = [index_in(text, catalog, columns_of) for text in texts]
    for text, bound in zip(texts, found):
        if bound is None:
            raise SettingsError(f"{text!r} declares no index\nhint: CREATE INDEX name ON stream [...] (columns)")
    return [bound for bound in found if bound is not None]


class ReplayedIndex:
    """What was told of an index so far, in a ring of panes in memory."""

    def __init__(self, bound: BoundIndex, structure: str | MakeStructure | None) -> None:
        self._facts = bound.facts
        self._index = RowIndex(bound.facts, structure)

    def take(self, outcome: Outcome, name: str, clock_us: int | None) -> None:
        """Take in what a batch gave, up to the clock, or to the last event where the input has ended."""
        told = [batch for own, batch in outcome.results if own == name]
        rows = pa.Table.from_batches(told) if told else self._facts.rows.empty_table()
        if rows.num_rows:
            last = int(rows[TIME].cast(pa.int64()).to_numpy().max()) + 1
            clock_us = last if clock_us is None else max(last, clock_us)
        if clock_us is not None:
            self._index.add(rows, clock_us)

    def named(self, name: str) -> RowIndex:
        if name != self._facts.name:
            raise SettingsError(f"there is no index {name!r}\nhint: there is {self._facts.name}")
        return self._index

    def aggregate(self, name: str, expression: str, key: dict[str, Any]) -> Any:
        return aggregate(expression, self._facts, self.named(name), key)

    def ask(self, text: str) -> pa.Table:
        return ask(text, lambda name: (self._facts, self.named(name)))
