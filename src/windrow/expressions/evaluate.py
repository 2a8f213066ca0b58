"""Row expressions without Spark: a syntax tree and a table in, a column out, equal to what Spark gives.

Spark evaluates the row expressions of a running job. `windrow.replay` has no Spark, so it evaluates those of the
functions below itself and refuses any other, and so do tasks. ANSI mode is off, and what fails is NULL. Replay's time
zone is UTC; tasks have that of the session.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from sqlglot import exp

from windrow.errors import NotSupportedYet, QueryError
from windrow.language import deep

from . import forms, made_values
from .calls import call_of
from .casts import coerce
from .columns import normal, repeat
from .families import FAMILIES
from .lambdas import LAMBDAS, call_with_lambda, variables_of
from .literals import is_constant, literal_decimal, literal_number
from .registry import REGISTRY, call, unknown_function
from .session_zones import UTC
from .types import BOOLEAN, DATE, DOUBLE, INT, SMALLINT, STRING, TINYINT, VOID, is_decimal

_WORDS = {"and", "or", "not", "div"}
_NAMED_FORMS = {"cast", "try_cast", "date_part", "datepart", "extract", "pi", "e"}
_NAMED_FORMS |= {"array", "map", "struct", "named_struct"}
# Arithmetic and comparisons, in which a whole number beside a decimal counts with its own digits.
_COMPARISONS = {"=", "<>", "<", "<=", ">", ">=", "<=>", "equal_null"}
_BINARY = _COMPARISONS | {"+", "-", "*", "/", "%", "mod", "div", "pmod"}
_BINARY |= {"try_add", "try_subtract", "try_multiply", "try_divide", "try_mod"}
# DATE + INT is DATE_ADD by another name.
_DAYS_MOVED = {"+": "date_add", "-": "date_sub"}

assert FAMILIES  # they have registered what they have
_INNER = {"second_part"}
FUNCTIONS = frozenset(filter(str.isidentifier, REGISTRY)) - _WORDS - _INNER | _NAMED_FORMS | LAMBDAS.keys()
"""The names of all functions that replay evaluates."""


@deep
def evaluate(expression: exp.Expr, table: pa.Table | pa.RecordBatch, zone: str = UTC) -> pa.Array:
    """The value of `expression` for every row of `table`, in a session of that time zone.

    >>> import sqlglot
    >>> ticks = pa.table({"price": [1.5, None], "volume": pa.array([3, 4], pa.int32())})
    >>> evaluate(sqlglot.parse_one("ROUND(price * volume / 7, 2)", read="spark"), ticks).to_pylist()
    [0.64, None]
    >>> evaluate(sqlglot.parse_one("MY_FUNCTION(symbol)", read="spark"), ticks)
    Traceback (most recent call last):
    windrow.errors.NotSupportedYet: replay does not evaluate my_function
    hint: docs/functions_replay.md lists what it evaluates
    """
    if not table.num_rows:
        # Some types follow from the value of a literal, as ROUND's do, so there must be a row to show it.
        return evaluate(expression, _row_of_nulls(table.schema), zone).slice(0, 0)
    try:
        with np.errstate(all="ignore"):  # overflow and NaN are answers here
            return _Rows(table, zone).of(expression)
    except (pa.ArrowCapacityError, MemoryError):
        raise QueryError("the values of this are larger than memory can hold") from None
    except pa.ArrowNotImplementedError:  # a function that there is, over a type that Arrow has no loop for
        raise NotSupportedYet(f"replay does not evaluate {expression.sql('spark')} over values of this type") from None


def _row_of_nulls(schema: pa.Schema) -> pa.Table:
    if not len(schema):  # a table without columns has no rows either
        return pa.table({"": pa.nulls(1)})
    return pa.Table.from_arrays([pa.nulls(1, field.type) for field in schema], schema.names)


def type_of(expression: exp.Expr, schema: pa.Schema, zone: str = UTC) -> pa.DataType:
    """The type of `expression` over columns of `schema`, with the errors that `evaluate` would raise.

    >>> import sqlglot
    >>> type_of(sqlglot.parse_one("volume + 1.5", read="spark"), pa.schema({"volume": pa.int32()}))
    Decimal128Type(decimal128(12, 1))
    """
    return evaluate(expression, schema.empty_table(), zone).type


class _Rows:
    """The rows that expressions are evaluated over, and the time zone of the session."""

    def __init__(self, table: pa.Table | pa.RecordBatch, zone: str) -> None:
        self.table, self.zone = table, zone

    def of(self, node: exp.Expr) -> pa.Array:
        number = literal_number(node)
        if number is not None:
            return forms.number_form(number, self.table.num_rows)
        match node:
            case exp.Literal():
                return self._constant(node.name, STRING)
            case exp.RawString():
                return self._constant(node.name, STRING)
            case exp.Boolean():
                return self._constant(node.this, BOOLEAN)
            case exp.Null():
                return self._constant(None, VOID)
            case exp.Pi():
                return self._constant(np.pi, DOUBLE)
            case exp.Column() | exp.Identifier():  # which is a variable of a lambda
                return forms.column_form(node, self.table)
            case exp.Paren() | exp.Alias():
                return self.of(node.this)
            case exp.Dot():
                return made_values.field_of(self.of(node.this), node.name)
            case exp.Bracket():
                return made_values.bracket_form(node, self.of)
            case exp.Struct():
                return made_values.struct_form(node, self.of)
            case exp.Array():
                return made_values.array_form(node, self.of)
            case exp.VarMap():
                return made_values.map_form(node, self.of)
            case exp.Case():
                return forms.case_form(node, self.of, self.zone)
            case exp.Cast():
                return forms.cast_form(node, self.of, self.zone)
            case exp.Between():
                return forms.between_form(node, self.of, self.zone)
            case exp.In():
                return forms.in_form(node, self.of, self.zone)
            case exp.Is():
                return forms.is_form(node, self.of)
            case exp.Like() | exp.ILike() | exp.Escape():
                return forms.like_form(node, self.of)
            case exp.Add() | exp.Sub() if (shifted := forms.interval_sum(node, self.of, self.zone)) is not None:
                return shifted
            case exp.Star() | exp.AggFunc() | exp.Subquery() | exp.Window():
                raise NotSupportedYet(f"replay does not evaluate {node.sql('spark')} as a row expression")
        return self._call(node)

    def _call(self, node: exp.Expr) -> pa.Array:
        name, nodes = call_of(node)
        if name == "e" and not nodes:
            return self._constant(np.e, DOUBLE)
        if name in LAMBDAS or any(isinstance(argument, exp.Lambda) for argument in nodes):
            return call_with_lambda(name, nodes, self.of, self._each)
        if name not in REGISTRY:
            raise unknown_function(name)
        for place, argument in enumerate(nodes):
            if REGISTRY[name].constant(place) and not is_constant(argument):
                raise NotSupportedYet(f"replay does not evaluate {name} with {argument.sql('spark')}, only constants")
        arguments = [self.of(argument) for argument in nodes]
        if name in _BINARY and len(arguments) == 2:
            arguments = _fit_literals(nodes, arguments)
        if name in _DAYS_MOVED and arguments[0].type == DATE and arguments[1].type in (TINYINT, SMALLINT, INT):
            name = _DAYS_MOVED[name]
        if name in _COMPARISONS:
            arguments = forms.compared_in(self.zone, arguments)
        return call(name, arguments, self.zone)

    def _each(self, function: exp.Lambda, parents: np.ndarray, given: list[pa.Array]) -> pa.Array:
        """What a lambda gives for its variables, beside the columns of the rows that the calls are made for."""
        if not len(parents):  # as above, there must be a row
            return self._each(function, np.zeros(1, np.int64), [pa.nulls(1, one.type) for one in given]).slice(0, 0)
        rows = dict(zip(variables_of(function, len(given)), given))
        hidden = {name.lower() for name in rows}
        named = {node.name.lower() for node in function.this.find_all(exp.Identifier)} - hidden
        beside = [name for name in self.table.schema.names if name.lower() in named]
        rows |= {name: normal(self.table.column(name)).take(pa.array(parents)) for name in beside}
        return _Rows(pa.table(rows), self.zone).of(function.this)

    def _constant(self, value: object, kind: pa.DataType) -> pa.Array:
        return repeat(value, self.table.num_rows, kind)


def _fit_literals(nodes: list[exp.Expr], arguments: list[pa.Array]) -> list[pa.Array]:
    fitted = list(arguments)
    for place, other in ((0, 1), (1, 0)):
        kind = literal_decimal(nodes[place])
        if kind is not None and is_decimal(arguments[other].type) and not is_decimal(arguments[place].type):
            fitted[place] = coerce(arguments[place], kind)
    return fitted
