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
    """The newest window of some queries, recomputed by pyarrow."""
    return [_compared(folder, query, recompute) for query, recompute in RECOMPUTED.items()]


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


def _turnover(ticks: pa.Table) -> pa.Table:
    paid = ticks.group_by("symbol").aggregate([("paid", "sum")]).rename_columns({"paid_sum": "paid"})
    return _first_five(paid, "paid")


def _spreads(ticks: pa.Table) -> pa.Table:
    found = ticks.group_by("symbol").aggregate([("price", "max"), ("price", "min"), ("price", "mean")])
    width = pc.multiply(10_000.0, pc.subtract(found["price_max"], found["price_min"]))
    return _first_five(pa.table({"symbol": found["symbol"], "points": pc.divide(width, found["price_mean"])}), "points")


def _pulse(ticks: pa.Table) -> pa.Table:
    return pa.table({"trades": [ticks.num_rows], "symbols": [len(pc.unique(ticks["symbol"]))]})


def _first_five(rows: pa.Table, by: str) -> pa.Table:
    return rows.sort_by([(by, "descending")]).slice(0, 5)


RECOMPUTED: dict[str, Recompute] = {
    "vwap": _vwap,
    "volatility": _volatility,
    "market": _market,
    "turnover": _turnover,
    "spreads": _spreads,
    "pulse": _pulse,
}
