"""The files that functions are in: each registers its own by being imported."""

from __future__ import annotations

from . import (
    arithmetic,
    array_order,
    arrays,
    bits,
    choose,
    compare,
    dates,
    digests,
    hashes,
    instants,
    json_paths,
    json_read,
    json_write,
    maps,
    mathematics,
    months,
    number_texts,
    patterns,
    read_patterns,
    rounding,
    search,
    texts,
    units,
    urls,
    words,
    write_times,
    zones,
)

FAMILIES = (
    *(arithmetic, rounding, mathematics, bits, number_texts, compare, choose),
    *(texts, words, search, patterns, urls, digests, hashes),
    *(dates, months, units, instants, zones, read_patterns, write_times),
    *(arrays, array_order, maps, json_paths, json_read, json_write),
)
"""Numbers and logic, texts, times, and what is nested."""
