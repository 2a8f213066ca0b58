"""Nested windows from SQL: Figures 5 to 8 of Patroumpas and Sellis 2010, over network connections, in replay."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

import windrow

from .level_chain import PAIRS, Line
from .size import Size

SECOND = 1_000_000
FEW = 10
"""While the widest window fills, each slide of the finest level has so many events."""

USUAL = 100_000
"""Events an instant, as in the paper."""

SELECT = {
    "SUM": "SELECT SUM(duration) AS s FROM connections {}",
    "regression": "SELECT REGR_SLOPE(duration, ts) AS s FROM connections {}",
    "recurring": "SELECT item FROM connections {} GROUP BY item HAVING RECURRING(item)",
}
PAPER = [(60, 1), (300, 10), (600, 30), (1_800, 60), (3_600, 300)]
"""The levels that benchmarks.md has on Spark, beside those of the paper's figures."""


@dataclass(frozen=True)
class Connections:
    """Durations and states of connections, in the order in which they came, and where they are from."""

    durations: np.ndarray
    states: np.ndarray
    source: str

    @classmethod
    def read(cls) -> Connections:
        """The real ones, from a file beside the checkout or in the folder WINDROW_DATA, else generated ones."""
        beside = Path(__file__).resolve().parents[2] / "shared" / "data"
        path = Path(os.environ.get("WINDROW_DATA", beside)) / "network_connections.tsv.gz"
        if not path.exists():
            random = np.random.default_rng(7)
            return cls(random.exponential(20.0, 100_000), random.integers(0, 10, 100_000), "generated")
        options = pyarrow.csv.ConvertOptions(
            null_values=["-"],
            column_types={"duration": pa.float64(), "conn_state": pa.string()},
            include_columns=["duration", "conn_state"],
        )
        with pa.CompressedInputStream(pa.OSFile(str(path)), "gzip") as file:
            table = pyarrow.csv.read_csv(
                file, pyarrow.csv.ReadOptions(), pyarrow.csv.ParseOptions(delimiter="\t"), options
            )
        durations = table["duration"].fill_null(0.0).to_numpy()
        states = table["conn_state"].combine_chunks().dictionary_encode().indices.to_numpy(zero_copy_only=False)
        return cls(durations, np.asarray(states, np.int64), "real")

    def instant(self, number: int, rate: int, items: int = 10) -> pa.Table:
        """The next `rate` connections, within a second; of more than `items` states, some are as others."""
        rows = (np.arange(rate) + number * rate) % len(self.durations)
        times = number * SECOND + np.arange(rate) * SECOND // rate
        columns: dict[str, Any] = {"ts": pa.array(times).cast(pa.timestamp("us", "UTC"))}
        return pa.table(columns | {"duration": self.durations[rows], "item": self.states[rows] % items})


def window(pairs: Sequence[tuple[int, int]]) -> str:
    """Levels, the finest first, as they are written."""
    ranges, slides = (", ".join(f"{n} SECONDS" for n in reversed(part)) for part in zip(*pairs))
    return f"[RANGES {ranges} SLIDES {slides}]" if len(pairs) > 1 else f"[RANGE {ranges} SLIDE {slides}]"


def measured(
    connections: Connections,
    operation: str,
    pairs: Sequence[tuple[int, int]],
    rate: int,
    instants: int,
    items: int = 10,
) -> Line:
    """CPU time an event over full instants, each a batch, after the widest window has filled; and the state's bytes."""
    extent, finest = pairs[-1][0], pairs[0][1]
    few = [connections.instant(number, FEW, items) for number in range(0, extent, finest)]
    full = [connections.instant(extent + number, rate, items) for number in range(instants)]
    held: Any = windrow.Replay(SELECT[operation].format(window(pairs)), connections=full[0].slice(0, 0))
    told = held.step(pa.concat_tables(few))
    spent = 0.0
    for batch in full:
        started = time.process_time()
        told += held.step(batch)
        spent += time.process_time() - started
    check(operation, pairs, pa.concat_tables([*few, *full]), pa.concat_tables(told))
    size = held.blocks.bytes_held + len(held.shard.save())
    return {"us_per_event": spent / (rate * instants) * 1e6, "s_per_instant": spent / instants, "bytes": size}


