"""Panes that keep rows give what panes give that keep partials."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from windrow.compile.figures import Figures
from windrow.compile.keep_rows import Keeping
from windrow.plan.nodes.kept import ROWS

from .core import SECOND, Core, events_of, plan_of, rows_of

SCHEMA = pa.schema([("ts", pa.timestamp("us", "UTC")), ("k", pa.int64()), ("x", pa.int64()), ("s", pa.string())])
CALLS = (
    "SUM(x) AS a, AVG(x) AS b, MIN(x) AS c, MAX(s) AS d, COUNT(x) AS e, BOOL_AND(x > 1) AS f, STDDEV(x) AS g,"
    " SUM(x) FILTER (WHERE k > 1) AS h, FIRST(x) AS i, APPROX_COUNT_DISTINCT(s) AS j, COLLECT_LIST(x) AS l,"
    " TRAIL(x) AS m, SUM(CAST(x AS DECIMAL(10, 2))) AS n"
)
WINDOWS = ["RANGE 10 SECONDS SLIDE 3 SECONDS", "RANGE 12 SECONDS SLIDE 2 SECONDS", "RANGE UNBOUNDED SLIDE 4 SECONDS"]


def batches(count=8, rows=30):
    random = np.random.default_rng(8)
    for number in range(count):
        times = number * 2 * SECOND + random.integers(-6 * SECOND, 2 * SECOND, rows)
        columns = {"k": random.integers(0, 4, rows), "x": random.integers(0, 9, rows)}
        made = {name: pa.array(values, mask=random.random(rows) < 0.1) for name, values in columns.items()}
        texts = pa.array([None if value > 6 else f"text {value}" for value in random.integers(0, 9, rows)], pa.string())
        yield events_of(np.maximum(times, 0), **made, s=texts)


def kept_as_rows(plan):
    return replace(plan, spaces=tuple(replace(space, keeps=ROWS) for space in plan.spaces))


def answers(plan, reopen):
    core = Core(plan, reopen=reopen, shards=2)
    found = [rows_of(core.step(events, tasks=2)) for events in batches()] + [rows_of(core.flush())]
    return found, core


@pytest.mark.one_in(2)
@pytest.mark.parametrize("reopen", ["never", "fresh"])
@pytest.mark.parametrize("windows", [WINDOWS[:1], WINDOWS], ids=["one window", "several windows"])
def test_rows_and_partials_give_the_same_answers(windows, reopen):
    texts = [f"SELECT k, {CALLS} FROM ticks [{window}] GROUP BY k" for window in windows]
    plan = plan_of(texts, SCHEMA, lateness_us=2 * SECOND)
    wanted, _ = answers(plan, reopen)
    found, _ = answers(kept_as_rows(plan), reopen)
    for one, other in zip(wanted, found):
        assert len(one) == len(other)
        for row, same in zip(sorted(one, key=_place), sorted(other, key=_place)):
            for name in row:
                if isinstance(row[name], float):
                    assert same[name] == pytest.approx(row[name], rel=1e-12, abs=1e-12)
                else:
                    assert same[name] == row[name], name


def _place(row):
    return str(row["window_start"]), str(row["window_end"]), str(row["key_0"])


def test_what_is_kept_once_serves_several_partials():
    plan = kept_as_rows(
        plan_of(["SELECT SUM(x) AS a, MAX(x) AS b FROM ticks [RANGE 9 SECONDS SLIDE 3 SECONDS]"], SCHEMA)
    )
    assert [str(partial) for partial in plan.spaces[0].partials] == ["count(*)", "collect(`x`)"]


def test_partials_are_kept_while_they_have_room_and_then_what_takes_less():
    calls = "SUM(x) AS a, AVG(x) AS b, STDDEV(x) AS c, MIN(x) AS d, MAX(x) AS e, APPROX_COUNT_DISTINCT(x) AS f"
    text = f"SELECT k, {calls} FROM ticks [RANGE 1 HOUR SLIDE 1 SECOND] GROUP BY k"
    (space,) = plan_of([text], SCHEMA).spaces
    sparse, dense = Figures(rate=100, groups=100_000), Figures(rate=100_000, groups=10)
    assert Keeping().choice(space, sparse).chosen == "partials"
    assert Keeping(room_bytes=10**6).choice(space, sparse).chosen == "rows"
    assert Keeping(room_bytes=10**6).choice(space, dense).chosen == "partials"
    assert Keeping("rows").choice(space, dense).chosen == "rows"
    assert Keeping("rows").decided(space).keeps == ROWS
    lines = Keeping(room_bytes=10**6).lines(space, replace(sparse, measured=True, counted=True))
    assert "100 events a second and 100,000 groups are measured" in lines[0]
    assert lines[1].startswith("rows would take less by now, and are kept from the next start on")
    assert Keeping(room_bytes=10**6).decided(space, replace(sparse, measured=True, counted=True)).keeps == ROWS
