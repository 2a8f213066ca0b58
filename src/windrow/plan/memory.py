"""How much memory a shard may use: a size as people write it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from windrow.errors import SettingsError

DEFAULT_BYTES = 512_000_000
"""What a shard may keep in memory where nobody says."""

LEAST_BYTES = 2_000_000
"""Two blocks, as "2 MB" is written: the newest, which is written, and the oldest, which is read."""

UNITS = {"b": 1, "bytes": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
UNITS |= {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}


def read_memory(text: str | int) -> int:
    """The bytes that a text such as '256 MB' says; a number is bytes, and 256m is as Spark has it.

    >>> read_memory("256 MB"), read_memory("1.5 GB"), read_memory("64m")
    (256000000, 1500000000, 67108864)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", str(text))
    unit = UNITS.get((found[2] or "b").lower()) if found else None
    if found is None or unit is None:
        raise SettingsError(f"memory={text!r} is no size: write it as '256 MB' or '1 GB'")
    size = int(float(found[1]) * unit)
    if size < LEAST_BYTES:
        raise SettingsError(
            f"memory={text!r} is too little: a shard keeps at least two blocks of 1 MB, the oldest and the newest"
        )
    return size


def too_large(queries: Sequence[str], size: float, limit: int) -> str:
    """Why a query cannot run, and the way out, in one line."""
    return (
        f"the windows of {', '.join(queries)} hold {size_text(size)} in the memory of a shard, and the limit is"
        f" {size_text(limit)}: give shards more with Session(memory=...) or --set memory=..., cut state into more"
        " shards, shorten the window, or, for order statistics, take APPROX_QUANTILE or APPROX_COUNT_DISTINCT"
    )


def known_too_large(query: str, what: Sequence[str], size: float, limit: int) -> str:
    """Why a query is not started, and the way out, in one line."""
    return (
        f"the query {query!r} would hold at least {size_text(size)} in the memory of a shard, as its streams were"
        f" measured, and the limit is {size_text(limit)}: the index of {' and of '.join(what)}; give shards more with"
        " Session(memory=...) or --set memory=..., cut state into more shards, or shorten the window"
    )


def size_text(size: float) -> str:
    """A size as people write it.

    >>> size_text(8_121_600_000)
    '8.1 GB'
    """
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} bytes" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
