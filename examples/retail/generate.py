"""Writes the sales of two groups of stores into folders of Parquet files, with the favourite items and stores.

python examples/retail/generate.py examples/retail
python examples/retail/generate.py examples/retail --live
"""

from __future__ import annotations

import argparse
import os
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ITEMS, STORES = 10_000, 100
SCHEMA = pa.schema(
    [
        pa.field("StoreID", pa.int32(), nullable=False),
        pa.field("ItemID", pa.int32(), nullable=False),
        pa.field("Price", pa.float64(), nullable=False),
        pa.field("Quantity", pa.int32(), nullable=False),
        pa.field("Timestamp", pa.timestamp("us", tz="UTC"), nullable=False),
    ]
)
STREAMS = ("SalesStream_A", "SalesStream_B")
SECOND = 1_000_000


class Sales:
    """The sales of one half of the stores, `rate` a second in the mean, at random (Hammad et al., 2003, section 6).

    An item has one price everywhere, but each stream has every fifth sale at a discount of its own, so that one stream
    has sales that the other has not.

    >>> sales = Sales(0, rate=200, seed=42)
    >>> first, second = sales.until(SECOND), sales.until(2 * SECOND)
    >>> first.schema == SCHEMA, 100 < len(first) < 300, len(sales.until(2 * SECOND))
    (True, True, 0)
    """

    def __init__(self, stream: int, rate: float, seed: int, start_us: int = 0) -> None:
        self._stream, self._gap_us, self._next_us = stream, SECOND / rate, float(start_us)
        self._prices = np.random.default_rng(seed).integers(100, 10_000, ITEMS)
        self._random = np.random.default_rng([seed, stream])

    def until(self, end_us: int) -> pa.Table:
        """The sales since the last call, up to just before `end_us`, in order of time."""
        random, times = self._random, []
        while self._next_us < end_us:
            times.append(int(self._next_us))
            self._next_us += random.exponential(self._gap_us)
        count = len(times)
        item = random.integers(0, ITEMS, count)
        discount = np.where(random.random(count) < 0.2, 10 + 5 * self._stream, 0)
        columns = {
            "StoreID": self._stream * (STORES // 2) + random.integers(0, STORES // 2, count),
            "ItemID": item,
            "Price": self._prices[item] * (100 - discount) // 100 / 100,
            "Quantity": random.geometric(0.5, count),
            "Timestamp": np.array(times, np.int64),
        }
        return pa.table([pa.array(columns[field.name]).cast(field.type) for field in SCHEMA], SCHEMA)


def favorites() -> dict[str, pa.Table]:
    """A tenth of the items, and half of the stores."""
    return {
        "FavoriteItems": pa.table({"ItemID": pa.array(np.arange(0, ITEMS, 10), pa.int32())}),
        "FavoriteStores": pa.table({"StoreID": pa.array(np.arange(0, STORES, 2), pa.int32())}),
    }


def write_sales(folder: Path, seconds: int, step: int, rate: float, start: datetime, seed: int, live: bool) -> int:
    """Write a file of `step` seconds for each stream, again and again; returns how many sales there are in all.

    With `live` a file is written when its last second is over.
    """
    for name, table in favorites().items():
        put(folder / name, 0, table, 0)
    for name in STREAMS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    start_us = round(start.timestamp() * SECOND)
    streams = {name: Sales(i, rate, seed, start_us) for i, name in enumerate(STREAMS)}
    count = 0
    for number in range(seconds // step):
        end_us = start_us + (number + 1) * step * SECOND
        if live:
            time.sleep(max(0.0, end_us / SECOND - time.time()))
        for name, sales in streams.items():
            table = sales.until(end_us)
            count += len(table)
            put(folder / name, number, table, end_us)
    return count


def put(folder: Path, number: int, table: pa.Table, written_us: int) -> None:
    """A file appears whole; Spark reads files in the order of their age, which is the order of their events."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{number:05d}.parquet"
    pq.write_table(table, folder / f".{name}")  # readers pass over names that begin with a dot
    os.utime(folder / f".{name}", (written_us / SECOND,) * 2)
    os.replace(folder / f".{name}", folder / name)


def instant(text: str) -> datetime:
    """A time as it is written, in UTC where it says nothing else."""
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def positive(text: str) -> int:
    if int(text) < 1:
        raise ValueError
    return int(text)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path, help="where the folders of the streams and tables go")
    arguments.add_argument("--seconds", type=positive, default=180, help="how long")
    arguments.add_argument("--step", type=positive, default=5, help="seconds in a file")
    arguments.add_argument("--rate", type=positive, default=1_000, help="sales a second in each stream")
    arguments.add_argument("--start", type=instant, default="2024-01-01T09:00:00Z", help="when the first one happens")
    arguments.add_argument("--seed", type=int, default=42, help="another seed gives other sales")
    arguments.add_argument("--live", action="store_true", help="sales happen from now on, as time goes by")
    chosen = arguments.parse_args()
    start = datetime.now(UTC) if chosen.live else chosen.start
    count = write_sales(chosen.folder, chosen.seconds, chosen.step, chosen.rate, start, chosen.seed, chosen.live)
    print(f"{count:,} sales, {chosen.seconds:,} seconds in {len(STREAMS)} streams, are in {chosen.folder}")


if __name__ == "__main__":
    main()
