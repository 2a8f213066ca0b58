"""Groups by keys of any type: NULL = NULL, NaN = NaN, -0.0 = 0.0, and nothing else is equal that is not the same."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples

from .compare import Case, check, like
from .judge import TIME
from .streams import streams

NANS = [math.nan, float(np.uint64(0xFFF8000000000001).view(np.float64))]
KEYS = {
    "text": (
        pa.string(),
        st.sampled_from(
            ["", " ", "a", "A", "a\x1f", "\x1fa", "\x1f", "\\", "\\s", "\\N", "\\\\N", "NULL", "é", "e\u0301"]
        )
        | st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=2),
    ),
    "real": (pa.float64(), st.sampled_from([0.0, -0.0, *NANS, math.inf, -math.inf, 1e-320, 0.1, 0.1 + 2**-56, 1e300])),
    "single": (pa.float32(), st.sampled_from([0.0, -0.0, math.nan, math.inf, 0.5, 1.0000001192092896])),
    "day": (pa.date32(), st.sampled_from([date(1, 1, 1), date(1969, 12, 31), date(2024, 2, 29)])),
    "instant": (
        TIME,
        st.sampled_from([datetime(1969, 12, 31, 23, tzinfo=UTC), datetime(2024, 1, 1, 0, 0, 0, 1, tzinfo=UTC)]),
    ),
    "money": (
        pa.decimal128(20, 3),
        st.sampled_from(list(map(Decimal, ["0.000", "-0.001", "0.001", "12345678901234567.891"]))),
    ),
    "flag": (pa.bool_(), st.booleans()),
    "raw": (pa.binary(), st.sampled_from([b"", b"\x00", b"\x1f", b"\\N", b"\xff\xfe"]) | st.binary(max_size=2)),
    "number": (pa.int64(), st.sampled_from([0, -1, 2**63 - 1, -(2**63)])),
    "tiny": (pa.int8(), st.integers(-2, 2)),
}
COLUMNS = {name: (type, st.none() | values) for name, (type, values) in KEYS.items()}
CASES = [like("COUNT(*)"), Case("SUM(v)", "sum(v)::BIGINT"), like("MAX(v)")]


def holding(names: tuple[str, ...]) -> dict:
    return {name: COLUMNS[name] for name in names} | {"v": (pa.int32(), st.integers(-9, 9))}


@pytest.mark.parametrize("name", KEYS)
@settings(max_examples=examples(7), deadline=None)
@given(data=st.data())
def test_a_key_of_any_type_groups_as_in_the_oracle(name, data):
    stream = data.draw(streams(holding((name,)), max_rows=25, holes=False))
    check(CASES, stream, (name,))


several_names = st.lists(st.sampled_from(list(KEYS)), min_size=2, max_size=4, unique=True).map(tuple)


@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_several_keys_are_equal_where_each_of_them_is(data):
    names = data.draw(several_names)
    stream = data.draw(streams(holding(names), max_rows=25, holes=False))
    check(CASES, stream, names)
