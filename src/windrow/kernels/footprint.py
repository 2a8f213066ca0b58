"""How much memory partials take, those included that are objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache
from itertools import islice
from sys import getsizeof
from typing import Any

import numpy as np

from windrow.kernels.kernel import OBJECT, Fields

PLAIN = frozenset({type(None), bool, int, float, str, bytes, Decimal, date, datetime, timedelta})
SAMPLE = 16
"""Of the elements of a container so many are looked at: they are taken to be like the others."""

MOST = 16_384
"""Of a longer column so many objects are looked at, evenly spread."""

DEPTH = 6
"""So far it is followed what an object refers to."""

LOOKED_AT = 512
"""Of summaries, which take long to look at, so many are looked at, evenly spread."""

UNKNOWN = 512
"""What an object of a library is taken to have, of whose memory Python knows nothing."""


def bytes_of(fields: Fields) -> int:
    """What all partials in `fields` take.

    >>> bytes_of({"n": np.zeros(4, np.int64)})
    32
    """
    return sum(column.nbytes + (_inside(column) if column.dtype == OBJECT else 0) for column in fields.values())


def sizes_of(fields: Fields) -> np.ndarray | int:
    """What each of the partials in `fields` takes; one number where all take the same.

    >>> sizes_of({"n": np.zeros(4, np.int64), "x": np.zeros(4)})
    16
    """
    same = sum(column.itemsize for column in fields.values())
    objects = [column for column in fields.values() if column.dtype == OBJECT]
    return same + sum(np.fromiter(map(size_of, column), np.int64, len(column)) for column in objects)


def bytes_together(parts: Iterable[Fields]) -> int:
    """What partials take that have objects in common: each object once.

    >>> shared = np.empty(1, object)
    >>> shared[0] = np.zeros(500)
    >>> once, twice = bytes_together([{"x": shared}]), bytes_together([{"x": shared}, {"x": shared}])
    >>> once > 4000, twice - once
    (True, 8)
    """
    columns = [column for fields in parts for column in fields.values()]
    objects = {id(value): value for column in columns if column.dtype == OBJECT for value in column.tolist()}
    values = list(objects.values())
    seen = values[:: -(-len(values) // LOOKED_AT)] if values else []
    inside = len(values) * sum(map(size_of, seen)) // len(seen) if seen else 0
    return sum(column.nbytes for column in columns) + inside


def _inside(column: np.ndarray) -> int:
    """What the objects of a column take."""
    step = -(-len(column) // MOST)
    values = column[::step].tolist() if step else []
    size = getsizeof if PLAIN.issuperset(map(type, values)) else size_of
    return step * sum(map(size, values))


def size_of(value: Any, depth: int = DEPTH) -> int:
    """What an object takes with what it refers to."""
    if value is None or depth == 0:
        return 0
    if type(value) in PLAIN:
        return getsizeof(value)
    own = getattr(value, "nbytes", None)
    if own is not None:
        return int(own) + getsizeof(value)
    if isinstance(value, dict):
        return getsizeof(value) + sum(_like(part, len(value), depth) for part in (value.keys(), value.values()))
    if isinstance(value, list | tuple | set | frozenset):
        return getsizeof(value) + _like(value, len(value), depth)
    attributes = list(_attributes(value))
    if attributes:
        return getsizeof(value) + sum(size_of(attribute, depth - 1) for attribute in attributes)
    return max(UNKNOWN, getsizeof(value))


def _attributes(value: Any) -> Iterator[Any]:
    """What an object refers to, whether it has a dictionary or slots."""
    kind: type = type(value)
    yield from getattr(value, "__dict__", {}).values()
    yield from (getattr(value, name, None) for name in _slots(kind))


@cache
def _slots(kind: type) -> tuple[str, ...]:
    """The names of what objects of a class hold in slots, those of its bases included."""
    declared = [base.__dict__.get("__slots__", ()) for base in kind.__mro__]
    return tuple(name for slots in declared for name in ((slots,) if isinstance(slots, str) else slots))


def _like(values: Iterable[Any], count: int, depth: int) -> int:
    """What `count` values take, if they are like the first of them."""
    seen = [size_of(value, depth - 1) for value in islice(values, SAMPLE)]
    return count * sum(seen) // len(seen) if seen else 0
