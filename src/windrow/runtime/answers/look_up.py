"""Answers with what tables have to tell of their groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pyarrow as pa

from windrow.expressions.evaluate_text import evaluate_text
from windrow.plan.nodes.joined_rows import JoinedRows, column_text, columns_in
from windrow.plan.nodes.query_plan import LookUp, QueryPlan
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.runtime.slice.table_rows import TableRows

Result = tuple[str, pa.RecordBatch]


class LookUps:
    """Adds columns of tables to the answers of those queries that look them up; `hashed` has the tables of a join."""

    def __init__(self, plan: StreamPlan, hashed: Callable[[JoinedRows], TableRows]) -> None:
        self._queries = {query.name: query for query in plan.queries if query.look_up is not None}
        self._hashed = hashed

    def __contains__(self, query: str | None) -> bool:
        return query in self._queries

    def added(self, results: Iterable[Result]) -> list[Result]:
        """The same results; rows without a partner, in an inner join, are none."""
        if not self._queries:
            return list(results)
        found = []
        for name, rows in results:
            query = self._queries.get(name)
            if query is None or query.look_up is None:
                found.append((name, rows))
            elif (more := self._looked_up(query, query.look_up, rows)).num_rows:
                found.append((name, more))
        return found

    def _looked_up(self, query: QueryPlan, look_up: LookUp, rows: pa.RecordBatch) -> pa.RecordBatch:
        known = {key.sql: rows.column(f"key_{number}") for number, key in enumerate(query.keys)}
        plain = [(name, text) for text in known for name in columns_in(text) if text == column_text(name)]
        columns = {name: known[text] for name, text in plain}
        groups = pa.table(list(columns.values()), names=list(columns))
        texts = [key.sql for key in look_up.columns]
        needed = look_up.rows.read_of_events(texts)
        read = {text: known[text] if text in known else evaluate_text(text, groups) for text in needed}
        parts = []
        for found in self._hashed(look_up.rows).joined(read, np.arange(rows.num_rows), texts):
            taken = rows.take(pa.array(found.events))
            values = [found.columns[key.sql].cast(key.type) for key in look_up.columns]
            parts.append(pa.record_batch([*taken.columns, *values], schema=query.emitted))
        whole = pa.Table.from_batches(parts, query.emitted).combine_chunks().to_batches()
        return whole[0] if whole else pa.RecordBatch.from_pylist([], query.emitted)
