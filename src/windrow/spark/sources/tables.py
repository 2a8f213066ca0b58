"""The tables of a session: what they hold, and which of them are read again while a job runs."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema

from windrow.errors import SettingsError
from windrow.plan.refresh import Refresh
from windrow.spark.sources.read import spark_reason, table_rows


@dataclass(frozen=True, slots=True)
class Held:
    """What a table held when it was last read, and as queries join it; when that was, in microseconds."""

    plain: pa.Table
    rows: pa.Table
    read_us: int


class Tables:
    """Static DataFrames by name.

    One without a refresh is read whenever somebody asks. One with a refresh is read once, and again when it is asked to
    be: all that runs between two refreshes is joined with the same rows, and a database that is gone by then stops
    nobody.
    """

    def __init__(self) -> None:
        self._frames: dict[str, DataFrame] = {}
        self._held: dict[str, Held] = {}
        self.refreshes: dict[str, Refresh] = {}
        """How often tables are read again, of those that are."""

    def declare(self, name: str, frame: DataFrame, refresh: Refresh | None) -> pa.Schema:
        """Register a table; the columns that queries see."""
        schema = to_arrow_schema(frame.schema, timezone="UTC")
        shown = schema if refresh is None else refresh.columns(name, schema)
        self._frames[name] = frame
        self._held.pop(name, None)
        self.refreshes.pop(name, None)
        if refresh is not None:
            self.refreshes[name] = refresh
        return shown

    def rows(self, name: str) -> pa.Table:
        """The rows of a table as queries join them."""
        if name not in self.refreshes:
            return self._read(name)
        if name not in self._held:
            self.read_again(name)
        return self._held[name].rows

    def held(self, name: str) -> Held | None:
        """What a table with a refresh held when it was last read."""
        return self._held.get(name)

    def read_again(self, name: str) -> bool:
        """Read a table with a refresh; whether it holds something else than before."""
        plain, now = self._read(name), time.time_ns() // 1000
        before = self._held.get(name)
        if before is not None and before.plain.equals(plain):
            return False
        self._held[name] = Held(plain, self.refreshes[name].rows(plain, now), now)
        return True

    def begin(self) -> None:
        """Forget what was read: a job that starts reads its tables as they are then."""
        self._held.clear()

    def _read(self, name: str) -> pa.Table:
        try:
            return table_rows(self._frames[name])
        except (PySparkException, Py4JError) as error:
            raise SettingsError(f"table {name!r} cannot be read: {spark_reason(error)}") from error
