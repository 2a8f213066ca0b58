"""Stock ticks for the benchmarks: a random walk per symbol, written as Parquet files of whole batches."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from .arriving import put

SCHEMA = "ts TIMESTAMP, symbol STRING, price DOUBLE, volume INT"
BEGIN_US = 1_700_000_000_000_000


@dataclass(frozen=True, slots=True)
class Ticks:
    """`batches` of `rows` events each, `rate` events a second of event time, spread over `symbols`.

    With `before_seconds`, one more batch comes first, with the events of so much time before: at its begin, where the
    windows that are measured end, each symbol has one each second, and from then on there is one of any a second.
    """

    folder: Path
    rows: int
    batches: int
    rate: int = 10_000
    symbols: int = 100
    files_per_batch: int = 2
    before_seconds: int = 0

    @property
    def events(self) -> int:
        return self.rows * self.batches

    def write(self) -> Ticks:
        """Write the files; the same arguments give the same events."""
        random = np.random.default_rng(7)
        names = pa.array([f"S{number:06d}" for number in range(self.symbols)])
        prices = 50 + 100 * random.random(self.symbols)
        earlier = 1 if self.before_seconds else 0
        for batch in range(self.batches + earlier):
            if batch < earlier:
                times, symbol = self._before()
            else:
                first = (batch - earlier) * self.rows
                times = BEGIN_US + (np.arange(first, first + self.rows) * (1_000_000 // self.rate))
                symbol = random.integers(0, self.symbols, self.rows)
            price = prices[symbol] + random.normal(0, 0.5, len(times))
            table = pa.table(
                {
                    "ts": pa.array(times, pa.timestamp("us", tz="UTC")),
                    "symbol": names.take(pa.array(symbol)),
                    "price": np.round(price, 2),
                    "volume": pa.array(random.integers(1, 1000, len(times)), pa.int32()),
                }
            )
            step = -(-len(times) // self.files_per_batch)
            for part in range(self.files_per_batch):
                put(self.folder, batch * self.files_per_batch + part, table.slice(part * step, step))
        return self

    def _before(self) -> tuple[np.ndarray, np.ndarray]:
        """Times and symbols of the events that come before, in the order of their times."""
        begin, dense = BEGIN_US - self.before_seconds * 1_000_000, self.events // self.rate
        each = np.arange(dense * self.symbols)
        rest = np.arange(dense, self.before_seconds)
        times = np.concatenate([begin + each * 1_000_000 // self.symbols, begin + rest * 1_000_000])
        return times, np.concatenate([each, rest]) % self.symbols
