"""A demo's last answers beside the same computed without Windrow, from the files of its events."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Window:
    """The newest window of a query: what was answered, and when it begins and ends."""

    query: str
    answers: pa.Table
    begin: pa.Scalar
    end: pa.Scalar

    def events(self, folder: Path, columns: dict[str, ds.Expression]) -> pa.Table:
        """The events of exactly this window, from the files in `folder`."""
        inside = (ds.field("ts") >= self.begin) & (ds.field("ts") < self.end)
        return ds.dataset(folder, format="parquet").to_table(columns=columns, filter=inside)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One window of a query beside the same computed from the files of events, without Windrow."""

    query: str
    begin: datetime
    end: datetime
    events: int
    values: int
    difference: float

    @property
    def matches(self) -> bool:
        return self.values > 0 and self.difference <= TOLERANCE

    def line(self, event: str) -> str:
        """What is told of it; `event` is what the stream has many of."""
        verdict = "match" if self.matches else "DIFFER"
        return (
            f"  {self.query:<10}  {self.begin:%H:%M:%S} - {self.end:%H:%M:%S}  {self.values} values of"
            f" {self.events:,} {event} {verdict}, to {self.difference:.0e}"
        )


def newest_window(folder: Path, query: str) -> Window:
    """The newest window that `query` has answered."""
    answers = pq.read_table(sorted((folder / query).glob("*.parquet")))
    newest = answers.filter(pc.equal(answers["window_end"], pc.max(answers["window_end"])))
    return Window(query, newest, newest["window_start"][0], newest["window_end"][0])


def compared(window: Window, events: int, answered: pa.Table, expected: pa.Table) -> Comparison:
    """All columns of `expected`, beside those of the same name."""
    worst = max(difference(answered[name], expected[name]) for name in expected.column_names)
    numbers = sum(not pa.types.is_string(type) for type in expected.schema.types)
    begin, end = window.begin.as_py(), window.end.as_py()
    return Comparison(window.query, begin, end, events, answered.num_rows * numbers, worst)


def difference(answered: pa.ChunkedArray, expected: pa.ChunkedArray) -> float:
    """The largest difference, relative to the value; of texts, none or infinitely much.

    >>> difference(pa.chunked_array([[2.0, 3.0]]), pa.chunked_array([[2.0, 2.0]]))
    0.5
    >>> difference(pa.chunked_array([["A", "B"]]), pa.chunked_array([["A", "C"]]))
    inf
    """
    if len(answered) != len(expected):
        return float("inf")
    if pa.types.is_string(expected.type):
        return 0.0 if answered.to_pylist() == expected.to_pylist() else float("inf")
    left, right = (pc.cast(column, pa.float64()).to_numpy() for column in (answered, expected))
    return float((abs(left - right) / abs(right).clip(min=1e-300)).max(initial=0.0))
