"""A pipeline of operators: what is shared, what is late, what comes out, and which rows are the same."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from windrow.compile.place_expiry import place_expiry
from windrow.expressions.evaluate_text import evaluate_text
from windrow.operators.changes import NEVER
from windrow.operators.net import emitted
from windrow.operators.pipeline import Arrivals, Pipeline
from windrow.plan.expiry import Expiry
from windrow.plan.nodes.aggregates import ROWS, aggregate
from windrow.plan.nodes.changes import Column, Distinct, Group, Measure, Minus, Node, Scan, Union
from windrow.plan.nodes.joins import Join
from windrow.storage.blocks import MemoryBlocks

TEXT = pa.string()
ITEM = Column("item", TEXT)
SALES = Scan("sales", (ITEM,), 10)
COUNTED = Group(SALES, ("item",), (Measure("n", ROWS),))


def pipeline_of(way: Expiry = Expiry.HYBRID, **plans: Node) -> Pipeline:
    return Pipeline({name: place_expiry(plan, way) for name, plan in plans.items()}, evaluate_text, MemoryBlocks())


def sold(*items: tuple[int, object], type: pa.DataType = TEXT) -> dict[str, Arrivals]:
    times = np.array([time for time, _ in items], np.int64)
    return {"sales": Arrivals(times, pa.record_batch({"item": pa.array([item for _, item in items], type)}))}


def told(pipeline: Pipeline, name: str, arrivals: dict[str, Arrivals], clock: int) -> list[tuple]:
    table = emitted(pipeline.advance(arrivals, clock)[name], pipeline.plans[name].names)
    times = table["time"].cast(pa.int64()).to_pylist()
    return list(zip(table["op"].to_pylist(), times, *(table[column].to_pylist() for column in table.column_names[2:])))


def test_a_groups_old_row_goes_before_its_new_one_comes():
    counts = told(pipeline_of(q=COUNTED), "q", sold((1, "a"), (2, "a"), (2, "a")), 12)
    assert counts == [
        ("+", 1, "a", 1),
        ("-", 2, "a", 1),
        ("+", 2, "a", 3),
        ("-", 11, "a", 3),
        ("+", 11, "a", 2),
        ("-", 12, "a", 2),
    ]


def test_an_arrival_in_the_instant_of_an_expiry_is_netted_with_it():
    assert told(pipeline_of(q=COUNTED), "q", sold((1, "a"), (11, "a")), 11) == [("+", 1, "a", 1)]


def test_events_wait_for_the_clock_and_are_late_once_it_has_passed():
    pipeline = pipeline_of(q=Distinct(SALES))
    assert told(pipeline, "q", sold((9, "b"), (5, "a")), 6) == [("+", 5, "a")]
    assert told(pipeline, "q", sold((6, "c"), (7, "d")), 9) == [("+", 7, "d"), ("+", 9, "b")]
    assert pipeline.late == {"sales": 1}


def test_time_alone_brings_changes():
    pipeline = pipeline_of(q=Distinct(SALES))
    told(pipeline, "q", sold((1, "a")), 1)
    assert told(pipeline, "q", {}, 10) == []
    assert told(pipeline, "q", {}, 11) == [("-", 11, "a")]


def test_equal_sub_plans_run_once():
    other = Scan("others", (Column("other", pa.string()),), 10)
    joined = Join(SALES, other, (("item", "other"),))
    alone = pipeline_of(q=Distinct(joined))
    both = pipeline_of(q=Distinct(joined), r=Group(joined, (), (Measure("n", ROWS),)))
    assert len(both._operators) == len(alone._operators) + 1


def test_a_stream_without_end_never_expires():
    pipeline = pipeline_of(q=Distinct(Scan("sales", (ITEM,), None)))
    assert told(pipeline, "q", sold((1, "a")), NEVER - 1) == [("+", 1, "a")]


SAME = {
    "doubles": (pa.float64(), [0.0, -0.0, float("nan"), float("nan"), None, None, 1.5], 4),
    "decimals": (pa.decimal128(20, 2), [Decimal("1.10"), Decimal("1.1"), None, Decimal("-3")], 3),
    "bytes": (pa.binary(), [b"", b"", b"\0", None], 3),
    "lists": (pa.list_(pa.int64()), [[1, None], [1, None], [], None], 3),
    "truth": (pa.bool_(), [True, False, None, True], 3),
    "dates": (pa.date32(), [1, 1, None], 2),
    "unsigned": (pa.uint64(), [0, 2**64 - 1, 2**63], 3),
}


@pytest.mark.parametrize("case", SAME)
@pytest.mark.parametrize("restarts", [False, True])
def test_rows_are_the_same_where_sql_says_so(case, restarts):
    type, values, distinct = SAME[case]
    plan = {"q": place_expiry(Distinct(Scan("sales", (Column("item", type),), 10)), Expiry.HYBRID)}
    blocks = MemoryBlocks()
    pipeline = Pipeline(plan, evaluate_text, blocks)
    first = pipeline.advance(sold(*((1, value) for value in values), type=type), 1)["q"]
    if restarts:
        pipeline.save()
        pipeline = Pipeline(plan, evaluate_text, blocks, snapshot=pipeline.snapshot())
    last = pipeline.advance(sold(*((5, value) for value in values), type=type), 30)["q"]
    assert (len(first), first.weights.tolist()) == (distinct, [1] * distinct)
    assert (last.times.tolist(), last.weights.tolist()) == ([15] * distinct, [-1] * distinct)
    assert sorted(map(repr, last.columns[0].to_pylist())) == sorted(map(repr, first.columns[0].to_pylist()))


def test_a_sum_beyond_its_type_is_null_and_counted():
    numbers = Scan("sales", (Column("item", pa.int64()),), 10)
    pipeline = pipeline_of(q=Group(numbers, (), (Measure("total", aggregate("SUM", "item", pa.int64())),)))
    changes = told(pipeline, "q", sold((1, 2**63 - 1), (2, 1), type=pa.int64()), 2)
    assert changes == [("+", 1, 2**63 - 1), ("-", 2, 2**63 - 1), ("+", 2, None)]
    assert pipeline.overflows == 1


def test_mistakes_of_plans_are_named():
    numbers = Scan("numbers", (Column("item", pa.int64()),), 10)
    with pytest.raises(ValueError, match="different columns"):
        Minus(SALES, numbers)
    with pytest.raises(ValueError, match="both sides of a join"):
        Join(SALES, numbers, (("item", "item"),))
    assert Union(SALES, SALES).names == ("item",)
