"""Row expressions given as text, as operators over changes ask for them."""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa
from sqlglot import exp

from windrow.language import parse_expression
from windrow.local.expressions import evaluate


@lru_cache(maxsize=1024)
def _parsed(text: str) -> exp.Expr:
    return parse_expression(text)


def evaluate_text(text: str, batch: pa.RecordBatch) -> pa.Array:
    """The value of an expression for every row of `batch`.

    >>> evaluate_text("a + 1", pa.record_batch({"a": [1, None]})).to_pylist()
    [2, None]
    """
    value = evaluate(_parsed(text), batch)
    return value.combine_chunks() if isinstance(value, pa.ChunkedArray) else value
