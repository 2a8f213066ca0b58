"""Row expressions given as text, as plans have them."""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa
from sqlglot import exp

from windrow.expressions.evaluate import evaluate
from windrow.expressions.session_zones import UTC
from windrow.language import parse_expression

KNOWN = 1 << 15
"""So many texts are parsed once: all of some thousand queries, which come by turns in each batch."""


@lru_cache(maxsize=KNOWN)
def _parsed(text: str) -> exp.Expr:
    return parse_expression(text)


def evaluate_text(text: str, rows: pa.RecordBatch | pa.Table, zone: str = UTC) -> pa.Array:
    """The value of an expression for every row, in a session of that time zone.

    >>> evaluate_text("a + 1", pa.record_batch({"a": [1, None]})).to_pylist()
    [2, None]
    """
    value = evaluate(_parsed(text), rows, zone)
    return value.combine_chunks() if isinstance(value, pa.ChunkedArray) else value
