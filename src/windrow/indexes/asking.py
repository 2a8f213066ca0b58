"""What is asked of an index: a whole key, the first columns of one, or a range of the last of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import takewhile
from math import isinf
from numbers import Integral, Real
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import SettingsError
from windrow.indexes.facts import IndexFacts
from windrow.indexes.keys import BEHIND_NULL, WORD_BYTES, encode_keys, prefix_range


class KeyRange(NamedTuple):
    """Keys from `low` to `high`, as bytes, and as words; `high` stands for all that begins with it."""

    low: bytes
    high: bytes
    first: int
    last: int

    @classmethod
    def of(cls, low: bytes, high: bytes) -> KeyRange:
        return cls(low, high, *prefix_range(low, high))

    def holds(self, keys: pa.Array) -> pa.Array:
        """Which keys are in the range."""
        begins = pc.starts_with(keys, self.high) if self.high else pa.repeat(pa.scalar(True), len(keys))
        low, high = (pa.scalar(end, keys.type) for end in (self.low, self.high))
        return pc.and_(pc.greater_equal(keys, low), pc.or_(pc.less(keys, high), begins))

    @property
    def is_longer(self) -> bool:
        """Whether the range begins with more than a word: a key of no more than its first word is before it."""
        return len(self.low) > WORD_BYTES


def whole_key(facts: IndexFacts, given: Mapping[str, Any]) -> KeyRange:
    """The key that a look-up names; all its columns are needed."""
    _check_known(facts, given)
    missing = [name for name in facts.keys if name not in given]
    if missing:
        first = list(takewhile(lambda name: name in given, facts.keys))
        shown = ", ".join([repr(facts.name), *(f"{name}={given[name]!r}" for name in first)])
        rest = "" if len(first) == len(given) else ", and filter what is found"
        raise SettingsError(
            f"a look-up in {facts.name!r} needs its whole key, and {', '.join(missing)}"
            f" {'is' if len(missing) == 1 else 'are'} missing\nhint: if a range is meant, scan({shown}){rest}"
        )
    ranges = [name for name in facts.keys if isinstance(given[name], tuple)]
    if ranges:
        raise SettingsError(f"a look-up names one key, and {ranges[0]} is a range\nhint: scan({facts.name!r}, ...)")
    key = _encoded(facts, facts.keys, [given[name] for name in facts.keys])
    word, _ = prefix_range(key, key)
    return KeyRange(key, key, word, word)  # no whole key goes on as another one


def key_range(facts: IndexFacts, given: Mapping[str, Any]) -> KeyRange:
    """The keys that begin with what is given; the last of it may be a range, (low, high), both included, None for any.

    As in SQL, a range holds no NULL, which is asked for by itself.

    >>> facts = IndexFacts("speeds", ("seg", "vid"), pa.schema({"seg": pa.int64(), "vid": pa.int64()}), 300, 60)
    >>> key_range(facts, {"seg": 5}).low, key_range(facts, {"seg": (5, 7)}).high
    (b'\\x0e', b'\\x10')
    """
    _check_known(facts, given)
    names = facts.keys[: len(given)]
    missing = [name for name in names if name not in given]
    if missing:
        beyond = next(name for name in given if name not in names)
        raise SettingsError(
            f"{facts.name!r} is in order of {', '.join(facts.keys)}: {missing[0]} is missing before {beyond}"
            f"\nhint: name the first columns of the key, and filter what is found"
        )
    for name in names[:-1]:
        if isinstance(given[name], tuple):
            raise SettingsError(
                f"only the last column that is named may be a range, and {name} is not the last"
                f"\nhint: leave out those behind {name}, and filter what is found"
            )
    values = [given[name] for name in names]
    if not values or not isinstance(values[-1], tuple):
        prefix = _encoded(facts, names, values)
        return KeyRange.of(prefix, prefix)
    if len(values[-1]) != 2:
        raise SettingsError(f"{names[-1]}={values[-1]!r} is no range\nhint: {names[-1]}=(low, high), None for no end")
    prefix = _encoded(facts, names[:-1], values[:-1])
    least, most = values[-1]
    low = prefix + BEHIND_NULL if least is None else _encoded(facts, names, [*values[:-1], least])
    return KeyRange.of(low, prefix if most is None else _encoded(facts, names, [*values[:-1], most]))


def _check_known(facts: IndexFacts, given: Mapping[str, Any]) -> None:
    for name in given:
        if name not in facts.keys:
            what = "is in it, but not in its key" if name in facts.schema.names else "is no column of it"
            raise SettingsError(f"{name!r} {what}\nhint: the key of {facts.name!r} is {', '.join(facts.keys)}")


def _encoded(facts: IndexFacts, names: Sequence[str], values: Sequence[Any]) -> bytes:
    columns = [_column(facts, name, value) for name, value in zip(names, values)]
    return encode_keys(columns).bytes_of(0) if columns else b""


def _column(facts: IndexFacts, name: str, value: Any) -> pa.Array:
    kind = facts.schema.field(name).type
    try:
        if isinstance(value, bool) != pa.types.is_boolean(kind) and value is not None:
            raise pa.ArrowTypeError(value)
        found = pa.array([value], kind)
        if _is_another(value, found[0].as_py()):
            raise pa.ArrowTypeError(value)
        return found
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        wanted = ", ".join(f"{key} {facts.schema.field(key).type}" for key in facts.keys)
        raise SettingsError(
            f"{name} is {kind}, and {value!r} is no such value\nhint: the key of {facts.name!r} is {wanted}"
        ) from None


def _is_another(value: Any, found: Any) -> bool:
    """Whether Arrow has cut a value to what its type can hold: it finds 1 for 1.5, and a day for an hour of it."""
    if isinstance(value, Integral) and isinstance(found, date | time | timedelta):
        return True  # days or microseconds, who knows
    if isinstance(value, datetime):
        return not isinstance(found, datetime) and value.time() != time()
    if isinstance(found, float):
        return isinf(found) and not isinf(value)
    return isinstance(value, Real | Decimal) and not isinstance(value, Integral) and bool(found != value)
