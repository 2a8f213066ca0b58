"""A table that tells more of a group, and nothing of its rows, is looked up for answers: panes need no join."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from windrow.errors import QueryError
from windrow.expressions.columns import normal
from windrow.expressions.evaluate_text import evaluate_text
from windrow.language import expression_sql, parse_expression
from windrow.plan.catalog import Engine
from windrow.plan.nodes.emission import SNAPSHOT
from windrow.plan.nodes.groupings import sets_in
from windrow.plan.nodes.joined_rows import JoinedRows, TableStep, column_text, columns_in
from windrow.plan.nodes.query_plan import LookUp, QueryPlan
from windrow.plan.nodes.spaces import Key
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.nodes.stream_plan import texts_in
from windrow.plan.windows.parts import NestedWindow
from windrow.plan.windows.time_window import TimeWindow


def look_up_tables(query: AnyQuery, tables: Mapping[str, pa.Table], local: Engine) -> AnyQuery:
    """The query over the stream's own rows, if its tables can be looked up when a window is answered.

    They can if only keys and what is made of answers read them, if what they are joined by is among the other keys,
    and if no key of theirs has two rows: then each group has one partner, or none, and is counted without it. The
    query has the panes of those that do not join, and shares them. `SELECT s.k, SUM(x) ... JOIN limits ON s.k =
    limits.k GROUP BY s.k, limits.most HAVING SUM(x) > limits.most` is such a one. `local` types what is evaluated
    beside Spark.
    """
    if not isinstance(query, QueryPlan) or query.made_of is not None:
        return query
    rows, window = query.rows, query.window
    if (
        rows is None
        or query.by_engine
        or query.clusters is not None
        or query.emit != SNAPSHOT
        or sets_in(query.keys)
        or query.rankings
    ):
        return query
    if not isinstance(window, TimeWindow) or isinstance(window, NestedWindow):
        return query
    own = tuple(key for key in query.keys if rows.is_of_stream(key.sql))
    looked_up = tuple(key for key in query.keys if not rows.is_of_stream(key.sql))
    counted = texts_in(query.where, own, window, query.partials)
    if not all(rows.is_of_stream(text) for text in counted) or not _is_of_keys(rows, own, looked_up, local):
        return query
    if not all(_is_unique(step, tables[step.table]) for step in rows.steps):
        return query
    names = {}
    for number, key in enumerate(query.keys):
        names[f"key_{number}"] = f"key_{own.index(key)}" if key in own else f"look_{looked_up.index(key)}"
    return replace(
        query,
        rows=None,
        keys=own,
        look_up=LookUp(rows, looked_up),
        outputs=tuple(replace(output, sql=_renamed(output.sql, names)) for output in query.outputs),
        having=None if query.having is None else _renamed(query.having, names),
        order=tuple(replace(term, sql=_renamed(term.sql, names)) for term in query.order),
    )


def _is_of_keys(rows: JoinedRows, own: Iterable[Key], looked_up: Iterable[Key], local: Engine) -> bool:
    """Whether all that the joins and the table's keys read of events is known of their group."""
    keys = {key.sql: key.type for key in own}
    columns = {name: keys[text] for text in keys for name in columns_in(text) if text == column_text(name)}
    schema = pa.schema(list(columns.items()))
    pairs = {pair.left: pair.type for step in rows.steps for pair in step.on}
    for text in rows.read_of_events([key.sql for key in looked_up]):
        if text in keys:
            continue
        if not columns_in(text) or not set(columns_in(text)) <= columns.keys():
            return False
        try:
            type = local.type_of(parse_expression(text), schema)
        except QueryError:
            return False
        if text in pairs and type != pairs[text]:
            return False
    return True


def _is_unique(step: TableStep, table: pa.Table) -> bool:
    """Whether no two rows have the same key; of doubles and nested values it is not asked."""
    held = pa.table({f"{step.name}.{name}": normal(table[name]) for name in table.column_names})
    keys = [evaluate_text(pair.right, held).cast(pair.type) for pair in step.on]
    if any(pa.types.is_floating(key.type) or pa.types.is_nested(key.type) for key in keys):
        return False
    known = pa.table(keys, names=[str(number) for number in range(len(keys))]).drop_null()
    return bool(known.group_by(known.column_names).aggregate([]).num_rows == known.num_rows)


def _renamed(text: str, names: Mapping[str, str]) -> str:
    def renamed(part: exp.Expr) -> exp.Expr:
        found = names.get(part.name) if isinstance(part, exp.Column) and not part.table else None
        return part if found is None else exp.column(found)

    return expression_sql(parse_expression(text).transform(renamed))
