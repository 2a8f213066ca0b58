"""SQL over what indexes hold now: `SELECT AVG(speed) FROM speeds WHERE xway = 1 AND dir = 0`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import pyarrow as pa
from sqlglot import exp

from windrow.errors import QueryError, SettingsError
from windrow.indexes.facts import TIME, IndexFacts
from windrow.language import Query, error_at, identifier_sql, parse_query
from windrow.local.answer_once import answer_once, is_aggregate
from windrow.local.key_bounds import bounds_of


class AskedIndex(Protocol):
    """Whatever holds the rows of a window by their keys."""

    def scan(self, **key: Any) -> pa.Table:
        """The events whose keys begin with what is given."""
        ...


Named = Callable[[str], tuple[IndexFacts, AskedIndex]]
"""Finds an index by its name; raises SettingsError if there is none."""


def ask(text: str, named: Named) -> pa.Table:
    """The answer of a query over what indexes hold now; of one alone, what WHERE says of its key is what is read."""
    query = parse_query(text)
    own = {part.alias for part in query.tree.find_all(exp.CTE)}
    sources = [table for table in query.tree.find_all(exp.Table) if table.name not in own]
    if not sources:
        at, end = query.span
        raise QueryError("an index is asked by a SELECT", text=text, at=at, end=end, hint="SELECT ... FROM index")
    rows: dict[str, pa.Table] = {}
    for source in sources:
        if source.name not in rows:
            facts, index = _found(source, query, named)
            alone = len(sources) == 1 and source.parent_select is query.tree
            where = query.tree.args.get("where") if alone else None
            rows[source.name] = _in_time(index.scan(**bounds_of(where, facts)))
    return answer_once(query, rows)


def aggregate(expression: str, facts: IndexFacts, index: AskedIndex, key: dict[str, Any]) -> Any:
    """One aggregate, such as AVG(speed), of the events whose keys begin with `key`; of none it is as SQL has it."""
    query = parse_query(f"SELECT {expression} AS answer FROM {identifier_sql(facts.name)}")
    if not is_aggregate(query.tree) or len(query.tree.expressions) != 1:
        raise SettingsError(f"{expression!r} is no aggregate\nhint: such as 'AVG({facts.schema.names[-1]})'")
    return answer_once(query, {facts.name: _in_time(index.scan(**key))})["answer"][0].as_py()


def _found(source: exp.Table, query: Query, named: Named) -> tuple[IndexFacts, AskedIndex]:
    try:
        return named(source.name)
    except SettingsError as error:
        message, _, way_out = str(error).partition("\nhint: ")
        raise error_at(source, message, query.text, way_out or None) from None


def _in_time(rows: pa.Table) -> pa.Table:
    """Rows in order of time, which is that in which the engine has them."""
    return rows.sort_by(TIME)
