"""Nested windows: what an event costs by rate, levels and extent, and what is held (Figures 5 to 8 of the paper)."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from windrow.kernels import Kernel, Rows, identity, kernel_for, take
from windrow.plan.aggregates import Partial, aggregate
from windrow.plan.levels import Levels
from windrow.storage.blocks import MemoryBlocks
from windrow.windows.entries import Entries
from windrow.windows.recurring import RecurringItems
from windrow.windows.stairs import Stairs

PAIRS = [(4, 1), (8, 2), (16, 4), (24, 4), (40, 4)]
"""Five levels with a widest extent of 40 instants, as in Figures 5 and 6."""

RATE = 100_000
SECOND = 1_000_000
PAIR = pa.struct([("y", pa.float64()), ("x", pa.timestamp("us", "UTC"))])
PARTIALS = {
    "SUM": Partial("float_sum", "duration", pa.float64()),
    "regression": aggregate("REGR_SLOPE", "pair", PAIR).partial,
    "recurring": Partial("count"),
}
ANSWERS = {"SUM": "SUM", "regression": "REGR_SLOPE"}
POOL = 4
FEW = 11
Line = dict[str, Any]


@dataclass(frozen=True)
class Events:
    """What an instant brings: durations, times within it, and items."""

    durations: np.ndarray
    offsets_us: np.ndarray
    items: np.ndarray

    @classmethod
    def drawn(cls, rate: int, items: int, seed: int) -> Events:
        random = np.random.default_rng(seed)
        return cls(random.exponential(20.0, rate), random.integers(0, SECOND, rate), random.integers(0, items, rate))

    def rows(self, operation: str, instant: int) -> tuple[np.ndarray, Rows]:
        """The events as a kernel takes them, and each one's slot."""
        times = instant * SECOND + self.offsets_us
        if operation == "recurring":
            return self.items, Rows(None, times)
        values = pa.array(self.durations)
        if operation == "regression":
            values = pa.StructArray.from_arrays([values, pa.array(times).cast(PAIR.field(1).type)], fields=list(PAIR))
        return np.zeros(len(times), np.int64), Rows(values, times)


