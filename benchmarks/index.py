"""Window indexes: insertion, look-ups, ranges, memory and dropping, for all structures (Figures 4 to 13 of Paper I)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from lab.expiring_tree import ExpiringTree
from rich.console import Console
from rich.table import Table

from windrow.indexes.choose import DEFAULT, STRUCTURES
from windrow.indexes.mapper import fold_range
from windrow.indexes.ring import WindowIndex
from windrow.indexes.structure import Structure

from .index_figures import LRB, RANDOM, figure_tables, plot_figures
from .linear_road import packed_keys, reports
from .size import Size

LOOK_UPS, BATCH, INSERTED, REPEATS = 50_000, 500_000, 50_000, 5
"""Insertion is timed over the last half million keys, which come as events do, in batches."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One structure at one size: nanoseconds for each key, look-up and entry of a range, and bytes for each entry."""

    keys: str
    structure: str
    size: int
    insert_ns: float
    find_ns: float
    range_ns: float | None
    bytes: float
    q2_us: float | None = None


@dataclass(frozen=True, slots=True)
class Dropped:
    """Figure 13: microseconds until a pane is gone."""

    structure: str
    size: int
    drop_us: float
    free_us: float
    delete_us: float


def main(size: str = Size.FULL, json_path: Path | None = None, plot_path: Path | None = None) -> None:
    """Measure, print tables, and write one line a case to `json_path` and a picture to `plot_path`."""
    console, size = Console(), Size(size)
    found = list(measure_all(size, console))
    dropped = list(measure_drops(size))
    report(console, found, dropped)
    if json_path is not None:
        lines: list[dict[str, Any]] = [asdict(line) for line in (*found, *dropped)]
        json_path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    if plot_path is not None:
        plot_figures(found, dropped, plot_path)


def measure_all(size: Size, console: Console) -> Iterator[Measurement]:
    """Figures 4 to 12: every structure over both kinds of keys, in steps."""
    most, steps = size.of(20_000, 2_000_000, 16_000_000), size.of(2, 4, 8)
    for kind in (LRB, RANDOM):
        words = keys_of(kind, most)
        values = np.arange(len(words), dtype=np.uint32) % 101
        for name, make in STRUCTURES.items():
            console.print(f"  {len(words):,} {kind} keys in a {name} ...")
            warm, index = make(np.uint32), make(np.uint32)
            for at in (0, 1000):  # compiled before it is timed
                warm.insert(words[at : at + 1000], values[at : at + 1000])
            for step in range(1, steps + 1):
                begin, end = len(words) * (step - 1) // steps, len(words) * step // steps
                last = max(begin, end - BATCH)
                index_all(index, words[begin:last], values[begin:last])
                took = index_all(index, words[last:end], values[last:end])
                yield measure(kind, name, index, words[:end], values[:end], took / (end - last))


