"""Types of row expressions, asked of the engine, with the smallest wrong piece underlined."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from windrow.errors import NotSupportedYet, QueryError
from windrow.language import error_at, expression_sql, span_of
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.wrong_texts import refuse_wrong_texts

_NAMES = {"string": "STRING", "double": "DOUBLE", "float": "FLOAT", "bool": "BOOLEAN", "date32[day]": "DATE"}
_NAMES |= {"int8": "TINYINT", "int16": "SMALLINT", "int32": "INT", "int64": "BIGINT", "binary": "BINARY"}


def checked_type(node: exp.Expr, schema: pa.Schema, scope: Scope) -> pa.DataType:
    """The type of `node` over the columns of `schema`; an error underlines the smallest piece that is wrong."""
    try:
        return scope.catalog.engine.type_of(node, schema)
    except QueryError as error:
        for child in node.iter_expressions():
            if isinstance(child, exp.Condition) and not isinstance(child, exp.Identifier | exp.Var):
                checked_type(child, schema, scope)
        start, end = span_of(node) or (None, None)
        kind = NotSupportedYet if isinstance(error, NotSupportedYet) else QueryError
        raise kind(error.message, text=scope.text, at=start, end=end, hint=error.hint) from None


def checked_condition(node: exp.Expr, schema: pa.Schema, scope: Scope) -> str:
    """The canonical text of `node`, which must be true or false."""
    type = checked_type(node, schema, scope)
    if not pa.types.is_boolean(type):
        way_out = (
            f"compare it: {expression_sql(node)} <> 0" if not pa.types.is_string(type) else "compare it with a text"
        )
        raise error_at(node, f"a condition is needed here, and this is {type_name(type)}", scope.text, way_out)
    refuse_wrong_texts(node, schema, scope)
    return expression_sql(node)


def type_name(type: pa.DataType) -> str:
    """A type as it is written in SQL.

    >>> type_name(pa.int32()), type_name(pa.decimal128(10, 2)), type_name(pa.timestamp("us", tz="UTC"))
    ('INT', 'DECIMAL(10, 2)', 'TIMESTAMP')
    >>> type_name(pa.list_(pa.map_(pa.string(), pa.int64()))), type_name(pa.struct({"x": pa.bool_()}))
    ('ARRAY<MAP<STRING, BIGINT>>', 'STRUCT<x: BOOLEAN>')
    """
    if pa.types.is_list(type) or pa.types.is_large_list(type):
        return f"ARRAY<{type_name(type.value_type)}>"
    if pa.types.is_map(type):
        return f"MAP<{type_name(type.key_type)}, {type_name(type.item_type)}>"
    if pa.types.is_struct(type):
        return f"STRUCT<{', '.join(f'{field.name}: {type_name(field.type)}' for field in type)}>"
    if pa.types.is_timestamp(type):
        return "TIMESTAMP" if type.tz else "TIMESTAMP_NTZ"
    return _NAMES.get(str(type), str(type).upper().replace("DECIMAL128", "DECIMAL"))
