"""What is asked of an index, and what is refused: keys that lack columns, and values that a column cannot hold."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from windrow.errors import SettingsError
from windrow.indexes.asking import key_range, whole_key
from windrow.indexes.facts import IndexFacts

COLUMNS = {
    "way": pa.int32(), "mile": pa.float64(), "toll": pa.decimal128(9, 2), "day": pa.date32(), "rate": pa.float32(),
    "at": pa.timestamp("us", tz="UTC"), "name": pa.string(), "took": pa.duration("us"), "clock": pa.time64("us"),
}  # fmt: skip


def facts_of(*keys: str) -> IndexFacts:
    return IndexFacts("tolls", keys, pa.schema({key: COLUMNS[key] for key in keys}), 300, 60)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("way", 1.5), ("way", np.float32(1.5)), ("way", Decimal("1.5")), ("way", float("nan")), ("way", 2**31),
        ("way", True), ("way", "1"), ("rate", 1e300), ("day", datetime(2024, 1, 31, 5)), ("at", 1.7), ("name", 7),
        ("toll", Decimal("1.234")), ("at", 5), ("day", 5), ("took", 5), ("clock", 5),
    ],
)  # fmt: skip
def test_a_value_that_its_column_cannot_hold_is_refused_and_never_cut(column: str, value: Any):
    for ask in (whole_key, key_range):
        with pytest.raises(SettingsError, match=f"{column} is .* is no such value"):
            ask(facts_of(column), {column: value})
    with pytest.raises(SettingsError, match="is no such value"):
        key_range(facts_of(column), {column: (value, None)})


@pytest.mark.parametrize(
    ("column", "value", "same"),
    [
        ("way", 1.0, 1), ("way", np.int64(1), 1), ("mile", 1, 1.0), ("toll", Decimal("1.5"), Decimal("1.50")),
        ("day", datetime(2024, 1, 31), date(2024, 1, 31)), ("rate", 0.1, np.float32(0.1)), ("name", "x", "x"),
        ("rate", float("inf"), float("inf")), ("way", None, None),
    ],
)  # fmt: skip
def test_equal_values_are_one_key(column: str, value: Any, same: Any):
    facts = facts_of(column)
    assert whole_key(facts, {column: value}) == whole_key(facts, {column: same})


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (
            {"way": 1, "name": "x"},
            r"and mile is missing\nhint: if a range is meant, scan\('tolls', way=1\), and filter",
        ),
        ({"way": 1}, r"and mile, name are missing\nhint: if a range is meant, scan\('tolls', way=1\)$"),
        ({"name": "x"}, r"and way, mile are missing\nhint: if a range is meant, scan\('tolls'\), and filter"),
        ({}, r"and way, mile, name are missing\nhint: if a range is meant, scan\('tolls'\)$"),
    ],
)
def test_a_look_up_without_its_whole_key_is_told_which_scan_it_means(given: dict[str, Any], why: str):
    facts = facts_of("way", "mile", "name")
    with pytest.raises(SettingsError, match=why):
        whole_key(facts, given)
