"""The paper's Query 3 over a repository of rows: the VWAP of each symbol, answered at every tuple."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from lab.slidem import SlideM
from numba import njit

from windrow.storage.file_blocks import FileBlocks

SYMBOLS, SECOND = 100, 1_000_000
SCHEMA = pa.schema([("ts", pa.int64()), ("symbol", pa.int32()), ("price", pa.float64()), ("volume", pa.int64())])
ROW_BYTES = 28

CYCLE = 3
"""After so many batches prices come again: more of them would take memory of their own."""


class Ticks:
    """Tuples at a steady rate that go through the symbols by turns, with random prices and volumes."""

    def __init__(self, rate: int, batch: int = 16_384) -> None:
        random = np.random.default_rng(1)
        self.rows, self._rate, self._batch = 0, rate, batch
        count = (CYCLE + 1) * batch
        self._prices = random.uniform(10, 500, count).round(2)
        self._volumes = random.integers(1, 10_000, count)
        self._symbols = (np.arange(SYMBOLS + batch) % SYMBOLS).astype(np.int32)

    def next(self) -> pa.RecordBatch:
        low, at = self.rows, self.rows % (CYCLE * self._batch)
        numbers = np.arange(low, low + self._batch)
        self.rows += self._batch
        part = slice(at, at + self._batch)
        first = low % SYMBOLS
        columns = [
            numbers * SECOND // self._rate,
            self._symbols[first : first + self._batch],
            self._prices[part],
            self._volumes[part],
        ]
        return pa.record_batch([pa.array(column) for column in columns], SCHEMA)

    def vwap(self, row: int, range_us: int) -> float:
        """By the definition, what is answered at `row`; some rows at a time, to take little memory."""
        last, first = row * SECOND // self._rate, max(0, row - range_us * self._rate // SECOND - self._rate)
        money, volume = 0.0, 0
        for low in range(first - first % SYMBOLS + row % SYMBOLS, row + 1, 100_000 * SYMBOLS):
            own = np.arange(low, min(low + 100_000 * SYMBOLS, row + 1), SYMBOLS)
            own = own[own * SECOND // self._rate > last - range_us] % (CYCLE * self._batch)
            money += float((self._prices[own] * self._volumes[own]).sum())
            volume += int(self._volumes[own].sum())
        return money / volume


class Vwap:
    """Running sums by symbol: each tuple adds itself and takes out those that are older than the range."""

    def __init__(self, window: SlideM, range_us: int) -> None:
        self._window, self._range = window, range_us
        self._sums = np.zeros((2, SYMBOLS))
        self._volumes = np.zeros(SYMBOLS, np.int64)

    def answer(self, rows: pa.RecordBatch) -> np.ndarray:
        """The VWAP of each tuple's symbol at the time of the tuple: of those with T - range < ts <= T."""
        self._window.add(rows)
        coming = _columns(rows)
        last = int(coming[0][-1])
        gone = [_columns(part) for part in self._window.expire_before("ts", last - self._range + 1)]
        leaving = tuple(np.concatenate(columns) for columns in zip(*gone)) if gone else tuple(c[:0] for c in coming)
        return _slide(self._sums, self._volumes, coming, leaving, self._range)


def _columns(rows: pa.RecordBatch) -> tuple[np.ndarray, ...]:
    return tuple(column.to_numpy() for column in rows.columns)


@njit(cache=True)
def _add(sums, symbol, value):
    """Two doubles, so that what was added can be taken out again (Knuth)."""
    old = sums[0, symbol]
    total = old + value
    back = total - old
    error = (old - (total - back)) + (value - back) + sums[1, symbol]
    sums[0, symbol] = total + error
    sums[1, symbol] = error - (sums[0, symbol] - total)


@njit(cache=True)
def _slide(sums, volumes, coming, leaving, range_us):
    ts, symbol, price, volume = coming
    old_ts, old_symbol, old_price, old_volume = leaving
    answers, j = np.empty(ts.size), 0
    for i in range(ts.size):
        while j < old_ts.size and old_ts[j] <= ts[i] - range_us:
            _add(sums, old_symbol[j], -old_price[j] * old_volume[j])
            volumes[old_symbol[j]] -= old_volume[j]
            j += 1
        own = symbol[i]
        _add(sums, own, price[i] * volume[i])
        volumes[own] += volume[i]
        answers[i] = sums[0, own] / volumes[own]
    return answers


def fill_and_slide(gigabytes: float) -> None:
    """Query 3 over a window of so many gigabytes; prints what it came to, and waits to be looked at."""
    rows = int(gigabytes * 1e9 / ROW_BYTES)
    rate = rows // 3600
    with tempfile.TemporaryDirectory(dir=Path.cwd() if gigabytes > 20 else None) as folder:
        home = FileBlocks(Path(folder) / "window")
        window = SlideM("w", SCHEMA, home)
        query, ticks = Vwap(window, 3600 * SECOND), Ticks(rate)
        while ticks.rows < rows:
            query.answer(ticks.next())
        speeds = []
        for half in (1, 2):
            began, counted = time.perf_counter(), ticks.rows
            answers = np.empty(0)
            while ticks.rows < rows * (1 + half / 2):
                answers = query.answer(ticks.next())
            speeds.append((ticks.rows - counted) / (time.perf_counter() - began))
            for back in range(1, SYMBOLS + 1):
                expected = ticks.vwap(ticks.rows - back, 3600 * SECOND)
                assert np.isclose(answers[-back], expected, rtol=1e-9), (answers[-back], expected)
        found = {
            "window GB": len(window) * ROW_BYTES / 1e9,
            "on disk GB": home.bytes_on_disk / 1e9,
            "tuples/s, first half": speeds[0],
            "second half": speeds[1],
            "ratio": speeds[1] / speeds[0],
        }
        print(json.dumps(found), flush=True)
        sys.stdin.readline()
        home.close()


if __name__ == "__main__":
    fill_and_slide(float(sys.argv[1]))
