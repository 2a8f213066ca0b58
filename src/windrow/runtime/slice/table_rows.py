"""Events joined with tables, before they are cut into panes: the rows that queries over a joined stream count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.expressions.columns import normal
from windrow.expressions.evaluate_text import evaluate_text
from windrow.operators.pairs import expand
from windrow.plan.nodes.joined_rows import JoinedRows, TableStep, column_text, columns_in
from windrow.runtime.slice.table_index import TableIndex

MOST_PAIRS = 1 << 22
"""So many rows are joined at once; where a table has many rows of one key, fewer events are."""


@dataclass(frozen=True, slots=True)
class JoinedEvents:
    """Joined rows: which of the events each comes from, and the columns that were asked for, by expression."""

    events: np.ndarray
    columns: dict[str, pa.Array]


class TableRows:
    """Joins events with the tables of one `JoinedRows`, each of which is hashed once.

    Rows are in order of their events, and those of one event in the order of the table, so that a batch that runs
    again gives the same bits.
    """

    def __init__(self, rows: JoinedRows, tables: Mapping[str, pa.Table]) -> None:
        self._rows = rows
        self._held: list[dict[str, pa.Array]] = []
        self._indexes: list[TableIndex] = []
        for step in rows.steps:
            held = {f"{step.name}.{name}": normal(tables[step.table][name]) for name in tables[step.table].column_names}
            self._held.append(held)
            self._indexes.append(_index(step, held))

    @property
    def columns(self) -> dict[str, pa.Array]:
        """The columns of the tables, by the names that expressions have for them."""
        return {name: column for held in self._held for name, column in held.items()}

    def joined_columns(
        self, events: Mapping[str, pa.Array], chosen: np.ndarray, names: Iterable[str]
    ) -> Iterator[JoinedEvents]:
        """The rows of the `chosen` events, in pieces, with these columns of the tables."""
        texts = {name: column_text(name) for name in names}
        for found in self.joined(events, chosen, texts.values()):
            yield JoinedEvents(found.events, {name: found.columns[text] for name, text in texts.items()})

    def joined(
        self, events: Mapping[str, pa.Array], chosen: np.ndarray, texts: Iterable[str]
    ) -> Iterator[JoinedEvents]:
        """The rows of the `chosen` events, in pieces, with what `texts` say of them.

        `events` are the columns that `JoinedRows.read_of_events` asks for, by expression.
        """
        waiting, texts = [chosen], list(texts)
        while waiting:
            some = waiting.pop()
            state = self._attempt(events, some)
            if state is None:
                half = len(some) // 2
                waiting += [some[half:], some[:half]]
            elif len(state.events):
                yield JoinedEvents(state.events, {text: state.value(text) for text in texts})

    def _attempt(self, events: Mapping[str, pa.Array], some: np.ndarray) -> _Pairs | None:
        """The rows of some events; None if there are too many for one piece."""
        state = _Pairs(self._rows, events, self._held, some, [])
        for step, index in zip(self._rows.steps, self._indexes):
            low, high = index.found([state.value(pair.left).cast(pair.type) for pair in step.on])
            if len(some) > 1 and int((high - low).sum()) > MOST_PAIRS:
                return None
            owners, partners = expand(low, high, index.rows)
            for text in step.residual:
                holds = state.with_partners(owners, partners).value(text).fill_null(False)
                kept = holds.to_numpy(zero_copy_only=False)
                owners, partners = owners[kept], partners[kept]
            if step.kind == "left":
                alone = np.setdiff1d(np.arange(len(low)), owners)
                owners, partners = np.concatenate([owners, alone]), np.concatenate([partners, np.full(len(alone), -1)])
                order = np.argsort(owners, kind="stable")
                owners, partners = owners[order], partners[order]
            state = state.with_partners(owners, partners)
        return state


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Rows after some of the joins: the event of each, and its place in each table, -1 where it has no partner."""

    rows: JoinedRows
    read: Mapping[str, pa.Array]
    held: list[dict[str, pa.Array]]
    events: np.ndarray
    places: list[np.ndarray]

    def with_partners(self, owners: np.ndarray, partners: np.ndarray) -> _Pairs:
        places = [*(place[owners] for place in self.places), partners]
        return _Pairs(self.rows, self.read, self.held, self.events[owners], places)

    def value(self, text: str) -> pa.Array:
        """The value of a row expression for each row."""
        if text in self.read:
            return self.read[text].take(pa.array(self.events))
        names = columns_in(text)
        return evaluate_text(text, pa.table([self._column(name) for name in names], names=list(names)))

    def _column(self, name: str) -> pa.Array:
        for held, places in zip(self.held, self.places):
            if name in held:
                alone = places < 0
                return held[name].take(pa.array(places, mask=alone) if alone.any() else pa.array(places))
        return self.read[column_text(name)].take(pa.array(self.events))


def _index(step: TableStep, held: Mapping[str, pa.Array]) -> TableIndex:
    table = pa.table(list(held.values()), names=list(held))
    return TableIndex([evaluate_text(pair.right, table).cast(pair.type) for pair in step.on])
