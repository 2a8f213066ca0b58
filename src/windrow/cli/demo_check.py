"""The demo's last answers beside the same computed without Windrow, from the files of ticks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

TOLERANCE = 1e-9

Recompute = Callable[[pa.Table], pa.Table]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One window of a query beside the same computed from the files of ticks, without Windrow."""

    query: str
    begin: datetime
    end: datetime
    ticks: int
    values: int
    difference: float

    @property
    def matches(self) -> bool:
        return self.values > 0 and self.difference <= TOLERANCE


def compare(folder: Path) -> list[Comparison]:
    """The newest window of each query that sums up, recomputed by pyarrow."""
    price, volume = ds.field("price"), ds.field("volume")
    paid = {"symbol": ds.field("symbol"), "price": price, "volume": volume, "paid": price * volume.cast("double")}
    return [
        _compared(folder, "vwap", paid, ["symbol"], _vwap),
        _compared(folder, "volatility", paid, ["symbol"], _volatility),
        _compared(folder, "market", paid, [], _market),
    ]


def _compared(folder: Path, query: str, columns: dict, keys: list[str], recompute: Recompute) -> Comparison:
    answers = pq.read_table(sorted((folder / query).glob("*.parquet")))
    newest = answers.filter(pc.equal(answers["window_end"], pc.max(answers["window_end"])))
    begin, end = newest["window_start"][0], newest["window_end"][0]
    inside = (ds.field("ts") >= begin) & (ds.field("ts") < end)
    ticks = ds.dataset(folder / "ticks", format="parquet").to_table(columns=columns, filter=inside)
    expected = recompute(ticks)
    if keys:
        newest, expected = newest.sort_by(keys[0]), expected.sort_by(keys[0])
    same_keys = all(newest[key].to_pylist() == expected[key].to_pylist() for key in keys)
    values = [name for name in expected.column_names if name not in keys]
    worst = max(_difference(newest[name], expected[name]) for name in values) if same_keys else float("inf")
    return Comparison(query, begin.as_py(), end.as_py(), ticks.num_rows, newest.num_rows * len(values), worst)


def _vwap(ticks: pa.Table) -> pa.Table:
    sums = ticks.group_by("symbol").aggregate([("paid", "sum"), ("volume", "sum")])
    return pa.table(
        {
            "symbol": sums["symbol"],
            "vwap": pc.divide(sums["paid_sum"], pc.cast(sums["volume_sum"], pa.float64())),
            "volume": sums["volume_sum"],
        }
    )


def _volatility(ticks: pa.Table) -> pa.Table:
    asked = [("price", "stddev", pc.VarianceOptions(ddof=1)), ("price", "min"), ("price", "max")]
    found = ticks.group_by("symbol").aggregate(asked)
    return found.rename_columns({"price_stddev": "stddev", "price_min": "low", "price_max": "high"})


def _market(ticks: pa.Table) -> pa.Table:
    return pa.table(
        {
            "trades": [ticks.num_rows],
            "volume": [pc.sum(ticks["volume"]).as_py()],
            "turnover": [pc.sum(ticks["paid"]).as_py()],
        }
    )


def _difference(answered: pa.ChunkedArray, expected: pa.ChunkedArray) -> float:
    """The largest difference, relative to the value."""
    left, right = (pc.cast(column, pa.float64()).to_numpy() for column in (answered, expected))
    if len(left) != len(right):
        return float("inf")
    return float((abs(left - right) / abs(right).clip(min=1e-300)).max(initial=0.0))
