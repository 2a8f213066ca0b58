"""Aggregates of groups that change: those that can be taken back, and those that cannot."""

from __future__ import annotations

import math
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.compile.place_expiry import place_expiry
from windrow.expressions.evaluate_text import evaluate_text
from windrow.operators.pipeline import Arrivals, Pipeline
from windrow.plan.expiry import Expiry
from windrow.plan.nodes.aggregates import Aggregate, Partial, aggregate
from windrow.plan.nodes.changes import Column, Group, Measure, Scan
from windrow.storage.blocks import MemoryBlocks

TYPES = {"k": pa.string(), "x": pa.float64(), "i": pa.int64(), "s": pa.string(), "d": pa.decimal128(6, 2)}
SCAN = Scan("s", tuple(Column(name, type) for name, type in TYPES.items()), 5)
ASKED = {
    "SUM(i)": "sum(i)::BIGINT",
    "SUM(d)": "sum(d)::DECIMAL(16, 2)",
    "MIN(x)": "min(x)",
    "MAX(i)": "max(i)",
    "MAX(s)": "max(s)",
    "FIRST(s)": "first(s ORDER BY ts, n)",
    "LAST(x)": "last(x ORDER BY ts, n)",
    "VAR_SAMP(i)": "var_samp(i)",
}
EVENT = st.tuples(
    st.integers(0, 12),
    st.sampled_from(["a", "b", None]),
    st.sampled_from([0.0, -0.5, 2.0, float("nan"), None]),
    st.sampled_from([0, 1, 2, 5, None]),
    st.sampled_from(["a", "b", "c", None]),
    st.sampled_from([Decimal("0.10"), Decimal("2.35"), None]),
)


def measure(text: str) -> Measure:
    function, argument = text[:-1].split("(")
    return Measure(text, aggregate(function, argument, TYPES[argument]))


def answers(plan: Group, rows: list[tuple], cuts: list[int]) -> dict[int, dict]:
    """The row of every group at every instant, from the accumulated changes."""
    pipeline = Pipeline(
        {"q": place_expiry(plan, Expiry.HYBRID)}, evaluate_text, MemoryBlocks(), user={"longest": Longest}
    )
    there: dict = {}
    found, done = {}, 0
    for clock in [*cuts, 19] if cuts else range(20):
        now = [row for row in rows[done:] if row[0] <= clock]
        done += len(now)
        batch = pa.record_batch(
            {name: pa.array([row[i + 1] for row in now], t) for i, (name, t) in enumerate(TYPES.items())}
        )
        changes = pipeline.advance({"s": Arrivals(np.array([row[0] for row in now], np.int64), batch)}, clock)["q"]
        for time, weight, *row in zip(
            changes.times.tolist(), changes.weights.tolist(), *map(list, map(pa.Array.to_pylist, changes.columns))
        ):
            for instant in range(max(found, default=-1) + 1, time):
                found[instant] = dict(there)
            if weight < 0:
                assert repr(there.pop(row[0])) == repr(row[1:])
            else:
                assert row[0] not in there
                there[row[0]] = row[1:]
    for instant in range(max(found, default=-1) + 1, 20):
        found[instant] = dict(there)
    return found


NAN = float("nan")
ANOTHER_ORDER = [
    *[(0, "b", None, 5, None, None), (0, "b", None, 1, None, Decimal("2.35")), (1, "a", -0.5, 2, "b", None)],
    *[(2, "a", NAN, 1, "b", Decimal("0.10")), (3, "b", -0.5, 5, "a", None), (6, "a", 0.0, 5, "a", None)],
]
"""A variance that, folded again in the next batch, differed in its last bit from the row that had been sent."""

TIED_COPIES = [(7, "b", value, 0, "a", None) for value in (0.0, 2.0, 0.0)]
"""The last of three events at one time is a copy of the first."""


@example(rows=ANOTHER_ORDER, cuts=[4])
@example(rows=TIED_COPIES, cuts=[4])
@settings(max_examples=examples(12), deadline=None)
@given(rows=st.lists(EVENT, min_size=4, max_size=25), cuts=st.sampled_from([[], [4], [2, 3, 9]]))
def test_every_row_is_what_the_groups_events_give(rows, cuts):
    rows = sorted(rows, key=lambda row: row[0])
    found = answers(Group(SCAN, ("k",), tuple(map(measure, ASKED))), rows, cuts)
    events = pa.table({"ts": [row[0] for row in rows], "n": range(len(rows))} | {
        name: pa.array([row[i + 1] for row in rows], type) for i, (name, type) in enumerate(TYPES.items())
    })  # fmt: skip
    with duckdb.connect() as connection:
        connection.register("events", events)
        text = ", ".join(ASKED.values())
        query = f"SELECT t, k, {text} FROM range(20) r(t) JOIN events ON ts > t - 5 AND ts <= t GROUP BY t, k"
        wanted: dict[int, dict] = {instant: {} for instant in range(20)}
        for t, k, *row in connection.execute(query).fetchall():
            wanted[t][k] = row
    for instant in range(20):
        assert found[instant].keys() == wanted[instant].keys()
        for k, row in found[instant].items():
            assert all(map(same, row, wanted[instant][k])), (row, wanted[instant][k])


def same(mine, theirs) -> bool:
    if isinstance(mine, float) and isinstance(theirs, float):
        return (math.isnan(mine) and math.isnan(theirs)) or math.isclose(mine, theirs, abs_tol=1e-12)
    return mine == theirs


class Longest:
    """The longest text, or the newest of those, and how many there are: rows must come in their order."""

    def init(self):
        return ["", 0]

    def add(self, state, text):
        return [text if text is not None and len(text) >= len(state[0]) else state[0], state[1] + 1]

    def finish(self, state):
        return f"{state[0]}{state[1]}"


def test_users_own_aggregates_have_their_rows_in_order():
    partial = Partial("user", "s", pa.string(), user="longest")
    plan = Group(SCAN, ("k",), (Measure("m", Aggregate("longest", partial, pa.string())),))
    texts = {1: "a", 2: "bb", 3: "cc", 6: "d"}
    rows = [(time, "k", None, None, text, None) for time, text in texts.items()]
    found = {instant: row["k"][0] for instant, row in answers(plan, rows, []).items() if "k" in row}
    assert found == {1: "a1", 2: "bb2", 3: "cc3", 4: "cc3", 5: "cc3", 6: "cc3", 7: "cc2", 8: "d1", 9: "d1", 10: "d1"}
