"""The last answers over ticks beside the same computed by pyarrow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from windrow.cli.demos.check import Comparison, compared, newest_window

Recompute = Callable[[pa.Table], pa.Table]


def compare(folder: Path) -> list[Comparison]:
    """The newest window of each query that sums up, recomputed by pyarrow."""
    return [
        _compared(folder, "vwap", _vwap),
        _compared(folder, "volatility", _volatility),
        _compared(folder, "market", _market),
    ]


def _compared(folder: Path, query: str, recompute: Recompute) -> Comparison:
    price, volume = ds.field("price"), ds.field("volume")
    paid = {"symbol": ds.field("symbol"), "price": price, "volume": volume, "paid": price * volume.cast("double")}
    window = newest_window(folder, query)
    ticks = window.events(folder / "ticks", paid)
    answered, expected = window.answers, recompute(ticks)
    if "symbol" in expected.column_names:
        answered, expected = answered.sort_by("symbol"), expected.sort_by("symbol")
    return compared(window, ticks.num_rows, answered, expected)


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
