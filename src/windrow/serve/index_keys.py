"""What a request asks of an index: columns of its key by their names, the ends of a range as `seg>=1&seg<=3`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from windrow.errors import AskError
from windrow.indexes.facts import IndexFacts
from windrow.indexes.published import Manifest
from windrow.plan.instants import shown_instant
from windrow.serve.values import shown_columns

LOW, HIGH = ">", "<"
"""How a name ends before the `=`: a request that says `seg>=1` gives the name `seg>` the value 1."""


def read_key(facts: IndexFacts, given: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The key that a request names, each column with its own type.

    >>> facts = IndexFacts("speeds", ("seg", "vid"), pa.schema({"seg": pa.int32(), "vid": pa.int64()}), 300, 60)
    >>> read_key(facts, [("seg", "5"), ("vid>", "7")])
    {'seg': 5, 'vid': (7, None)}
    >>> read_key(facts, [("seg", "5"), ("seg<", "7")])
    Traceback (most recent call last):
        ...
    windrow.errors.AskError: seg is said twice
    hint: a value, or the ends of one range
    """
    key: dict[str, Any] = {}
    said: set[str] = set()
    for told, text in given:
        name = told.rstrip(LOW + HIGH)
        if told in said or (name in key and name in (told, *said)):
            raise AskError(f"{name} is said twice\nhint: a value, or the ends of one range")
        said.add(told)
        value = _typed(facts, name, text)
        low, high = key.get(name, (None, None))
        key[name] = value if told == name else (value, high) if told.endswith(LOW) else (low, value)
    return key


def about_index(manifest: Manifest, facts: IndexFacts) -> dict[str, Any]:
    """What an index is of, and as of when."""
    clock = None if manifest.clock_us is None else shown_instant(manifest.clock_us).isoformat()
    return {
        "index": facts.name,
        "key": list(facts.keys),
        "columns": shown_columns(facts.rows),
        "range_us": facts.range_us,
        "slide_us": facts.slide_us,
        "batch": manifest.batch,
        "clock": clock,
        "entries": sum(run.rows for run in manifest.runs),
    }


def _typed(facts: IndexFacts, name: str, text: str) -> Any:
    if name not in facts.keys:
        return text  # whoever looks it up says that it is no part of the key
    kind = facts.schema.field(name).type
    try:
        return pa.array([text]).cast(kind)[0].as_py()
    except (pa.ArrowException, ValueError):
        raise AskError(f"{name} is {kind}, and {text!r} is no such value") from None
