"""Rankings of the rows of windows: the same, however rows are spread over shards."""

from __future__ import annotations

import duckdb
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.local.replay import Replay
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.runtime.answers.finish import finish_part, finish_whole

RANKS = {
    "r": "rank() OVER (PARTITION BY {}g ORDER BY x DESC NULLS LAST)",
    "d": "dense_rank() OVER ({}ORDER BY x NULLS FIRST)",
    "n": "row_number() OVER (PARTITION BY {}g ORDER BY x NULLS FIRST)",
}
SCHEMA = pa.schema({"ts": pa.timestamp("us", "UTC"), "g": pa.string(), "x": pa.float64()})
ROWS = st.lists(
    st.tuples(
        st.integers(1, 3), st.sampled_from(["u", "v", None]), st.sampled_from([0.0, -0.0, 1.5, float("nan"), None])
    ),
    max_size=20,
)


def plan(names: str, chosen: str) -> QueryPlan:
    shown = ", ".join(f"{RANKS[name].format('')} AS {name}" for name in names)
    query = Replay(f"SELECT g, x, {shown} FROM e [ROWS 3 SLIDE 1] QUALIFY {chosen}", e=SCHEMA.empty_table()).query
    assert isinstance(query, QueryPlan)
    return query


ASKED = {
    chosen: plan(*chosen) for chosen in (("r", "r <= 2"), ("d", "d < 3"), ("n", "n = 1"), ("rdn", "r <= 2 AND n < 4"))
}


def test_a_limit_is_known_before_all_rows_are():
    limits = [[ranking.limit for ranking in plan.rankings] for plan in ASKED.values()]
    assert limits == [[2], [2], [1], [2, None, 3]]


def emitted(drawn: list[tuple], schema: pa.Schema) -> pa.Table:
    ends, groups, values = zip(*drawn) if drawn else ((), (), ())
    columns = {
        "window_row": ends,
        "due": ends,
        "window_start": ends,
        "window_end": ends,
        "item_0": groups,
        "item_1": values,
    }
    return pa.table([pa.array(columns[f.name], f.type) for f in schema], schema=schema)


@settings(max_examples=examples(200), deadline=None)
@given(ROWS, st.integers(1, 5), st.sampled_from(list(ASKED)))
def test_what_shards_leave_out_changes_no_number(drawn, shards, asked):
    query, (names, chosen) = ASKED[asked], asked
    parts = [finish_part(emitted(drawn[shard::shards], query.emitted), query) for shard in range(shards)]
    found = finish_whole(pa.concat_tables(parts), query).select(["window_row", "g", "x", *names])
    db = duckdb.connect()
    db.register(
        "rows", emitted(drawn, query.emitted).select(["window_row", "item_0", "item_1"]).rename_columns(["w", "g", "y"])
    )
    apart = {"r": "w, ", "d": "PARTITION BY w ", "n": "w, "}
    shown = ", ".join(f"{RANKS[name].format(apart[name])} AS {name}" for name in names)
    theirs = db.sql(f"""
        SELECT w, g, x, {shown} FROM (SELECT w, g, CASE WHEN y = 0 THEN 0.0 ELSE y END AS x FROM rows)
        QUALIFY {chosen}""")
    ours = sorted(repr(tuple(0.0 if value == 0 else value for value in row.values())) for row in found.to_pylist())
    assert ours == sorted(map(repr, theirs.fetchall()))
