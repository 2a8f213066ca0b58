"""How often a table is read again while a job runs."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from windrow.errors import SettingsError
from windrow.language import parse_duration

READ_AT = pa.timestamp("us", "UTC")


@dataclass(frozen=True, slots=True)
class Refresh:
    """A table is read again every `every_us`; a column `read_at`, if it has one, says when it was read.

    An answer that selects the column says which version of the table it has used: that of the batch that it is of,
    also where the batch runs again.
    """

    every_us: int
    read_at: str | None = None

    @classmethod
    def read(cls, every: str | None, read_at: str | None) -> Refresh | None:
        """
        >>> Refresh.read("10 minutes", None)
        Refresh(every_us=600000000, read_at=None)
        """
        if every is None:
            if read_at is not None:
                raise SettingsError("read_at is for a table that is read again\nhint: refresh='10 minutes'")
            return None
        length = parse_duration(every)
        if length <= 0:
            raise SettingsError(f"refresh {every!r} is no time between two refreshes\nhint: refresh='10 minutes'")
        return cls(length, read_at)

    def columns(self, name: str, schema: pa.Schema) -> pa.Schema:
        """The columns that queries see of the table `name`, which has `schema`."""
        if self.read_at is None:
            return schema
        if self.read_at.lower() in (known.lower() for known in schema.names):
            raise SettingsError(
                f"table {name!r} has a column {self.read_at!r} of its own\nhint: another name for when it was read"
            )
        return schema.append(pa.field(self.read_at, READ_AT))

    def rows(self, rows: pa.Table, instant_us: int) -> pa.Table:
        """Rows as queries join them, read at an instant."""
        if self.read_at is None:
            return rows
        instant = pa.scalar(instant_us, pa.int64()).cast(READ_AT)
        return rows.append_column(pa.field(self.read_at, READ_AT), pa.repeat(instant, rows.num_rows))
