"""Compile what is compiled once on a machine: small queries that touch every compiled loop."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pyarrow as pa

from windrow.indexes.choose import STRUCTURES
from windrow.indexes.mapper import fold_range
from windrow.local.replay import replay
from windrow.runtime.keys import spread

KEYS = "whole numbers as keys"
METHODS = ("C_BIRCH(5)", "C_BIRCH(5, 2)", "K_MEANS(2)", "DENSITY_GRID(10, 1)", "DBSCAN(6, 1)", "EXTRA_N(6, 1)")
ASKED = (
    "COUNT(*), SUM(i), SUM(x), SUM(d), AVG(x), MIN(i), MAX(x), MIN(s), VAR_SAMP(x), FIRST(x), LAST(s), BOOL_AND(i > 0),"
    " MEDIAN(x), MODE(i), COUNT(DISTINCT i), COUNT(DISTINCT s), REGR_SLOPE(x, i), COLLECT_LIST(i)"
)
WINDOWS = (
    "[RANGE 9 SECONDS SLIDE 3 SECONDS]",
    "[ROWS 20 SLIDE 3]",
    "[PARTITION BY s ROWS 4 SLIDE 2]",
    "[RANGE UNBOUNDED SLIDE 5 SECONDS]",
)
CHANGES = (
    "SELECT DISTINCT i FROM a [RANGE 5 SECONDS] UNION SELECT i FROM b [RANGE 4 SECONDS]",
    "SELECT a.i, b.x FROM a [RANGE 5 SECONDS] LEFT JOIN b [RANGE 4 SECONDS] ON a.i = b.i AND a.x < b.x",
    "SELECT s, COUNT(*) AS n, SUM(i) AS t, AVG(x) AS m FROM a [RANGE 5 SECONDS] GROUP BY s",
    "SELECT a.s, SUM(b.x) AS t, MAX(b.x) AS m FROM a, b WHERE a.i = b.i GROUP BY a.s WINDOW 5 SECONDS",
    "SELECT i FROM a [RANGE 5 SECONDS SLIDE 1 SECOND] MINUS SELECT i FROM b [RANGE 5 SECONDS SLIDE 1 SECOND]",
)


def events(seed: int) -> pa.Table:
    random = np.random.default_rng(seed)
    rows = 300
    return pa.table(
        {
            "ts": pa.array(np.sort(random.integers(0, 60_000_000, rows)), pa.timestamp("us", tz="UTC")),
            "i": random.integers(0, 9, rows),
            "x": random.normal(0, 30, rows),
            "y": random.normal(0, 30, rows),
            "z": random.normal(0, 30, rows),
            "w": random.normal(0, 30, rows),
            "s": pa.array(np.array(["p", "q", None], object)[random.integers(0, 3, rows)], pa.string()),
            "d": pa.array(random.integers(0, 99, rows)).cast(pa.decimal128(21, 2)),
        }
    )


def texts() -> list[str]:
    points = ("x, y", "x, y, z", "x, y, z, w")
    clusters = [
        f"SELECT cid, CENTER(cid) AS c, AVG(z) AS m{', CONVEX_HULL(cid) AS h' if point == 'x, y' else ''} FROM a"
        f" [RANGE 9 SECONDS SLIDE 3 SECONDS] GROUP BY s CLUSTER BY {point} AS cid USING {method} EMIT CHANGES"
        for point in points
        for method in METHODS
    ]
    named = ", ".join(f"{part.strip()} AS a{i}" for i, part in enumerate(_split(ASKED)))
    return [*clusters, *(f"SELECT s, {named} FROM a {window} GROUP BY s" for window in WINDOWS), *CHANGES]


def _split(text: str) -> list[str]:
    """The parts between commas that stand in no parentheses."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def compile_loops() -> Iterator[float]:
    """Yields which part of all loops is compiled, as it grows."""
    asked = [KEYS, *STRUCTURES, *texts()]
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        for number, _ in enumerate(pool.map(_run, asked), start=1):
            yield number / len(asked)


def _run(text: str) -> None:
    if text == KEYS:
        spread([pa.array([1, None])], 2)
    elif text in STRUCTURES:
        _fill(text)
    else:
        replay(text, a=events(1), b=events(2), batch_rows=60, flush=True)


def _fill(name: str) -> None:
    """An index of either width of words, filled and asked."""
    for width in (np.uint32, np.uint64):
        index = STRUCTURES[name](width)
        words = np.random.default_rng(1).integers(0, 2**32, 4_000).astype(width)
        for at in range(0, len(words), 500):
            index.insert(words[at : at + 500], np.arange(500, dtype=np.uint32))
        index.last(words[:10])
        if index.ordered:
            fold_range(index.spans(0, 2**31))
