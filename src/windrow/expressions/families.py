"""The files that functions are in: each registers its own by being imported."""

from __future__ import annotations

from . import (
    arithmetic,
    array_order,
    arrays,
    choose,
    compare,
    dates,
    instants,
    json_paths,
    json_write,
    maps,
    mathematics,
    patterns,
    read_patterns,
    rounding,
    search,
    texts,
    write_times,
)

FAMILIES = (
    *(arithmetic, rounding, mathematics, compare, choose),
    *(texts, search, patterns),
    *(dates, instants, read_patterns, write_times),
    *(arrays, array_order, maps, json_paths, json_write),
)
"""Numbers and logic, texts, times, and what is nested."""
