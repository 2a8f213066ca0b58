"""The answer of a query as of a committed batch, and what a batch has brought."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from windrow.current.html import html_table
from windrow.errors import AskError
from windrow.plan.instants import shown_instant

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of a query's answer, `table`, as of a `batch` and the clock of its streams then.

    `version` counts the times that it has changed. `cut` says how many rows are not kept, since there are more than
    the limits of the query allow; `since` is the first batch that it is made of, where what came before is not known.
    """

    query: str
    table: pa.Table
    batch: int
    clock_us: int | None
    version: int
    cut: int = 0
    since: int | None = None

    @property
    def clock(self) -> datetime | None:
        """The clock of the streams that it is made of."""
        return None if self.clock_us is None else shown_instant(self.clock_us)

    def where(self, keys: Mapping[str, Any]) -> Answer:
        """The same with those rows alone whose columns have these values, which may be texts of them."""
        return replace(self, table=rows_with(self.table, keys))

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a DataFrame of pandas."""
        return self.table.to_pandas()

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows as dicts."""
        rows: list[dict[str, Any]] = self.table.to_pylist()
        return rows

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def _repr_html_(self) -> str:
        cut = f", {self.cut:,} more are not kept" if self.cut else ""
        caption = f"{self.query}: {len(self):,} rows{cut}, batch {self.batch}, clock {self.clock}"
        return html_table(self.table.column_names, (row.values() for row in self.table.to_pylist()), caption)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.to_pylist())


@dataclass(frozen=True, slots=True)
class Update:
    """What a committed batch has brought of a query: whole windows, or rows with `op` where it emits changes.

    `cut` says how many of its rows are not here. `whole` is set where it is the answer itself, since updates before it
    are not kept any more.
    """

    query: str
    table: pa.Table
    batch: int
    clock_us: int | None
    cut: int = 0
    whole: bool = False

    @property
    def clock(self) -> datetime | None:
        """The clock of the streams after the batch."""
        return None if self.clock_us is None else shown_instant(self.clock_us)

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a DataFrame of pandas."""
        return self.table.to_pandas()

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows as dicts."""
        rows: list[dict[str, Any]] = self.table.to_pylist()
        return rows


def rows_with(table: pa.Table, keys: Mapping[str, Any]) -> pa.Table:
    """The rows whose columns have these values.

    >>> rows_with(pa.table({"k": [1, 2, 2], "n": [5, 6, 7]}), {"k": "2"})["n"].to_pylist()
    [6, 7]
    """
    for name, value in keys.items():
        if name not in table.column_names:
            known = ", ".join(table.column_names)
            raise AskError(f"there is no column {name!r}\nhint: columns are {known}")
        column = table[name]
        if value is None:
            table = table.filter(pc.is_null(column))
            continue
        try:
            wanted = pa.scalar(value) if not isinstance(value, str) else _read(value, column.type)
            table = table.filter(pc.equal(column, wanted))
        except (pa.ArrowException, OverflowError, ValueError) as error:
            raise AskError(f"{name} is {column.type}, and {value!r} is none: {_first_line(error)}") from None
    return table


def _read(text: str, kind: pa.DataType) -> pa.Scalar:
    """A value as a text of it says."""
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return pa.scalar(text, kind)
    if pa.types.is_timestamp(kind):
        instant = datetime.fromisoformat(text)
        aware = instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)
        return pa.scalar(aware if kind.tz else instant.replace(tzinfo=None), kind)
    return pa.scalar(text).cast(kind)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
