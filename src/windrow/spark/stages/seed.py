"""State written into a new checkpoint: Spark's own store writes it, in one batch that reads nothing but this state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

if TYPE_CHECKING:
    import pandas as pd

SEED_DDL = "operator INT, shard INT, version BIGINT, block STRING, bytes BINARY"
"""A block of a shard, or, where it has none, the version that the shard is of; `operator` is Spark's number."""


def sow(rows: DataFrame, operators: Sequence[int]) -> DataFrame:
    """A stream of SEED_DDL into the state of as many stateful operators as `operators` has.

    Spark counts the operators of a plan from its end: the one that reads the stream has the last number.
    """
    for operator in sorted(operators, reverse=True):
        rows = rows.groupBy("shard").transformWithStateInPandas(
            SeedProcessor(operator), outputStructType=SEED_DDL, outputMode="Append", timeMode="None"
        )
    return rows


class SeedProcessor(StatefulProcessor):
    """Keeps the rows of one operator under the names and types of `SlideProcessor`, and passes on all others."""

    def __init__(self, operator: int) -> None:
        self._operator = operator

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._version = handle.getValueState("version", "version BIGINT")
        self._blocks = handle.getMapState("blocks", "block STRING", "bytes BINARY")

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        for frame in rows:
            mine = frame["operator"] == self._operator
            own = frame[mine]
            for version, block, content in zip(own["version"], own["block"], own["bytes"]):
                if block is None:
                    self._version.update((int(version),))
                else:
                    self._blocks.updateValue((block,), (bytes(content),))
            if not mine.all():
                yield frame[~mine]

    def close(self) -> None:
        pass
