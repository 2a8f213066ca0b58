"""Plans as text, word for word. Where a text has changed on purpose: WRITE_GOLDEN=1 pytest tests/optimize."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pyarrow as pa
import pytest

from runtime.core import events_of, plan_of
from windrow.compile.compile import Compiler, Wishes
from windrow.compile.explain import explain_plans
from windrow.language import parse_query
from windrow.local.local_catalog import local_catalog
from windrow.plan.nodes.stage import StagePlan
from windrow.schedule.costs import schedule_costs

SCHEMA = events_of(
    [], symbol=pa.array([], pa.string()), price=pa.array([], pa.float64()), volume=pa.array([], pa.int32())
).schema
VWAP = (
    "SELECT symbol, SUM(price * volume) / SUM(volume) AS vwap FROM ticks [RANGE 1 HOUR SLIDE 1 SECOND] GROUP BY symbol"
)
CASES = {
    "vwap": [VWAP],
    "peaks": [
        """SELECT MAX(price) AS most, STDDEV(price) AS spread FROM ticks [RANGE 100 SECONDS SLIDE 60 SECONDS OFFSET 5 SECONDS]
           WHERE volume > 0 HAVING COUNT(*) > 10"""
    ],
    "top": [
        """SELECT symbol, AVG(price) FILTER (WHERE volume > 5) AS a FROM ticks [RANGE UNBOUNDED SLIDE 1 MINUTE]
           GROUP BY symbol ORDER BY a DESC LIMIT 3"""
    ],
    "gaps": ["SELECT COUNT(*) AS n FROM ticks [RANGE 10 SECONDS SLIDE 1 MINUTE]"],
    "shared": [
        VWAP,
        "SELECT symbol, SUM(volume) AS v FROM ticks [RANGE 70 SECONDS SLIDE 7 SECONDS] GROUP BY symbol",
        "SELECT symbol, SUM(volume) AS v FROM ticks [RANGE 110 SECONDS SLIDE 11 SECONDS] GROUP BY symbol",
        "SELECT symbol, COUNT(*) AS n FROM ticks [RANGE 1 MINUTE SLIDE ABOUT 10500 MILLISECONDS] GROUP BY symbol",
        "SELECT COUNT(*) AS n FROM ticks [RANGE 1 MINUTE SLIDE 10 SECONDS] WHERE price > 3",
    ],
}


@pytest.mark.parametrize("name", CASES)
def test_a_plan_reads_as_it_did(name: str):
    text = explain_plans([StagePlan.of(plan_of(CASES[name], SCHEMA, lateness_us=2_000_000))], shards=2) + "\n"
    golden = Path(__file__).parent / "golden" / f"{name}.txt"
    if os.environ.get("WRITE_GOLDEN"):
        golden.write_text(text)
    assert text == golden.read_text()


def test_it_says_what_was_asked_for_and_what_cannot_be():
    texts = ["SELECT MAX(price) AS most, SUM(volume) AS v FROM ticks [RANGE 10 SECONDS SLIDE 2 SECONDS]"]
    plan = plan_of(texts, SCHEMA, choose={"maintenance": "exclude", "schedule": "graph"})
    lines = explain_plans([StagePlan.of(plan)], shards=2).splitlines()
    assert lines[:3] == [
        "reads ticks, one scan each, for 1 query",
        "keeps 1 space of panes or rows, 0 of them shared",
        "chooses exclude for 2, refold for 1; asked for: maintenance exclude, schedule graph",
    ]
    assert "    schedule: graph, as asked for" in lines
    assert any(line.startswith("        exclude, as asked for: ") for line in lines)
    assert "        exclude was asked for, and cannot be right here" in lines


def test_it_says_what_every_schedule_index_and_eviction_would_cost():
    texts = [
        "SELECT MAX(price) AS most FROM ticks [RANGE 10 SECONDS SLIDE 2 SECONDS]",
        "SELECT MIN(price) AS least FROM ticks [RANGE 12 SECONDS SLIDE 3 SECONDS]",
        "SELECT COUNT(cid) AS n FROM ticks [RANGE 9 SECONDS SLIDE 3 SECONDS] CLUSTER BY price AS cid USING C_BIRCH(1)",
    ]
    lines = explain_plans([StagePlan.of(plan_of(texts, SCHEMA))], 2, schedules=schedule_costs).splitlines()
    asked = "one more with little in common would make the others look at every instant between"
    costs = "tests an instant of the others: plain 3, grouped 2, graph 3, optimized graph 3"
    assert f"    schedule: calendar 8.33, as long slides have: {asked}; {costs}" in lines
    others = "scan, m a look-up; grid, O(1) a look-up; boxes, O(log m) a look-up"
    assert f"  index: each context has what fits it; others: {others}" in lines
    assert "  eviction: distance, 1 read a block; others: LRU, n reads a slide at worst; MRU, 1 read a block" in lines
    plan = plan_of(texts, SCHEMA, choose={"schedule": "graph", "eviction": "MRU", "index": "grid"})
    told = explain_plans([StagePlan.of(plan)], 2, schedules=schedule_costs)
    assert "schedule: graph 3, as asked for; tests an instant of the others: plain 3, grouped 2" in told
    assert "index: grid, as asked for, O(1) a look-up; others: scan" in told
    assert "eviction: MRU, as asked for, 1 read a block; others: distance" in told


def test_it_tells_what_streams_are_made_of_and_which_keys_take_one_more_stage():
    settings = {"time": "ts", "lateness": "0 seconds", "idle_clock": False, "aggregates": {}, "clusterings": {}}
    compiler = Compiler(
        local_catalog({"ticks": SCHEMA.empty_table()}, {}, **settings), {}.__getitem__, Wishes(shards=2)
    )
    each = "SELECT symbol, volume, COUNT(*) AS n FROM ticks [RANGE 1 SECOND SLIDE 1 SECOND] GROUP BY symbol, volume"
    compiler.catalog = compiler.catalog.with_stream(compiler.derive_stream("each", parse_query(each)))
    texts = {
        "same": "SELECT volume, symbol, MAX(n) AS m FROM each [RANGE 9 SECONDS SLIDE 3 SECONDS] GROUP BY 1, 2",
        "fewer": "SELECT symbol, MAX(n) AS m FROM each [RANGE 9 SECONDS SLIDE 3 SECONDS] GROUP BY symbol",
        "distinct": "SELECT DISTINCT n FROM each [RANGE 9 SECONDS SLIDE 3 SECONDS]",
        "deep": "SELECT SUM(m) AS s FROM (SELECT symbol, MAX(n) AS m FROM each [RANGE 3 SECONDS SLIDE 3 SECONDS]"
        " GROUP BY symbol) AS q [RANGE 9 SECONDS SLIDE 3 SECONDS]",
    }
    plans = [compiler.compile_scan([compiler.compile_query(name, parse_query(text))]) for name, text in texts.items()]
    told = [explain_plans([plan], shards=2) for plan in plans]
    made = "stream each: made of the answers of query #each; its clock is that of ticks, and none is late"
    assert all(made in text.splitlines() for text in told)
    same, fewer, distinct, deep = told
    assert "  in stage 1 of 1, in the shards that give the answers: groups have all their keys" in same
    assert "ticks: 1 stage in each batch, for same" in same and "has a Spark query" not in same
    assert "stage 2 of 2, one more in the same batch: groups by `symbol` lack `volume` of the answers' keys" in fewer
    assert (
        "changes-2-ticks: 2 stages in each batch, for fewer" in fewer
        and "needs more, and comes later, has a Spark query" in fewer
    )
    assert (
        "stage 2 of 2, one more in the same batch: operators over changes spread rows by keys of their own" in distinct
    )
    assert "stage 3 of 3, one more in the same batch: one group lacks `symbol` of the answers' keys" in deep
    assert re.search(r"query deep: 3 windows deep, over #\w+ over each over ticks", deep)
    both = explain_plans(plans[:2], shards=2)
    assert both.splitlines()[0] == "reads ticks in 2 scans, for 2 queries"
    assert "  ticks is scanned by each of ticks, changes-2-ticks" in both
