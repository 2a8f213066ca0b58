"""GET_JSON_OBJECT and JSON_ARRAY_LENGTH: parts of JSON texts. Each distinct text is read once."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

from windrow.errors import NotSupportedYet

from . import types
from .columns import only, over_distinct
from .json_text import NoJsonError, Pairs, plain_text, read_json, written_json
from .registry import PATTERN, TEXT, function

_STEP = re.compile(r"\.(?P<name>[^.\[*'?]+)|\['(?P<quoted>[^'?*]+)'\]|\[(?P<place>[0-9]{1,9})\]")
Step = str | int


def steps_of(path: str) -> tuple[Step, ...]:
    """The names and places of a path.

    >>> steps_of("$.a['b c'][0]")
    ('a', 'b c', 0)
    >>> steps_of("$[*].a")
    Traceback (most recent call last):
    windrow.errors.NotSupportedYet: replay does not evaluate the JSON path '$[*].a': at '[*].a'
    """
    steps: list[Step] = []
    at = 1
    while at < len(path) or not path.startswith("$"):
        step = _STEP.match(path, at) if path.startswith("$") else None
        if step is None:
            raise NotSupportedYet(f"replay does not evaluate the JSON path {path!r}: at {path[at:]!r}")
        steps.append(int(step["place"]) if step["place"] else step["name"] or step["quoted"])
        at = step.end()
    return tuple(steps)


def _found(value: Any, steps: tuple[Step, ...]) -> str | None:
    """The part at the end of the steps as a text; of fields with one name, the first that has it."""
    if not steps:
        return plain_text(value) if isinstance(value, str) else written_json(value)
    step, *rest = steps
    if isinstance(step, str) and isinstance(value, Pairs):
        parts = (_found(item, tuple(rest)) for name, item in value if name == step and item is not None)
        return next((part for part in parts if part is not None), None)
    if isinstance(step, int) and isinstance(value, list) and not isinstance(value, Pairs) and step < len(value):
        return _found(value[step], tuple(rest))
    return None


@function("get_json_object", takes=[TEXT, PATTERN])
def get_json_object(text: pa.Array, path: pa.Array) -> pa.Array:
    steps = steps_of(only(path))

    def part(written: str) -> str | None:
        try:
            return _found(read_json(written)[0], steps)
        except NoJsonError:
            return None

    return over_distinct(part, text, types.STRING)


@function("json_array_length", takes=[TEXT])
def json_array_length(text: pa.Array) -> pa.Array:
    def length(written: str) -> int | None:
        try:
            value, _ = read_json(written)
        except NoJsonError:
            return None
        return len(value) if isinstance(value, list) and not isinstance(value, Pairs) else None

    return over_distinct(length, text, types.INT)
