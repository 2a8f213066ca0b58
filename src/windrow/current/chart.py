"""Lines to draw: a number of an answer over the ends of the windows, a line for each of a few groups."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa

from windrow.current.kept import KeptAnswer
from windrow.current.shape import NEWEST_WINDOW

MOST_LINES, MOST_POINTS, LEVEL = 6, 200, "level"


def lines_of(kept: KeptAnswer) -> dict[str, Any] | None:
    """What can be drawn of the updates that are kept; None where that would be no line, or several in one.

    The first number that is no integer is drawn, else the last one, since integers that come first are often keys.
    Rows are told apart by their texts and levels; of many groups those with the largest newest numbers are drawn.
    """
    if kept.shape.kind != NEWEST_WINDOW or not kept.updates:
        return None
    fields = [field for field in kept.schema if field.name not in kept.shape.leading]
    numbers = [field.name for field in fields if pa.types.is_floating(field.type) or pa.types.is_decimal(field.type)]
    integers = [field.name for field in fields if pa.types.is_integer(field.type)]
    if not numbers and not integers:
        return None
    value = numbers[0] if numbers else integers[-1]
    apart = [name for name in kept.shape.leading if name == LEVEL]
    apart += [field.name for field in fields if pa.types.is_string(field.type)]
    lines: dict[str, dict[int, float]] = {}
    for update in list(kept.updates):
        rows = update.table
        ends = rows[kept.shape.time].cast(pa.timestamp("ms", tz="UTC"), safe=False).cast(pa.int64()).to_pylist()
        groups = list(zip(*(rows[name].to_pylist() for name in apart))) if apart else [(value,)] * rows.num_rows
        if len({*zip(ends, groups)}) < rows.num_rows:
            return None  # something else tells them apart, too
        for end, group, number in zip(ends, groups, rows[value].cast(pa.float64(), safe=False).to_pylist()):
            if number is not None and math.isfinite(number):
                lines.setdefault(", ".join(map(str, group)), {})[end] = number
    newest = max((end for points in lines.values() for end in points), default=0)
    busiest = sorted(lines, key=lambda name: (-lines[name].get(newest, -math.inf), name))[:MOST_LINES]
    drawn = [{"name": name, "points": sorted(lines[name].items())[-MOST_POINTS:]} for name in busiest]
    return {"value": value, "lines": drawn} if any(len(line["points"]) > 1 for line in drawn) else None
