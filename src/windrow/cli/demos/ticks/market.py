"""The demo's market: 100 stocks, each of a sector, and their ticks, made up as time goes by."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from windrow.cli.demos.live_files import SECOND_US

SECTORS = ("banks", "energy", "health", "metals", "software")


class Market:
    """Ticks as in the experiments of the SlideM paper (section 5.3): symbols in turn; each price is a random walk.

    >>> market = Market(rate=1_000, seed=7)
    >>> ticks = market.ticks(0, 2 * SECOND_US)
    >>> ticks.num_rows, ticks.schema.names
    (2000, ['ts', 'symbol', 'price', 'volume'])
    """

    disorder_us = 300_000
    """Ticks are out of order by up to this, as if they had come over different roads."""

    def __init__(self, rate: int, symbols: int = 100, seed: int = 42) -> None:
        self.rate = rate
        self._random = np.random.default_rng(seed)
        self.symbols = _names(symbols, self._random)
        self._prices = self._random.uniform(20, 400, symbols)
        self._drift = np.zeros(symbols)

    def stocks(self) -> pa.Table:
        """The sector of each stock, which does not change."""
        sectors = [SECTORS[number % len(SECTORS)] for number in range(len(self.symbols))]
        return pa.table({"symbol": self.symbols, "sector": sectors})

    def write_stocks(self, beside: Path) -> None:
        """Write them into the folder `stocks` that lies `beside` that of the ticks."""
        folder = beside.parent / "stocks"
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(self.stocks(), folder / "stocks.parquet")

    def ticks(self, begin_us: int, end_us: int) -> pa.Table:
        """The ticks that arrive in [begin, end); they happened then, or a little earlier."""
        random, count = self._random, len(self.symbols)
        rounds = max(1, round(self.rate * (end_us - begin_us) / SECOND_US / count))
        calm = 0.9 ** ((end_us - begin_us) / SECOND_US)  # a trend is half forgotten after seven seconds
        self._drift = calm * self._drift + (1 - calm**2) ** 0.5 * random.normal(0, 4e-6, count)
        steps = random.normal(0, 6e-5, (rounds, count)) + self._drift
        prices = self._prices * np.exp(np.cumsum(steps, axis=0))
        self._prices = prices[-1]
        arrived = np.linspace(begin_us, end_us, rounds * count, endpoint=False).astype(np.int64)
        times = arrived - random.integers(0, self.disorder_us, rounds * count)
        return pa.table(
            {
                "ts": pa.array(times, pa.timestamp("us", tz="UTC")),
                "symbol": pa.DictionaryArray.from_arrays(
                    np.tile(np.arange(count, dtype=np.int32), rounds), self.symbols
                ).dictionary_decode(),
                "price": np.round(prices.ravel(), 3),
                "volume": pa.array(random.geometric(0.02, rounds * count) * 10, pa.int32()),
            }
        )


def _names(count: int, random: np.random.Generator) -> list[str]:
    """So many names of three letters."""
    letters = "ABCDEFGHIJKLMNOPRSTUVWXZ"
    names: dict[str, None] = {}
    while len(names) < count:
        names["".join(random.choice(list(letters), 3))] = None
    return sorted(names)
