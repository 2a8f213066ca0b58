"""Block stores for tests: one that counts, one that breaks down and can be rolled back."""

from __future__ import annotations

from collections import Counter

from windrow.storage.blocks import MemoryBlocks


class CountingBlocks(MemoryBlocks):
    """Counts what is done to it since it was last `counted`."""

    def __init__(self) -> None:
        super().__init__()
        self._done: Counter[str] = Counter()

    def read(self, space: str, number: int) -> bytes:
        self._done["read"] += 1
        return super().read(space, number)

    def write(self, space: str, number: int, block: bytes) -> None:
        self._done["write"] += 1
        self._done["bytes"] += len(block)
        super().write(space, number, block)

    def delete(self, space: str, number: int) -> None:
        self._done["delete"] += 1
        super().delete(space, number)

    def counted(self) -> Counter[str]:
        """What was done since the last time, of each kind."""
        done, self._done = self._done, Counter()
        return done


class Breakdown(Exception):
    """The store does not answer any more."""


class FailingBlocks(MemoryBlocks):
    """Breaks down at the n-th change from `fail_at(n)` on; `commit` and `rollback` as a checkpointed store has them."""

    def __init__(self) -> None:
        super().__init__()
        self._left: int | None = None
        self._committed: dict[tuple[str, int], bytes] = {}

    def fail_at(self, change: int | None) -> None:
        self._left = change

    def write(self, space: str, number: int, block: bytes) -> None:
        self._step()
        super().write(space, number, block)

    def delete(self, space: str, number: int) -> None:
        self._step()
        super().delete(space, number)

    def commit(self) -> None:
        self._committed = dict(self._blocks)

    def rollback(self) -> None:
        self._blocks, self._left = dict(self._committed), None

    def _step(self) -> None:
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise Breakdown
