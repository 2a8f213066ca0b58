"""Nested windows: what an event costs by rate, levels and extent, from SQL and below it, what is held, and on Spark."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console

from .level_chain import PAIRS, PARTIALS, RATE, Line, measured
from .level_recurring import cases as recurring_cases
from .level_report import plot, report
from .level_slides import cases as slide_cases
from .level_spark import measure_spark
from .level_sql import cases as sql_cases
from .level_state import cases as state_cases
from .size import Size


def main(size: str = Size.FULL, json_path: Path | None = None, plot_path: Path | None = None) -> None:
    """Measure, print tables, and write one line a case to `json_path` and a picture to `plot_path`."""
    console, size = Console(), Size(size)
    console.print("  from SQL ...")
    found = []
    for line in sql_cases(size):
        console.print(f"    {line['figure']}, {line['operation']}: {line['us_per_event'] * 1e3:.1f} ns an event")
        found.append(line)
    console.print("  recurring items, by bits and by counts ...")
    found += recurring_cases(size)
    console.print("  slides of levels ...")
    found += slide_cases(size)
    console.print("  chains of five levels ...")
    found += cases(size)
    console.print("  five levels on Spark ...")
    found += measure_spark(size)
    console.print("  the state of one to five levels on Spark ...")
    found += state_cases(size)
    report(console, found)
    if json_path is not None:
        json_path.write_text("".join(json.dumps(line) + "\n" for line in found))
    if plot_path is not None:
        plot(found, plot_path)


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


def cases(size: Size) -> Iterator[Line]:
    """All that is measured."""
    instants, usual = size.of(4, 8, 24), size.of(500, RATE, RATE)
    rates = size.of((200, 500), (10_000, 100_000), (10_000, 50_000, 100_000, 500_000, 1_000_000))
    for operation in PARTIALS:
        measured(operation, [PAIRS], 1_000, 40, 4)  # compiled before anything is timed
        for rate in rates:
            line = measured(operation, [PAIRS], rate, 40, instants if rate <= RATE else 8)
            yield {"figure": 5, "operation": operation, "rate": rate} | line
        for count in range(1, 6):
            line = measured(operation, [PAIRS[5 - count :]], usual, 40, instants)
            yield {"figure": 6, "operation": operation, "levels": count} | line
        for scale in size.of((1,), (1, 10), (1, 10, 100, 1000)):
            for slides, each in ("scaled", scale), ("fine", 1):
                # bitmaps have 64 granules a level, and a chain of 10,000 granules takes long to fill
                if slides == "scaled" or (operation != "recurring" and scale <= 100):
                    pairs = [(reach * scale, slide * each) for reach, slide in PAIRS]
                    line = measured(operation, [pairs], usual, 40 * scale, instants)
                    yield {"figure": 7, "operation": operation, "extent": 40 * scale, "slides": slides} | line
        for items in (5, 10) if operation == "recurring" else (1,):
            for count in range(1, 6):
                line = measured(operation, [PAIRS[5 - count :]], 1_000, 40, 4, items)
                yield {"figure": 8, "operation": operation, "levels": count, "items": items} | line
        for line in compared(operation, PAIRS, usual, instants):
            yield {"figure": "ratios"} | line
