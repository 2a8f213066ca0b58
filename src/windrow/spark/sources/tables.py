"""The tables of a session: what they hold, and which of them are read again while a job runs."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema

from windrow.errors import SettingsError
from windrow.plan.refresh import Refresh
from windrow.spark.sources.read import spark_reason, table_rows

LOGGER = logging.getLogger("windrow")

Kept = Callable[[str], tuple[pa.Table, int] | None]
"""What a checkpoint has of a table: the rows that were joined last, and when they were read, in microseconds."""


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
    nobody. One that cannot be read when a job starts has the rows that the checkpoint has `kept`, where there are some.
    """

    def __init__(self) -> None:
        self._frames: dict[str, Callable[[], DataFrame]] = {}
        self._shown: dict[str, pa.Schema] = {}
        self.kept: Kept = lambda table: None
        self.unread: dict[str, str] = {}
        """Why tables were not read when the job started, of those that had to have kept rows."""
        self._held: dict[str, Held] = {}
        self.refreshes: dict[str, Refresh] = {}
        """How often tables are read again, of those that are."""

    def declare(self, name: str, frame: DataFrame, refresh: Refresh | None) -> pa.Schema:
        """Register a table; the columns that queries see."""
        schema = to_arrow_schema(frame.schema, timezone="UTC")
        shown = schema if refresh is None else refresh.columns(name, schema)
        return self._declare(name, lambda: frame, shown, refresh)

    def declare_kept(self, name: str, again: Callable[[], DataFrame], refresh: Refresh | None) -> pa.Schema | None:
        """Register a table that is not there now, with the columns that its kept rows have; None if there are none.

        `again` opens it, and is tried whenever it is to be read.
        """
        kept = None if refresh is None else self.kept(name)
        return None if kept is None else self._declare(name, again, kept[0].schema, refresh)

    def _declare(
        self, name: str, opened: Callable[[], DataFrame], shown: pa.Schema, refresh: Refresh | None
    ) -> pa.Schema:
        self._frames[name], self._shown[name] = opened, shown
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
            try:
                self.read_again(name)
            except SettingsError as error:
                kept = self.kept(name)
                if kept is None or _fields(kept[0].schema) != _fields(self._shown[name]):
                    raise
                self._go_on_with(name, *kept, str(error))
        return self._held[name].rows

    def _go_on_with(self, name: str, rows: pa.Table, read_us: int, why: str) -> None:
        """Hold the rows that the checkpoint has; what they were read as is all but when that was."""
        read_at = self.refreshes[name].read_at
        self._held[name] = Held(rows if read_at is None else rows.drop_columns(read_at), rows, read_us)
        self.unread[name] = why.splitlines()[0]
        LOGGER.warning("%s; the job goes on with the %s rows that its checkpoint has", self.unread[name], rows.num_rows)

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

    def begin(self, kept: Kept) -> None:
        """Forget what was read: a job that starts reads its tables as they are then, or has what is `kept` of them."""
        self._held.clear()
        self.unread.clear()
        self.kept = kept

    def _read(self, name: str) -> pa.Table:
        try:
            return table_rows(self._frames[name]())
        except SettingsError as error:  # it has to be opened anew, and is not there
            raise SettingsError(f"table {name!r} is not there: {error}") from error
        except (PySparkException, Py4JError) as error:
            raise SettingsError(f"table {name!r} cannot be read: {spark_reason(error)}") from error


def _fields(schema: pa.Schema) -> list[tuple[str, pa.DataType]]:
    return [(field.name, field.type) for field in schema]
