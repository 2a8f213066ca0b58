"""Row expressions without Spark, as whoever compiles queries asks for their types."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from .evaluate import type_of


class LocalEngine:
    """Row expressions as replay evaluates them, and tasks do above joins and groups."""

    def type_of(self, expression: exp.Expr, schema: pa.Schema) -> pa.DataType:
        return type_of(expression, schema)
