"""Arrays, maps and structs made of other values, and what is taken out of them by brackets and dots."""

from __future__ import annotations

from collections.abc import Callable, Container

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from windrow.errors import NotSupportedYet, QueryError

from . import types
from .arrays import element_from_one, element_from_zero, value_of_key
from .calls import as_written
from .choose import alike
from .columns import normal, only
from .lists import array_of, is_array, is_map
from .literals import is_constant
from .maps import map_of

Of = Callable[[exp.Expr], pa.Array]
_NULL_OF_NULL = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.And, exp.Or, exp.Not, exp.Upper, exp.Lower)


def find_name(name: str, names: list[str]) -> int | None:
    """The place of a name, in any case."""
    if name in names:
        return names.index(name)
    return next((place for place, known in enumerate(names) if known.lower() == name.lower()), None)


def never_null(node: exp.Expr, given: Container[str] = ()) -> bool:
    """Whether Spark knows, as it does of constants and of what is made of others, that this is never NULL.

    `given` are the variables of a lambda that never are; what is compared of them, or in other letters, is none either.
    """
    node = node.unnest()
    if isinstance(node, exp.Identifier):
        return node.name in given
    if isinstance(node, exp.Coalesce):
        return any(never_null(value, given) for value in node.iter_expressions())
    if isinstance(node, _NULL_OF_NULL):
        return all(never_null(value, given) for value in node.iter_expressions())
    return is_constant(node) or isinstance(node, exp.Array | exp.Struct | exp.VarMap | exp.Is)


def field_of(value: pa.Array, name: str) -> pa.Array:
    """The field of a struct, or the value that a map has for a text."""
    if is_map(value.type):
        return value_of_key(value, pa.repeat(name, len(value)))
    if not pa.types.is_struct(value.type):
        raise NotSupportedYet(f"replay does not take {name!r} out of {types.sql_name(value.type)}")
    fields = [field.name for field in value.type]
    place = find_name(name, fields)
    if place is None:
        raise QueryError(f"unknown field {name!r}", hint=f"known fields: {', '.join(fields)}")
    return normal(pc.struct_field(value, [place]))


def struct_form(node: exp.Struct, of: Of) -> pa.Array:
    """STRUCT(a AS x, b AS y); a field without a name of its own has been named when it was read."""
    columns = [of(field.expression) for field in node.expressions]
    fields = [
        pa.field(field.this.name, column.type, nullable=not never_null(field.expression))
        for field, column in zip(node.expressions, columns, strict=True)
    ]
    return pa.StructArray.from_arrays(columns, fields=fields)


def array_form(node: exp.Array, of: Of) -> pa.Array:
    """ARRAY(a, b): an array of that many elements in every row."""
    if not node.expressions:
        raise NotSupportedYet("replay does not evaluate an array of nothing")
    columns = alike("array", [of(element) for element in node.expressions])
    rows, width = len(columns[0]), len(columns)
    order = np.arange(rows * width).reshape(width, rows).T.ravel()
    offsets = np.arange(0, rows * width + 1, width, dtype=np.int32)
    kind = array_of(columns[0].type, nullable=not all(map(never_null, node.expressions)))
    return pa.ListArray.from_arrays(pa.array(offsets), pa.concat_arrays(columns).take(pa.array(order)), type=kind)


def map_form(node: exp.Expr, of: Of) -> pa.Array:
    """MAP('a', x, 'b', y): the keys are constants, since Spark refuses a map with one key twice."""
    _, arguments = as_written(node)
    keys, items = arguments[::2], arguments[1::2]
    if not keys or len(keys) != len(items) or not all(map(is_constant, keys)):
        raise NotSupportedYet("replay does not evaluate maps of keys that are no constants")
    key_columns, item_columns = alike("map", [of(key) for key in keys]), alike("map", [of(item) for item in items])
    if len({only(column) for column in key_columns}) < len(keys):
        raise QueryError("a map cannot have one key twice")
    item = pa.field("value", item_columns[0].type, nullable=not all(map(never_null, items)))
    return map_of(key_columns, item_columns, pa.map_(key_columns[0].type, item))


def bracket_form(node: exp.Bracket, of: Of) -> pa.Array:
    """value[place], value['name'], or ELEMENT_AT, which sqlglot reads as the same with another offset."""
    if len(node.expressions) != 1:
        raise NotSupportedYet(f"replay does not evaluate {node.sql('spark')}")
    value, key = of(node.this), node.expressions[0]
    if node.args.get("offset"):
        return element_from_one(value, of(key))
    if is_map(value.type):
        return value_of_key(value, of(key))
    if is_array(value.type):
        place = of(key)
        if not types.is_integral(place.type):
            raise NotSupportedYet(f"replay does not evaluate elements at {types.sql_name(place.type)}")
        return element_from_zero(value, place.cast(types.BIGINT))
    if not key.is_string:
        raise NotSupportedYet(f"replay does not take elements out of {types.sql_name(value.type)}")
    return field_of(value, key.name)
