"""What must be in memory is known before the start where streams were measured: what is refused then would have ended."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.compile.explain import explain_plans
from windrow.compile.figures import Figures
from windrow.compile.refuse_large import refuse_large
from windrow.errors import MemoryLimitError
from windrow.local.replay_stages import StageReplay
from windrow.operators import join
from windrow.plan.stream_statistics import StreamStatistics
from windrow.runtime.slice.sample import how_many_there

from .test_operators_in_blocks import patch
from .test_rows_in_blocks import BEGIN, SECOND, replayed

SECONDS = 120
QUERIES = {
    "join": "SELECT x.id, x.v, y.v AS w FROM a [RANGE {r} SECONDS] x JOIN b [RANGE {r} SECONDS] y ON x.id = y.id",
    "left": "SELECT x.v, y.v AS w FROM a [RANGE {r} SECONDS] x LEFT JOIN b [RANGE 10 SECONDS] y ON x.id = y.id",
    "where": "SELECT x.id, y.v FROM a [RANGE {r} SECONDS] x JOIN b [RANGE {r} SECONDS] y ON x.id = y.id WHERE x.v > 3",
    "two keys": "SELECT x.v, y.id FROM a [RANGE {r} SECONDS] x JOIN b [RANGE {r} SECONDS] y ON x.id = y.id AND x.v = y.v",
    "summed": "SELECT SUM(x.v) AS s FROM a [RANGE {r} SECONDS] x JOIN b [RANGE {r} SECONDS] y ON x.id = y.id",
    "distinct": "SELECT DISTINCT id FROM a [RANGE {r} SECONDS]",
    "near": "SELECT x.id, y.v FROM a x JOIN b y ON x.id = y.id AND y.ts BETWEEN x.ts AND x.ts + INTERVAL {r} SECONDS",
}


def events(rows: int, seed: int, nulls: float) -> dict[str, pa.Table]:
    """Two streams of two minutes at an even rate."""
    random, found = np.random.default_rng(seed), {}
    for name in "ab":
        times = pa.array(BEGIN + np.arange(rows) * SECONDS * SECOND // rows).cast(pa.timestamp("us", "UTC"))
        ids = pa.array(random.integers(0, rows * 9, rows), mask=random.random(rows) < nulls)
        found[name] = pa.table({"ts": times, "id": ids, "v": pa.array(random.integers(0, 9, rows))})
    return found


def measured(replay: StageReplay, streams: dict[str, pa.Table]) -> Figures:
    """What a job that has read all of it would have measured."""
    found = {}
    for stream in replay.plan.stages[0].streams:
        table, shares = streams[stream.stream], {}
        for text in stream.expressions:
            column = table["v"].to_pylist() if "v" in text else table["id"].to_pylist()
            values = [value is not None and value > 3 if ">" in text else value for value in column]
            shares[text] = how_many_there(pa.array(values)) / table.num_rows
        rows = table.num_rows
        found[stream.stream] = StreamStatistics(rows, rows / SECONDS, shares=shares)
    rate = sum(own.rate or 0.0 for own in found.values())
    return Figures(rate, 1.0, True, False, streams=tuple(found.items()))


@pytest.mark.parametrize("name", QUERIES)
@settings(max_examples=examples(25), deadline=None)
@given(
    st.integers(600, 1500),
    st.integers(0, 9),
    st.sampled_from([0.0, 0.3, 0.9]),
    st.integers(10, 110),
    st.integers(3, 60),
)
@example(1500, 0, 0.9, 100, 30)
def test_what_is_refused_before_the_start_would_have_ended(
    name: str, rows: int, seed: int, nulls: float, seconds: int, limit: int
) -> None:
    streams, text = events(rows, seed, nulls), QUERIES[name].format(r=seconds)
    with pytest.MonkeyPatch.context() as patched:
        patch(patched)
        replay = replayed({"q": text}, streams, limit * 1000)
        try:
            refuse_large(replay.plan, measured(replay, streams), 1)
        except MemoryLimitError:
            with pytest.raises(MemoryLimitError):
                replay.run(100)


def refused(name: str, limit: int, figures: Figures | None = None, shards: int = 1, nulls: float = 0.0) -> str | None:
    streams = events(1200, 0, nulls)
    replay = replayed({"q": QUERIES[name].format(r=100)}, streams, limit)
    try:
        refuse_large(replay.plan, figures or measured(replay, streams), shards)
    except MemoryLimitError as error:
        return str(error)
    return None


def test_a_join_is_refused_by_what_its_rows_take_in_a_shard() -> None:
    told = refused("join", 79_000)
    assert told is not None and "'q' would hold at least 80.0 KB" in told and "limit is 79.0 KB" in told
    assert "the left side of the inner join and of the right side" in told
    assert refused("join", 81_000) is None, "two streams of 10 events a second, 100 seconds, 40 bytes a row"
    assert refused("join", 39_000, shards=2) is not None and refused("join", 41_000, shards=2) is None
    assert refused("join", 43_000, nulls=0.5) is None, "rows whose key is NULL are not kept"
    assert refused("join", 37_000, nulls=0.5) is not None


def test_nothing_is_refused_by_figures_that_are_assumed() -> None:
    for name in QUERIES:
        assert refused(name, 1, Figures()) is None
    unseen = StreamStatistics(1200, 10.0)
    assert refused("where", 1, Figures(20.0, 1.0, True, streams=(("a", unseen), ("b", unseen)))) is None
    assert refused("distinct", 1) is None, "rows may be equal"


def test_a_join_of_all_with_all_is_refused_by_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windrow.compile.refuse_large.MOST_ROWS", 500)
    monkeypatch.setattr(join, "MOST_ROWS", 500)
    patch(monkeypatch)
    streams = events(1200, 0, 0.0)
    text = "SELECT x.id, y.v FROM a [RANGE {} SECONDS] x JOIN b [RANGE 100 SECONDS] y ON x.id + y.id = 1"
    few, many = (replayed({"q": text.format(seconds)}, streams) for seconds in (10, 60))
    refuse_large(few.plan, measured(few, streams), 1)
    with pytest.raises(MemoryLimitError, match=r"smaller side would hold at least 600 rows.*add an equality to ON"):
        refuse_large(many.plan, measured(many, streams), 1)
    few.run(100)
    with pytest.raises(MemoryLimitError, match="add an equality to ON"):
        many.run(100)


def test_explain_warns_of_what_is_assumed_and_tells_what_was_measured() -> None:
    streams = events(1200, 0, 0.0)
    replay = replayed({"q": QUERIES["join"].format(r=100)}, streams, 100_000)
    assumed = explain_plans([replay.plan], 1)
    assert "at 1,000 events/s over all shards (assumed)" in assumed
    assert "warning: that is 11.2 MB a shard" in assumed and "a shard may have 100.0 KB" in assumed
    known = explain_plans([replay.plan], 1, figures={replay.plan.run: measured(replay, streams)})
    assert "about 56.0 KB at 20 events/s over all shards (measured)" in known and "warning" in known
    assert "warning" not in explain_plans([replay.plan], 2, figures={replay.plan.run: measured(replay, streams)})
