"""The stateful step without a JVM: payloads in, packed answers out, state in Spark's variables."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql.streaming.tws_tester import TwsTester

from windrow.errors import StateError
from windrow.local.replay import Replay
from windrow.runtime.payload import FLUSH, Payload
from windrow.runtime.slice.events import Slicer
from windrow.spark.stages import slide_shard
from windrow.spark.stages.slice import packed
from windrow.spark.stages.slide import SlideProcessor

from .streams import SECOND, START, Rows, instants, rows_of

SHARD = 0
TICKS = pa.table({"ts": instants(START + n * SECOND for n in (1, 2, 7, 11)), "price": [3, 4, 5, 6]})
REPLAY = Replay("SELECT SUM(price) AS total FROM ticks [RANGE 10 SECONDS SLIDE 5 SECONDS]", ticks=TICKS)
SPACE = REPLAY.plan.streams[0].spaces[0]


@pytest.fixture(autouse=True)
def fresh_worker() -> Iterator[None]:
    """A worker that holds no shards in memory."""
    slide_shard._HELD.clear()
    yield
    slide_shard._HELD.clear()


def opened(shards: int = 1) -> TwsTester:
    return TwsTester(SlideProcessor(REPLAY.plan, shards, "run"))


def payloads(*seconds: int, task: int = 0) -> pd.DataFrame:
    """What a map task sends that saw events at `seconds`, each with a price that equals its second."""
    slicer = Slicer(REPLAY.plan.streams[0], task, [SHARD])
    slicer.add(pa.record_batch({"time": [START + n * SECOND for n in seconds], "e0": list(seconds)}))
    return packed(slicer.payloads()).to_pandas()


def answers(frame: pd.DataFrame) -> Rows:
    """The answered windows, as seconds of their ends and totals."""
    rows: Rows = []
    for query, body in zip(frame["query"], frame["rows"]):
        if query == "query":
            rows += rows_of(pa.ipc.open_stream(body).read_all())
    return [((row["window_end"] - START) // SECOND, row["agg_0"]) for row in rows]


def test_a_shard_answers_the_windows_that_the_probe_has_passed():
    results = opened().testInPandas(SHARD, payloads(1, 2, 7, 11))
    assert answers(results) == [(5, 3), (10, 10)]


def test_the_first_row_tells_what_was_counted():
    first = opened().testInPandas(SHARD, payloads(1, 2, 7, 11)).iloc[0]
    assert first["query"] is None
    assert (len(first["shared"]), first["alone"], first["late"], first["clock"]) == (2, 0, 0, START + 11 * SECOND)


def test_state_goes_on_from_batch_to_batch_in_whichever_worker():
    shard, found = opened(), []
    for seconds in ((1, 2), (7, 11), (12, 30)):
        found += answers(shard.testInPandas(SHARD, payloads(*seconds)))
        slide_shard._HELD.clear()  # the next batch runs in another worker
    assert found == [(5, 3), (10, 10), (15, 30), (20, 23)]


def test_a_shard_in_memory_that_is_not_the_one_in_the_store_is_not_used():
    shard = opened()
    shard.testInPandas(SHARD, payloads(1, 2))
    version, blocks = shard.peekValueState("version", SHARD), shard.peekMapState("blocks", SHARD)
    first = answers(shard.testInPandas(SHARD, payloads(7, 11)))
    shard.updateValueState("version", SHARD, version)  # the batch failed elsewhere, and Spark runs it again
    shard.updateMapState("blocks", SHARD, blocks)
    assert answers(shard.testInPandas(SHARD, payloads(7, 11))) == first == [(5, 3), (10, 10)]


def test_payloads_are_folded_in_the_order_of_their_tasks_and_flushed_at_the_end():
    shard = opened()
    both = pd.concat([payloads(7, task=1), payloads(1, 2, task=0)])
    assert answers(shard.testInPandas(SHARD, both)) == [(5, 3)]
    word = packed([Payload(SHARD, -1, 0, None, FLUSH, b"")]).to_pandas()
    assert answers(shard.testInPandas(SHARD, word)) == [(10, 10), (15, 7)]


def test_state_of_an_unknown_format_is_refused_by_name():
    shard = opened()
    shard.testInPandas(SHARD, payloads(1, 2))
    blocks = shard.peekMapState("blocks", SHARD)
    newer = json.loads(blocks[("snapshot/0",)][0]) | {"format": 99}
    shard.updateMapState("blocks", SHARD, blocks | {("snapshot/0",): (json.dumps(newer).encode(),)})
    slide_shard._HELD.clear()
    with pytest.raises(StateError, match=r"holds state of format 99, and this version of Windrow reads format \d+"):
        shard.testInPandas(SHARD, payloads(7))


def test_state_that_was_cut_into_another_number_of_shards_is_refused():
    shard = opened(shards=2)
    shard.testInPandas(SHARD, payloads(1, 2))
    other = SlideProcessor(REPLAY.plan, 3, "run")
    other.init(shard.handle)
    shard.processor = other
    slide_shard._HELD.clear()
    with pytest.raises(StateError, match=r"in 2 shards, and this session cuts it into 3: .*shards=2"):
        shard.testInPandas(SHARD, payloads(7))


def test_a_block_that_is_missing_is_named():
    shard = opened()
    shard.testInPandas(SHARD, payloads(1, 2))
    kept = {key: value for key, value in shard.peekMapState("blocks", SHARD).items() if "panes" not in key[0]}
    shard.updateMapState("blocks", SHARD, kept)
    slide_shard._HELD.clear()
    with pytest.raises(StateError, match=rf"block 0 of {SPACE.name}\S* is missing in the checkpoint"):
        shard.testInPandas(SHARD, payloads(7, 11))


def test_a_shard_that_another_worker_ran_last_is_read_once_and_counted_as_moved():
    shard, moved = opened(), []
    for seconds, elsewhere in (((1, 2), False), ((7, 11), True), ((12, 30), False)):
        if elsewhere:
            slide_shard._HELD.clear()
        first = shard.testInPandas(SHARD, payloads(*seconds)).iloc[0]
        moved.append((first["moved"], first["ran"], first["number"], first["received"] > 0))
    assert moved == [(0, 1, 0, True), (1, 1, 0, True), (0, 1, 0, True)]
