"""Plans as text, word for word. Where a text has changed on purpose: WRITE_GOLDEN=1 pytest tests/optimize."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pytest

from runtime.core import events_of, plan_of
from windrow.compile.explain import explain_plans
from windrow.plan.nodes.stage import StagePlan

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
    assert "  schedule: graph, as asked for" in lines
    assert any(line.startswith("        exclude, as asked for: ") for line in lines)
    assert "        exclude was asked for, and cannot be right here" in lines
