"""Repositories of rows against a plain list: every home, policy and size of pool, and homes that break down."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from lab.shared_slidem import SharedSlideM
from lab.slidem import SlideM

from drawn_examples import examples
from windrow.errors import StorageError
from windrow.spark.stages.state import StateBlocks
from windrow.storage.blocks import MemoryBlocks
from windrow.storage.file_blocks import FileBlocks

from .stores import Breakdown, FailingBlocks

SCHEMA = pa.schema([("ts", pa.int64()), ("x", pa.float64()), ("name", pa.string())])
BLOCK = 128


def batch(rows: list[tuple]) -> pa.RecordBatch:
    return pa.record_batch([pa.array([row[i] for row in rows], field.type) for i, field in enumerate(SCHEMA)], SCHEMA)


def rows_of(parts: list[pa.RecordBatch]) -> list[tuple]:
    return [tuple(row.values()) for part in parts for row in part.to_pylist()]


class DictState(dict):
    """The calls of Spark's MapState that blocks make."""

    def getValue(self, key):
        return self.get(key)

    def updateValue(self, key, value) -> None:
        self[key] = value

    def removeKey(self, key) -> None:
        self.pop(key, None)


def state_blocks() -> StateBlocks:
    blocks = StateBlocks()
    blocks.state = DictState()
    return blocks