class Chain:
    """One operation over nested windows; `work` is what is measured."""

    def __init__(self, operation: str, pairs: Sequence[tuple[int, int]], items: int) -> None:
        self.operation, self.levels = operation, Levels.of([(reach * SECOND, slide * SECOND) for reach, slide in pairs])
        self.kernel: Kernel = kernel_for(PARTIALS[operation])
        self.width = items if operation == "recurring" else 1
        self.reports: dict[tuple[int, int], list] = {}
        self._finest = pairs[0][1]
        self._seen = np.zeros(self.width, bool)
        self._bitmaps = RecurringItems(self.levels) if operation == "recurring" else None
        self._stairs = Stairs(self.levels, {"p": self.kernel}, "bench", MemoryBlocks())

    def work(self, instant: int, codes: np.ndarray, rows: Rows) -> None:
        """Take in the events of an instant, and slide."""
        lifted = identity(self.kernel, self.width)
        self.kernel.lift(lifted, codes, rows)
        end = (instant + 1) * SECOND
        if self._bitmaps is not None:
            self._seen |= lifted["n"] > 0
            following = -(-end // (self._finest * SECOND)) * self._finest * SECOND
            if end == following or len(codes) < FEW:  # while it fills, only the first instant of a slide has events
                self._bitmaps.slide(following, np.flatnonzero(self._seen))
                self._seen[:] = False
            return
        slots = np.arange(self.width)
        pane = instant // self._finest * self._finest * SECOND
        self._stairs.add(Entries(np.full(self.width, pane), slots, (take(lifted, slots),)))
        self._stairs.advance(end, self.width, self._report)
        self._stairs.came, self._stairs.went = [], []

    def _report(self, level: int, end: int, fields: list) -> None:
        self.reports[level, end] = self.kernel.lower(
            fields[0], ANSWERS[self.operation], pa.float64()
        ).values.to_pylist()

    def recurring(self) -> list[int]:
        assert self._bitmaps is not None
        return self._bitmaps.recurring().tolist()

    @property
    def nbytes(self) -> int:
        if self._bitmaps is not None:
            return self._bitmaps.nbytes
        return sum(node.nbytes for _, node in self._stairs.nodes())


def measured(
    operation: str, chains: Sequence[Sequence[tuple[int, int]]], rate: int, filling: int, instants: int, items: int = 10
) -> Line:
    """CPU microseconds an event over `instants` full instants, after `filling` ones with few events a slide."""
    made = [Chain(operation, pairs, items) for pairs in chains]
    few = [Events.drawn(FEW - 1, items, seed) for seed in range(POOL)]
    many = [Events.drawn(rate, items, 100 + seed) for seed in range(POOL)]
    spent, none, finest = 0.0, Events.drawn(0, items, 0), min(pairs[0][1] for pairs in chains)
    brought = [few[i % POOL] if i % finest == 0 else none for i in range(filling)]
    brought += [many[i % POOL] for i in range(instants)]
    for instant, events in enumerate(brought):
        if events is none:
            continue
        given = [events.rows(operation, instant) for _ in made]
        started = time.process_time()
        for chain, (codes, rows) in zip(made, given):
            chain.work(instant, codes, rows)
        spent += time.process_time() - started if instant >= filling else 0.0
    check(made[0], brought)
    held = sum(chain.nbytes for chain in made)
    return {"us_per_event": spent / (rate * instants) * 1e6, "s_per_instant": spent / instants, "bytes": held}


def check(chain: Chain, events: Sequence[Events]) -> None:
    """The last answer of each level is what numpy says of its events; nothing that is wrong is told."""
    if chain.operation == "recurring":
        newer, found = len(events), None
        for window in chain.levels.windows:
            begin = len(events) - (window.range_us or 0) // SECOND
            seen = set(np.unique(np.concatenate([own.items for own in events[begin:newer]])).tolist())
            found, newer = seen if found is None else found & seen, begin
        if len(events) % (chain.levels.windows[-1].slide_us // SECOND) == 0:
            assert chain.recurring() == sorted(found or ())
        return
    for level, window in enumerate(chain.levels.windows):
        end = max(end for own, end in chain.reports if own == level)
        own = range(max(0, end // SECOND - (window.range_us or 0) // SECOND), end // SECOND)
        y = np.concatenate([events[i].durations for i in own])
        if chain.operation == "SUM":
            expected = y.sum()
        else:
            x = np.concatenate([i + events[i].offsets_us / SECOND for i in own])
            expected = np.polyfit(x - x.mean(), y, 1)[0]
        assert np.isclose(chain.reports[level, end][0], expected, rtol=1e-6), (chain.operation, level)


def compared(
    operation: str, pairs: Sequence[tuple[int, int]], rate: int, instants: int, items: int = 10
) -> Iterator[Line]:
    """All levels in one chain, the widest alone, and each by itself."""
    pairs = list(pairs)
    ways: dict[str, list[list[tuple[int, int]]]] = {"chain": [pairs], "widest": [[pairs[-1]]]}
    if operation != "recurring":
        ways["widest, finest slide"] = [[(pairs[-1][0], pairs[0][1])]]
    ways["separate"] = [[pair] for pair in pairs]
    for way, chains in ways.items():
        line = measured(operation, chains, rate, pairs[-1][0], instants, items)
        yield {"operation": operation, "way": way, "levels": len(pairs), "rate": rate, "extent": pairs[-1][0]} | line


def cases(quick: bool) -> Iterator[Line]:
    """All that is measured."""
    instants = 8 if quick else 24
    rates = (10_000, 100_000) if quick else (10_000, 50_000, 100_000, 500_000, 1_000_000)
    for operation in PARTIALS:
        measured(operation, [PAIRS], 1_000, 40, 4)  # compiled before anything is timed
        for rate in rates:
            line = measured(operation, [PAIRS], rate, 40, instants if rate <= RATE else 8)
            yield {"figure": 5, "operation": operation, "rate": rate} | line
        for count in range(1, 6):
            line = measured(operation, [PAIRS[5 - count :]], RATE, 40, instants)
            yield {"figure": 6, "operation": operation, "levels": count} | line
        for scale in (1, 10) if quick else (1, 10, 100, 1000):
            for slides, each in ("scaled", scale), ("fine", 1):
                # bitmaps have 64 granules a level, and a chain of 10,000 granules takes long to fill
                if slides == "scaled" or (operation != "recurring" and scale <= 100):
                    pairs = [(reach * scale, slide * each) for reach, slide in PAIRS]
                    line = measured(operation, [pairs], RATE, 40 * scale, instants)
                    yield {"figure": 7, "operation": operation, "extent": 40 * scale, "slides": slides} | line
        for items in (5, 10) if operation == "recurring" else (1,):
            for count in range(1, 6):
                line = measured(operation, [PAIRS[5 - count :]], 1_000, 40, 4, items)
                yield {"figure": 8, "operation": operation, "levels": count, "items": items} | line
        for line in compared(operation, PAIRS, RATE, instants):
            yield {"figure": "ratios"} | line


def run(quick: bool = False, json_path: Path | None = None, plot_path: Path | None = None) -> None:
    """Measure, print a table, and write one line a case to `json_path` and a picture to `plot_path`."""
    found = list(cases(quick))
    report(Console(), found)
    if json_path is not None:
        json_path.write_text("".join(json.dumps(line) + "\n" for line in found))
    if plot_path is not None:
        plot(found, plot_path)


def report(console: Console, found: Sequence[Line]) -> None:
    table = Table("figure", "operation", "case", "ns an event", "bytes held")
    for line in found:
        case = ", ".join(
            f"{name} {line[name]}" for name in ("way", "rate", "levels", "extent", "slides", "items") if name in line
        )
        table.add_row(
            str(line["figure"]), line["operation"], case, f"{line['us_per_event'] * 1e3:.2f}", f"{line['bytes']:,}"
        )
    console.print(table)
    for operation in PARTIALS:
        own = {line["way"]: line for line in found if line["figure"] == "ratios" and line["operation"] == operation}
        chain = own["chain"]
        told = [
            f"{chain[what] / line[what]:.2f} of {way} ({'time' if what == 'us_per_event' else 'bytes'})"
            for way, line in own.items()
            for what in ("us_per_event", "bytes")
            if way != "chain"
        ]
        console.print(f"{operation}: five levels in a chain cost {', '.join(told)}")


def plot(found: Sequence[Line], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 4, figsize=(18, 4))
    axis_of = {
        5: ("rate", "s_per_instant", "events an instant", "s an instant"),
        6: ("levels", "s_per_instant", "levels", "s an instant"),
    }
    axis_of |= {
        7: ("extent", "s_per_instant", "widest extent", "s an instant"),
        8: ("levels", "bytes", "levels", "bytes held"),
    }
    for place, (number, (x, y, x_label, y_label)) in zip(axes, axis_of.items()):
        series: dict[str, list[tuple[float, float]]] = {}
        for line in found:
            if line["figure"] == number:
                detail = line.get("slides") or (
                    f"{line['items']} items" if line["operation"] == "recurring" and "items" in line else ""
                )
                series.setdefault(f"{line['operation']} {detail}".strip(), []).append((line[x], line[y]))
        for name, points in series.items():
            place.plot(*zip(*points), marker="o", label=name)
        place.set(
            title=f"Figure {number}",
            xlabel=x_label,
            ylabel=y_label,
            ylim=(0, None),
            xscale="log" if number in (5, 7) else "linear",
        )
        place.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    run("--quick" in sys.argv)
