"""Types of row expressions, asked of the engine, with the smallest wrong piece underlined."""

from __future__ import annotations

import difflib

import pyarrow as pa
from sqlglot import exp

from windrow.errors import NotSupportedYet, QueryError
from windrow.language import error_at, span_of
from windrow.plan.catalog import Engine


def checked_type(node: exp.Expr, engine: Engine, schema: pa.Schema, text: str) -> pa.DataType:
    """The type of `node` over the columns of `schema`; an error underlines the smallest piece that is wrong."""
    for column in node.find_all(exp.Column):
        known_column(column, schema, text)
    try:
        return engine.type_of(node, schema)
    except QueryError as error:
        for child in node.iter_expressions():
            if isinstance(child, exp.Func | exp.Binary | exp.Unary | exp.Paren | exp.Cast | exp.Condition):
                checked_type(child, engine, schema, text)
        start, end = span_of(node) or (None, None)
        kind = type(error) if isinstance(error, NotSupportedYet) else QueryError
        raise kind(error.message, text=text, at=start, end=end, hint=error.hint) from None


def known_column(column: exp.Column, schema: pa.Schema, text: str) -> str:
    """The name of a column as its stream spells it."""
    wanted = [part.name for part in column.parts]
    spelt = {name.lower(): name for name in schema.names}
    for name in (wanted[0], wanted[-1]):  # a.b is column b of stream a, or field b of column a
        if name.lower() in spelt:
            return spelt[name.lower()]
    close = difflib.get_close_matches(wanted[-1].lower(), spelt, n=1)
    hint = f"did you mean {spelt[close[0]]}?" if close else f"known columns: {', '.join(schema.names)}"
    raise error_at(column, f"unknown column {wanted[-1]!r}", text, hint)