def keys_of(kind: str, count: int) -> np.ndarray:
    """So many keys: drawn at random, or of sixteen expressways, as vehicles report; of equal ones the first."""
    random = np.random.default_rng(5)
    if kind == RANDOM:
        return random.integers(0, 2**32, count, dtype=np.uint32)
    parts: list[np.ndarray] = []
    have, enough, found = 0, count, np.empty(0, np.uint32)
    for second in reports(16, 10_000, max(0.6, count / 1_000_000), seed=2):
        own = random.permutation(packed_keys(second))
        parts.append(own)
        have += len(own)
        if have >= enough:
            whole = np.concatenate(parts)
            found = whole[np.sort(np.unique(whole, return_index=True)[1])]
            if len(found) >= count:
                break
            enough = have + max(count // 4, count - len(found))
    return found[:count]


def index_all(index: Structure, words: np.ndarray, values: np.ndarray) -> float:
    """Insert in batches; nanoseconds of CPU that it took, since other work on the machine is none of it."""
    began = time.process_time_ns()
    for at in range(0, len(words), INSERTED):
        index.insert(words[at : at + INSERTED], values[at : at + INSERTED])
    return float(time.process_time_ns() - began)


def measure(
    kind: str, name: str, index: Structure, words: np.ndarray, values: np.ndarray, insert_ns: float
) -> Measurement:
    """What is asked of an index of this size; its answers are checked before anything is timed."""
    random = np.random.default_rng(len(words))
    asked = words[random.integers(0, len(words), LOOK_UPS)]
    ordered = np.sort(words)
    low, high = (int(ordered[len(words) * tenth // 10]) for tenth in (4, 5))
    check(index, words, values, asked[:200], low, high)
    find = best(lambda: index.last(asked)) / LOOK_UPS
    if not index.ordered:
        return Measurement(kind, name, len(words), insert_ns, find, None, index.nbytes / len(words))
    entries = fold_range(index.spans(low, high))[0]
    walked = best(lambda: fold_range(index.spans(low, high))) / entries
    prefixes = [int(word) & ~0xFFFFF for word in asked[:100]]
    q2 = best(lambda: [fold_range(index.spans(prefix, prefix | 0xFFFFF)) for prefix in prefixes]) / 100 / 1000
    return Measurement(kind, name, len(words), insert_ns, find, walked, index.nbytes / len(words), q2)


def check(index: Structure, words: np.ndarray, values: np.ndarray, asked: np.ndarray, low: int, high: int) -> None:
    """The same answers as a pass over all entries."""
    chosen = np.isin(words, asked)
    last = dict(zip(words[chosen].tolist(), values[chosen].tolist()))
    assert index.last(asked).tolist() == [last[word] for word in asked.tolist()]
    if index.ordered:
        within = values[(words >= low) & (words <= high)]
        assert fold_range(index.spans(low, high)) == (len(within), within.sum(), within.min(), within.max())


def measure_drops(size: Size) -> Iterator[Dropped]:
    """Figure 13: a pane of a ring dropped, beside its entries deleted one by one from one tree on time and key."""
    warm = ExpiringTree(60)  # compiled before it is timed
    warm.insert(np.zeros(1000, np.int64), np.arange(1000, dtype=np.uint32), np.zeros(1000, np.uint32))
    warm.expire(0)
    for count in size.of((10_000,), (250_000, 500_000), (500_000, 1_000_000, 2_000_000, 4_000_000)):
        words = keys_of(LRB, count)
        values = np.zeros(len(words), np.uint32)
        tree = ExpiringTree(60)
        for pane in range(2):
            tree.insert(np.full(len(words), 60 * pane), words, values)
        began = time.process_time_ns()
        gone = tree.expire(0)
        deleted = (time.process_time_ns() - began) / 1000
        assert gone == len(words) == len(tree), "an index that expires entry by entry"
        for name in STRUCTURES:
            took, freed = [], []
            for _ in range(1 if size is Size.TINY else REPEATS):
                index = WindowIndex(60, 60, name)
                index.insert(np.zeros(len(words), np.int64), words, values)
                began = time.process_time_ns()
                panes = index.tumble(120)
                ended = time.process_time_ns()
                index.ring.free()  # as the next pane does that begins
                took.append((ended - began) / 1000)
                freed.append((time.process_time_ns() - ended) / 1000)
                assert panes == 1 and not len(index)
            yield Dropped(name, len(words), min(took), min(freed), deleted)


def best(run: Callable[[], object]) -> float:
    """Nanoseconds of the fastest of some runs, after one that is not counted."""
    run()
    took = []
    for _ in range(REPEATS):
        began = time.process_time_ns()
        run()
        took.append(time.process_time_ns() - began)
    return float(min(took))


def report(console: Console, found: list[Measurement], dropped: list[Dropped]) -> None:
    """What each structure does at its largest size, and what dropping saves."""
    for kind in (LRB, RANDOM):
        most = max(line.size for line in found if line.keys == kind)
        table = Table(title=f"{kind} keys, {most:,}")
        columns = ("structure", "million inserts/s", "million look-ups/s", "million entries/s", "bytes/entry", "Q2 us")
        for column in columns:
            table.add_column(column, justify="right")
        for line in found:
            if line.keys == kind and line.size == most:
                walked = "-" if line.range_ns is None else f"{1000 / line.range_ns:,.0f}"
                q2 = "-" if line.q2_us is None else f"{line.q2_us:,.1f}"
                rates = (f"{1000 / line.insert_ns:.2f}", f"{1000 / line.find_ns:.2f}", walked, f"{line.bytes:.1f}", q2)
                table.add_row(line.structure, *rates)
        console.print(table)
    table = Table(title="dropping a pane, and deleting its keys")
    for column in ("structure", "keys", "drop us", "free us", "delete us", "times cheaper"):
        table.add_column(column, justify="right")
    for each in dropped:
        times = f"{each.delete_us / each.drop_us:,.0f}"
        rates = (f"{each.drop_us:.1f}", f"{each.free_us:,.1f}", f"{each.delete_us:,.0f}", times)
        table.add_row(each.structure, f"{each.size:,}", *rates)
    console.print(table)
    console.print(f"The default is {DEFAULT}. As Markdown:\n")
    for text in figure_tables(found, dropped):
        print(text)
