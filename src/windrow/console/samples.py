"""Sample streams, made up as the clock goes: prices of twelve stocks, and cars that drive through a town."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

SYMBOLS = ("AEL", "BRN", "CYG", "DOL", "ELM", "FJD", "GRO", "HAV", "IBX", "JUN", "KLM", "LYR")
RATE = 240
LATENESS_US = 2_000_000
TICKS = pa.schema(
    {
        "ts": pa.timestamp("us", tz="UTC"),
        "symbol": pa.string(),
        "price": pa.float64(),
        "volume": pa.int32(),
    }
)
CARS = pa.schema(
    {
        "ts": pa.timestamp("us", tz="UTC"),
        "car": pa.int32(),
        "x": pa.float64(),
        "y": pa.float64(),
        "speed": pa.float64(),
    }
)
SCHEMAS = {"ticks": TICKS, "cars": CARS}
QUERIES = {
    "vwap": """SELECT symbol, SUM(price * volume) / SUM(volume) AS vwap, SUM(volume) AS volume
FROM ticks [RANGE 30 SECONDS SLIDE 1 SECOND]
GROUP BY symbol""",
    "movers": """SELECT symbol, MAX(price) - MIN(price) AS spread
FROM ticks [RANGE 10 SECONDS SLIDE 2 SECONDS]
GROUP BY symbol ORDER BY spread DESC LIMIT 5""",
    "busy": """SELECT symbol, COUNT(*) AS n
FROM ticks [RANGE 20 SECONDS SLIDE 5 SECONDS]
GROUP BY symbol HAVING COUNT(*) > 380 EMIT CHANGES""",
    "speeds": """SELECT AVG(speed) AS mean, MIN(speed) AS slowest, MAX(speed) AS fastest
FROM cars [RANGE 15 SECONDS SLIDE 1 SECOND]""",
}


class Samples:
    """Events of both streams between two instants, the same for the same seed. One in fifty comes late."""

    def __init__(self, seed: int = 7) -> None:
        self._random = np.random.default_rng(seed)
        self._prices = self._random.uniform(20, 180, len(SYMBOLS))
        self._popular = self._random.dirichlet(np.full(len(SYMBOLS), 2.0))
        self._places = self._random.uniform(0, 100, (24, 2))
        self._headings = self._random.uniform(0, 2 * np.pi, 24)

    def between(self, begin_us: int, end_us: int) -> dict[str, pa.Table]:
        """The events that arrive between two instants."""
        return {"ticks": self._ticks(begin_us, end_us), "cars": self._cars(begin_us, end_us)}

    def _ticks(self, begin_us: int, end_us: int) -> pa.Table:
        draw, seconds = self._random, (end_us - begin_us) / 1e6
        count = int(draw.poisson(RATE * seconds))
        times = np.sort(draw.integers(begin_us, max(end_us, begin_us + 1), count))
        late = draw.random(count) < 0.02
        times = times - np.where(late, draw.integers(0, 2 * LATENESS_US, count), 0)
        which = draw.choice(len(SYMBOLS), count, p=self._popular)
        self._prices *= np.exp(draw.normal(0, 0.0025 * np.sqrt(max(seconds, 1e-3)), len(SYMBOLS)))
        prices = np.round(self._prices[which] * (1 + draw.normal(0, 0.0015, count)), 2)
        volumes = (draw.integers(1, 12, count) * 10).astype(np.int32)
        return pa.table([_instants(times), np.array(SYMBOLS)[which], prices, volumes], schema=TICKS)

    def _cars(self, begin_us: int, end_us: int) -> pa.Table:
        draw, seconds = self._random, (end_us - begin_us) / 1e6
        self._headings += draw.normal(0, 0.3, 24)
        speeds = np.abs(draw.normal(9, 4, 24))
        steps = np.stack([np.cos(self._headings), np.sin(self._headings)], 1) * speeds[:, None] * seconds
        self._places = np.abs((self._places + steps + 100) % 200 - 100)
        times = draw.integers(begin_us, max(end_us, begin_us + 1), 24)
        order = np.argsort(times)
        x, y = np.round(self._places[order], 2).T
        numbers = np.arange(24, dtype=np.int32)[order]
        return pa.table([_instants(times[order]), numbers, x, y, np.round(speeds[order], 1)], schema=CARS)


def _instants(times: np.ndarray) -> pa.Array:
    return pa.array(times.astype(np.int64)).cast(TICKS.field("ts").type)