def check(operation: str, pairs: Sequence[tuple[int, int]], events: pa.Table, told: pa.Table) -> None:
    """The last answer of each level is what numpy says of its events."""
    micros = events["ts"].cast(pa.int64()).to_numpy()
    y, items = events["duration"].to_numpy(), events["item"].to_numpy()
    ends = told["window_end"].cast(pa.int64()).to_numpy()
    levels = told["level"].to_numpy() if len(pairs) > 1 else np.zeros(len(ends), int)
    for level, (reach, _) in enumerate(pairs):
        assert (levels == level).any() or operation == "recurring", f"level {level} has not answered"
        end = ends[levels == level].max(initial=0)
        rows = told.filter(pa.array((levels == level) & (ends == end)))
        inside = (micros >= end - reach * SECOND) & (micros < end)
        if operation == "recurring":
            found, newer = None, end
            for own, _ in pairs[: level + 1]:
                seen = set(items[(micros >= end - own * SECOND) & (micros < newer)].tolist())
                found, newer = seen if found is None else found & seen, end - own * SECOND
            assert not len(rows) or sorted(rows["item"].to_pylist()) == sorted(found or ()), level
            continue
        x = micros[inside] / SECOND
        expected = y[inside].sum() if operation == "SUM" else np.polyfit(x - x.mean(), y[inside], 1)[0]
        assert np.isclose(rows["s"][0].as_py(), expected, rtol=1e-6, atol=1e-9), (operation, level)


def cases(size: Size) -> Iterator[Line]:
    """Figures 5 to 8, and what five levels hold beside the widest and the finest of them alone."""
    connections = Connections.read()
    rates = size.of((200, 500), (10_000, 100_000), (10_000, 50_000, 100_000, 500_000, 1_000_000))
    usual, instants = size.of(500, USUAL, USUAL), size.of(4, 8, 24)
    made = {"way": "SQL", "of": connections.source}
    for operation in SELECT:
        measured(connections, operation, PAIRS, 1_000, 4)  # compiled before anything is timed
        for rate in rates:
            line = measured(connections, operation, PAIRS, rate, instants if rate <= USUAL else 8)
            yield {"figure": "SQL 5", "operation": operation, "rate": rate} | made | line
        for count in range(2, 6) if operation == "recurring" else range(1, 6):
            line = measured(connections, operation, PAIRS[5 - count :], usual, instants)
            yield {"figure": "SQL 6", "operation": operation, "levels": count} | made | line
        for scale in size.of((1,), (1, 10), (1, 10, 100, 1_000)):
            pairs = [(reach * scale, slide * scale) for reach, slide in PAIRS]
            line = measured(connections, operation, pairs, usual, instants)
            yield {"figure": "SQL 7", "operation": operation, "extent": 40 * scale} | made | line
        for items in (5, 10) if operation == "recurring" else (1,):
            for count in range(2, 6) if operation == "recurring" else range(1, 6):
                line = measured(connections, operation, PAIRS[5 - count :], 1_000, 4, items)
                yield {"figure": "SQL 8", "operation": operation, "levels": count, "items": items} | made | line
        yield from held(connections, operation, size)


def held(connections: Connections, operation: str, size: Size) -> Iterator[Line]:
    """The bytes of five levels beside those of the widest alone and of the finest alone."""
    if operation == "recurring":
        return
    for name, pairs in {"figures": PAIRS, "an hour": PAPER[: size.of(3, 5, 5)]}.items():
        for way, chosen in (("five levels", pairs), ("widest", pairs[-1:]), ("finest", pairs[:1])):
            line = measured(connections, operation, chosen, 1_000, 4)
            yield {
                "figure": "SQL bytes",
                "operation": operation,
                "shape": name,
                "way": way,
                "of": connections.source,
            } | line
