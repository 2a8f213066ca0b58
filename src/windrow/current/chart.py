"""Lines to draw: the first number of an answer over the ends of the windows, a line for each of a few groups."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa

from windrow.current.kept import KeptAnswer
from windrow.current.shape import NEWEST_WINDOW

MOST_LINES, MOST_POINTS = 6, 200


def lines_of(kept: KeptAnswer) -> dict[str, Any] | None:
    """What can be drawn of the updates that are kept; None where they are no windows with a number, or just one.

    Of many groups those with the largest numbers in the newest window are drawn.
    """
    if kept.shape.kind != NEWEST_WINDOW or not kept.updates:
        return None
    value = next((field.name for field in kept.schema if _is_value(field, kept.shape.leading)), None)
    if value is None:
        return None
    fields = [field for field in kept.schema if field.name not in kept.shape.leading and field.name != value]
    keys = [field.name for field in fields if pa.types.is_string(field.type)][:1]
    lines: dict[str, dict[int, float]] = {}
    for update in list(kept.updates):
        rows = update.table
        ends = rows[kept.shape.time].cast(pa.timestamp("ms", tz="UTC"), safe=False).cast(pa.int64()).to_pylist()
        names = rows[keys[0]].to_pylist() if keys else [value] * rows.num_rows
        for end, name, number in zip(ends, names, rows[value].cast(pa.float64(), safe=False).to_pylist()):
            if number is not None and math.isfinite(number):
                lines.setdefault(str(name), {})[end] = number
    newest = max((end for points in lines.values() for end in points), default=0)
    busiest = sorted(lines, key=lambda name: (-lines[name].get(newest, -math.inf), name))[:MOST_LINES]
    drawn = [{"name": name, "points": sorted(lines[name].items())[-MOST_POINTS:]} for name in busiest]
    return {"value": value, "lines": drawn} if any(len(line["points"]) > 1 for line in drawn) else None


def _is_value(field: pa.Field, leading: tuple[str, ...]) -> bool:
    kind = field.type
    number = pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_integer(kind)
    return number and field.name not in leading
