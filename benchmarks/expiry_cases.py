"""The workload of Hammad et al. (2003): the schema of section 2.3, the queries of Table 1, and streams of sales."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.operators.pipeline import Arrivals
from windrow.plan.nodes.aggregates import ROWS, aggregate
from windrow.plan.nodes.changes import Column, Computed, Distinct, Group, Measure, Minus, Node, Project, Scan, Select
from windrow.plan.nodes.joins import Join, TableJoin

SECOND = 1_000_000
MINUTE = 60 * SECOND
ITEMS, STORES = 10_000, 100
RATE = 1_000
"""Events of a stream in a second of event time, where throughput is measured."""

INT, REAL = pa.int64(), pa.float64()
SALES = (Column("store", INT), Column("item", INT), Column("price", REAL))
FAVORITE_ITEMS, FAVORITE_STORES = (Column("favorite_item", INT),), (Column("favorite_store", INT),)
TOTAL = Measure("total", aggregate("SUM", "price", REAL))


def sales(stream: str) -> Scan:
    return Scan(stream, SALES, MINUTE)


def columns(node: Node, **renamed: str) -> Project:
    types = {column.name: column.type for column in node.columns}
    return Project(node, tuple(Computed(name, of, types[of]) for name, of in renamed.items()))


def q1(selectivity: float = 0.25) -> Node:
    """The total of the sales whose item lies above a threshold."""
    return Group(Select(sales("a"), f"item >= {round(ITEMS * (1 - selectivity))}"), (), (TOTAL,))


def q2(joins: int = 2, selectivity: float = 0.25) -> Node:
    """The distinct items that were sold in all of `joins` streams, in the first above a price."""
    plan: Node = columns(Select(sales("a"), f"price >= {100 * (1 - selectivity)}"), item="item")
    for i in range(1, joins):
        name = f"item_{i}"
        plan = Join(plan, columns(sales("abcde"[i]), **{name: "item"}), (("item", name),))
    return Distinct(columns(plan, item="item"))


def with_favorite_items(plan: Node) -> Node:
    return TableJoin(plan, "favorite_items", FAVORITE_ITEMS, (("item", "favorite_item"),))


def q3() -> Node:
    """How many distinct stores sold favourite items."""
    return Group(Distinct(columns(with_favorite_items(sales("a")), store="store")), (), (Measure("n", ROWS),))


def q4() -> Node:
    """The sales of each favourite item in favourite stores."""
    chosen = TableJoin(
        with_favorite_items(sales("a")), "favorite_stores", FAVORITE_STORES, (("store", "favorite_store"),)
    )
    return Group(chosen, ("item",), (TOTAL,))


def q5() -> Node:
    """The sales of each favourite item that one stream has and the other has not."""
    sold = Minus(*(columns(sales(stream), item="item", price="price") for stream in "ab"))
    return Group(with_favorite_items(sold), ("item",), (TOTAL,))


QUERIES = {"Q1": q1(), "Q2": q2(), "Q3": q3(), "Q4": q4(), "Q5": q5()}


def tables() -> dict[str, pa.Table]:
    """A tenth of the items are favourites, and half of the stores."""
    return {
        "favorite_items": pa.table({"favorite_item": np.arange(0, ITEMS, 10)}),
        "favorite_stores": pa.table({"favorite_store": np.arange(STORES // 2)}),
    }


def streams_of(plan: Node) -> list[str]:
    """The streams that a plan reads."""
    if isinstance(plan, Scan):
        return [plan.stream]
    return sorted({stream for child in plan.children for stream in streams_of(child)})


def arrivals(seed: int, rate: float, seconds: float, items: int = ITEMS) -> Arrivals:
    """Sales that come at random, `rate` a second in the mean."""
    random = np.random.default_rng(seed)
    gaps = random.exponential(SECOND / rate, int(rate * seconds * 1.2) + 50)
    times = np.cumsum(gaps).astype(np.int64)
    times = times[times <= seconds * SECOND]
    sold = random.integers(0, items, len(times))
    if items < ITEMS:
        sold = sold * (ITEMS // items // 10 * 10) + sold % 10  # spread over all numbers, a tenth of them favourites
    rows = {
        "store": random.integers(0, STORES, len(times)),
        "item": sold,
        "price": np.round(random.uniform(0, 100, len(times)), 2),
    }
    return Arrivals(times, pa.record_batch(rows))
