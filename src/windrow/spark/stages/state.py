"""Blocks in Spark's state store."""

from __future__ import annotations

from pyspark.sql.streaming.stateful_processor import MapState

from windrow.errors import StateError


class StateBlocks:
    """Blocks in a `MapState`, with the bytes they moved, and whether their shard was read from there in this batch.

    `state` is set anew for each batch: a worker keeps what it has decoded, and the store hands out a new handle.
    """

    pays = 0.9
    """Each block travels to the store over a socket, and into its log: a little that is saved pays."""

    def __init__(self) -> None:
        self.state: MapState | None = None
        self.bytes_read = self.bytes_written = 0
        self.was_read = False

    def read(self, family: str, number: int) -> bytes:
        found = self._state.getValue((f"{family}/{number}",))
        if found is None:
            raise StateError(f"block {number} of {family} is missing in the checkpoint")
        self.bytes_read += len(found[0])
        return bytes(found[0])

    def write(self, family: str, number: int, block: bytes) -> None:
        self.bytes_written += len(block)
        self._state.updateValue((f"{family}/{number}",), (block,))

    def delete(self, family: str, number: int) -> None:
        self._state.removeKey((f"{family}/{number}",))

    def delete_all(self, prefix: str) -> None:
        for key in [key for key in self._state.keys() if key[0].startswith(prefix)]:  # noqa: SIM118 # it is no dict
            self._state.removeKey(key)

    @property
    def _state(self) -> MapState:
        assert self.state is not None, "no batch is under way"
        return self.state
