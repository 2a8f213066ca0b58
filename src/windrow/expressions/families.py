"""The files that functions are in: each registers its own by being imported."""

from __future__ import annotations

from sqlglot import exp

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
from .calls import call_of
from .registry import REGISTRY

FAMILIES = (
    *(arithmetic, rounding, mathematics, bits, number_texts, compare, choose),
    *(texts, words, search, patterns, urls, digests, hashes),
    *(dates, months, units, instants, zones, read_patterns, write_times),
    *(arrays, array_order, maps, json_paths, json_read, json_write),
)
"""Numbers and logic, texts, times, and what is nested."""

_TIMES = {
    file.__name__ for file in (dates, months, units, instants, zones, read_patterns, write_times, json_read, json_write)
}


def is_of_times(call: exp.Expr) -> bool:
    """Whether a call may ask for the session's time zone though none of its arguments is a time.

    >>> import sqlglot
    >>> [is_of_times(sqlglot.parse_one(text, read="spark")) for text in ("to_date(x)", "upper(x)", "my_udf(x)")]
    [True, False, True]
    """
    function = REGISTRY.get(call_of(call)[0])
    return function is None or function.apply.__module__ in _TIMES
