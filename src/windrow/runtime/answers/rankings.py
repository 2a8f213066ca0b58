"""ROW_NUMBER, RANK and DENSE_RANK of the rows of each window, in batches of answers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.expressions.evaluate_text import evaluate_text
from windrow.plan.nodes.ordering import Ranking, place_column, whole_row
from windrow.plan.nodes.over_calls import OverCall
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.runtime.answers.over_calls import drawn
from windrow.runtime.answers.sorted_rows import Sorted
from windrow.runtime.answers.top import Term, ranks


def numbered(rows: pa.Table, query: QueryPlan, zone: str) -> pa.Table:
    """The rows with the numbers of each ranking, and what else OVER draws for them: `place_0`, ..."""
    for number, ranking in enumerate(query.rankings):
        if isinstance(ranking, OverCall):
            found = drawn(rows, ranking, query, zone)
        else:
            found = pa.array(_places(rows, ranking, query, zone), pa.int32())
        rows = rows.append_column(place_column(number), found)
    return rows


def first_rows(rows: pa.Table, query: QueryPlan, zone: str) -> pa.Table:
    """Those that may be within the limit: who comes too late among some of the rows does so among all.

    With several rankings all rows stay, since those that one leaves out are counted by the others.
    """
    ranking = query.rankings[0]
    if len(query.rankings) > 1 or isinstance(ranking, OverCall) or ranking.limit is None:
        return rows
    return rows.filter(pa.array(_places(rows, ranking, query, zone) <= ranking.limit))


def _places(rows: pa.Table, ranking: Ranking, query: QueryPlan, zone: str) -> np.ndarray:
    windows = [ranks(rows[name], _UPWARD) for name in query.told_apart_by]
    partition = [ranks(evaluate_text(text, rows, zone), _UPWARD) for text in ranking.partition]
    order = [
        ranks(evaluate_text(term.sql, rows, zone), Term("", term.descending, term.nulls_first))
        for term in ranking.order
    ]
    ties = whole_row(query.emitted) if ranking.function == "row_number" else ()
    others = [ranks(rows[name], _UPWARD) for name in ties]
    return _counted(ranking.function, [*windows, *partition], order, others, rows.num_rows)


def _counted(
    function: str, apart: list[np.ndarray], order: list[np.ndarray], others: list[np.ndarray], count: int
) -> np.ndarray:
    """The number of each row among those that are alike in all of `apart`.

    >>> apart, order = [np.array([1, 1, 2, 1])], [np.array([7, 5, 9, 5])]
    >>> [_counted(name, apart, order, [], 4).tolist() for name in ("row_number", "rank", "dense_rank")]
    [[3, 1, 1, 2], [3, 1, 1, 1], [2, 1, 1, 1]]
    """
    if not count:
        return np.zeros(0, np.int64)
    rows = Sorted.of(apart, order, others, count)
    place = {"row_number": np.arange(count), "rank": rows.first_alike}.get(function)
    if place is None:
        place = np.cumsum(rows.first_alike == np.arange(count)) - 1
    found = np.empty(count, np.int64)
    found[rows.sorting] = place - place[rows.begins] + 1
    return found


_UPWARD = Term("", descending=False, nulls_first=False)