class Repositories(RuleBasedStateMachine):
    """A window of its own, and three that share: both say what a list says."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.model: list[tuple] = []
        self.gone = [0, 0, 0]
        self.time = 0

    @initialize(
        home=st.sampled_from(["memory", "state", "file", "recoverable"]),
        pool=st.integers(2, 9),
        policy=st.sampled_from(["distance", "lru", "mru"]),
        durable=st.booleans(),
        axis=st.sampled_from([None, "ts"]),
    )
    def open(self, home: str, pool: int, policy: str, durable: bool, axis: str | None) -> None:
        self.durable, self.home = durable or home == "recoverable", home
        self.blocks = {"memory": MemoryBlocks, "state": state_blocks}.get(home, self.file)()
        self.options = {"pool_blocks": pool, "block_bytes": BLOCK, "durable": self.durable}
        self.more = {"policy": policy, "axis": axis}
        self.alone = SlideM("alone", SCHEMA, self.blocks, **self.options)
        self.shared = SharedSlideM(3, "shared", SCHEMA, self.blocks, **self.options, **self.more)

    def file(self) -> FileBlocks:
        return FileBlocks(Path(self.folder.name) / "blocks", slot_bytes=64, recoverable=self.home == "recoverable")

    @rule(steps=st.lists(st.tuples(st.integers(0, 3), st.floats(allow_nan=False), st.text(max_size=5)), max_size=40))
    def add(self, steps: list[tuple]) -> None:
        rows = []
        for step, x, name in steps:
            self.time += step
            rows.append((self.time, x, name))
        self.model += rows
        self.alone.add(batch(rows))
        self.shared.add(batch(rows))

    @rule(rank=st.integers(0, 2), count=st.integers(0, 60))
    def expire(self, rank: int, count: int) -> None:
        low, high = self.gone[rank], min(len(self.model), self.gone[rank] + count)
        self.gone[rank] = high
        assert rows_of(self.shared.expire(rank, count)) == self.model[low:high]
        if rank == 0:
            assert rows_of(self.alone.expire(count)) == self.model[low:high]

    @rule(rank=st.integers(0, 2), back=st.integers(0, 40))
    def expire_before(self, rank: int, back: int) -> None:
        low = self.gone[rank]
        high = next((i for i in range(low, len(self.model)) if self.model[i][0] >= self.time - back), len(self.model))
        self.gone[rank] = max(low, high)
        assert rows_of(self.shared.expire_before(rank, "ts", self.time - back)) == self.model[low:high]
        if rank == 0:
            assert rows_of(self.alone.expire_before("ts", self.time - back)) == self.model[low:high]

    @precondition(lambda self: self.durable)
    @rule()
    def restart(self) -> None:
        self.alone.save()
        self.shared.save()
        if isinstance(self.blocks, FileBlocks) and self.home == "recoverable":
            self.blocks.commit()
            self.blocks.close()
            self.blocks = self.file()
        alone, shared = self.alone.snapshot(), self.shared.snapshot()
        self.alone = SlideM("alone", SCHEMA, self.blocks, **self.options, snapshot=alone)
        self.shared = SharedSlideM(3, "shared", SCHEMA, self.blocks, **self.options, **self.more, snapshot=shared)

    @invariant()
    def sizes_agree(self) -> None:
        if hasattr(self, "alone"):
            assert len(self.alone) == len(self.model) - self.gone[0]
            assert [self.shared.rows(rank) for rank in range(3)] == [len(self.model) - gone for gone in self.gone]
            assert self.alone.bytes_held <= self.options["pool_blocks"] * BLOCK
            assert self.shared.bytes_held <= self.options["pool_blocks"] * BLOCK

    def teardown(self) -> None:
        if isinstance(getattr(self, "blocks", None), FileBlocks):
            self.blocks.close()
        self.folder.cleanup()


TestRepositories = Repositories.TestCase
TestRepositories.settings = settings(max_examples=examples(40), stateful_step_count=20, deadline=None)

NUMBERS = pa.schema([("x", pa.int64())])


def numbers(low: int, high: int) -> pa.RecordBatch:
    return pa.record_batch({"x": pa.array(range(low, high))})


@pytest.mark.parametrize("shared", [False, True])
def test_a_home_that_fails_at_any_change_is_reported_and_the_checkpoint_has_all(shared):
    """A stream in batches, saved after each; the home fails once, and the batch runs again from the checkpoint."""

    def opened(snapshot=None):
        more = {"pool_blocks": 2, "block_bytes": 32, "durable": True, "snapshot": snapshot}
        return SharedSlideM(2, "s", NUMBERS, blocks, **more) if shared else SlideM("s", NUMBERS, blocks, **more)

    def step(repository, number: int) -> list[int]:
        repository.add(numbers(number * 7, number * 7 + 7))
        gone = []
        for rank in (1, 0) if shared else (None,):
            count = max(0, 7 * (number - (2 if rank == 1 else 4)) + 7) - expired.get(rank, 0)
            parts = repository.expire(rank, count) if shared else repository.expire(count)
            gone += [row for part in parts for row in part.column("x").to_pylist()]
        repository.save()
        return gone

    def fail(count: int | None, at_step: int) -> tuple[list, bool]:
        nonlocal blocks
        blocks = FailingBlocks()
        repository, answers, failed = opened(), [], False
        for number in range(12):
            for rank in (1, 0) if shared else (None,):
                expired[rank] = max(0, 7 * (number - 1 - (2 if rank == 1 else 4)) + 7)
            snapshot = repository.snapshot()
            blocks.commit()
            if number == at_step:
                blocks.fail_at(count)
            try:
                answers.append(step(repository, number))
            except Breakdown:
                failed = True
                blocks.rollback()
                repository = opened(snapshot)
                answers.append(step(repository, number))
            blocks.fail_at(None)
        return answers, failed

    blocks, expired = FailingBlocks(), {}
    whole, _ = fail(None, 0)
    assert sum(map(len, whole)) > 50
    for at_step in (5, 8):
        count, failed = 0, True
        while failed:
            answers, failed = fail(count, at_step)
            assert answers == whole
            count += 1
        assert count > 3


def test_what_was_written_before_a_breakdown_can_still_be_expired():
    blocks = FailingBlocks()
    window = SlideM("s", NUMBERS, blocks, block_bytes=32)
    window.add(numbers(0, 40))
    held = len(window)
    blocks.fail_at(0)
    with pytest.raises(Breakdown):
        window.add(numbers(40, 80))
    blocks.fail_at(None)
    rows = [row for part in window.expire(80) for row in part.column("x").to_pylist()]
    assert len(rows) >= held and rows == list(range(len(rows)))


def test_bad_sizes_are_refused():
    with pytest.raises(StorageError, match="too small: it takes two"):
        SlideM("s", NUMBERS, MemoryBlocks(), pool_blocks=1)
    with pytest.raises(StorageError, match="holds no row"):
        SlideM("s", NUMBERS, MemoryBlocks(), block_bytes=0)
    with pytest.raises(StorageError, match="a row of 8 bytes does not fit into a block of 7"):
        SlideM("s", NUMBERS, MemoryBlocks(), block_bytes=7).add(numbers(0, 1))
    with pytest.raises(StorageError, match="no policy 'fifo' for blocks: there are distance, lru, mru"):
        SharedSlideM(1, "s", NUMBERS, MemoryBlocks(), policy="fifo")


def test_compression_is_used_where_it_pays():
    def written(values) -> int:
        window = SlideM("s", NUMBERS, MemoryBlocks(), block_bytes=8192)
        window.add(pa.record_batch({"x": values}))
        return window.counts.bytes_written / window.counts.writes

    noise = np.random.default_rng(1).integers(-(2**62), 2**62, 20_000)
    assert written(np.zeros(20_000, np.int64)) < 2000
    assert 8192 <= written(noise) < 9000


def test_a_file_reuses_the_slots_that_were_released_first(tmp_path):
    blocks = FileBlocks(tmp_path / "f", slot_bytes=4)
    for number in range(6):
        blocks.write("s", number, b"abcd")
    for number in (3, 1):
        blocks.delete("s", number)
    blocks.write("s", 10, b"wxyz")
    assert (tmp_path / "f").read_bytes()[12:16] == b"wxyz"
    assert blocks.bytes_on_disk == 24
