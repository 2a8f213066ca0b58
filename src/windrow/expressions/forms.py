"""The syntax that is no call: columns, literals, CASE, CAST, IN, BETWEEN, LIKE and intervals."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from windrow.errors import NotSupportedYet, QueryError
from windrow.language.nodes import Constants

from . import types
from .casts import cast, coerce
from .choose import choose
from .columns import normal, repeat
from .compare import CONDITION, among, among_many, at_least, at_most, both, equal
from .intervals import is_interval, shift
from .literals import constant_columns, written_number
from .made_values import field_of, find_name
from .registry import call
from .search import like
from .session_zones import is_utc, refuse_mixed

Of = Callable[[exp.Expr], pa.Array]


def number_form(text: str, rows: int) -> pa.Array:
    value, kind = written_number(text)
    return repeat(value, rows, kind)


def column_form(node: exp.Column | exp.Identifier, table: pa.Table | pa.RecordBatch) -> pa.Array:
    """The column of that name; failing that, the field of a struct column that stands before the dot.

    >>> column_form(exp.column("PRICE", table="ticks"), pa.table({"price": [1.5]})).to_pylist()
    [1.5]
    """
    names = table.schema.names
    place = find_name(node.name, names)
    if place is not None:
        return normal(table.column(place))
    path = [part.name for part in node.parts] if isinstance(node, exp.Column) else []
    for depth, name in enumerate(path[:-1]):
        if (outer := find_name(name, names)) is not None and pa.types.is_struct(table.schema.field(outer).type):
            value = normal(table.column(outer))
            for field in path[depth + 1 :]:
                value = field_of(value, field)
            return value
    raise QueryError(f"unknown column {node.name!r}", hint=f"known columns: {', '.join(names)}")


def compared_in(zone: str, values: list[pa.Array]) -> list[pa.Array]:
    """The values; those that meet an instant in a comparison are instants of the session's zone."""
    if is_utc(zone) or all(value.type != types.TIMESTAMP for value in values):
        return values
    return [value if value.type == types.VOID else coerce(value, types.TIMESTAMP, zone) for value in values]


def case_form(node: exp.Case, of: Of, zone: str) -> pa.Array:
    conditions = [of(branch.this) for branch in node.args["ifs"]]
    if node.this is not None:
        subject = of(node.this)
        conditions = [equal(*compared_in(zone, [subject, candidate])) for candidate in conditions]
    default = node.args.get("default") and of(node.args["default"])
    values = [of(branch.args["true"]) for branch in node.args["ifs"]]
    refuse_mixed("case", [value.type for value in (*values, *([] if default is None else [default]))], zone)
    return choose(conditions, values, default)


def cast_form(node: exp.Cast, of: Of, zone: str) -> pa.Array:
    if node.args.get("format") is not None:
        raise NotSupportedYet("replay does not evaluate casts with a format")
    value, kind = of(node.this), types.written_type(node.to)
    lenient = value.type == types.STRING and not node.args.get("safe")  # as Spark reads numbers in texts without ANSI
    return coerce(value, kind, zone) if lenient else cast(value, kind, zone)


def between_form(node: exp.Between, of: Of, zone: str) -> pa.Array:
    if node.args.get("symmetric"):
        raise NotSupportedYet("replay does not evaluate BETWEEN SYMMETRIC")
    value = of(node.this)
    low, high = (compared_in(zone, [value, of(node.args[end])]) for end in ("low", "high"))
    return both(at_least(*low), at_most(*high))


def in_form(node: exp.In, of: Of, zone: str) -> pa.Array:
    if any(node.args.get(key) for key in ("query", "unnest", "field")) or not node.expressions:
        raise NotSupportedYet("replay does not evaluate IN of a sub-query")
    many = isinstance(node.expressions[0], Constants)
    value = of(node.this)
    candidates = constant_columns(node.expressions[0].args["this"]) if many else [of(one) for one in node.expressions]
    refuse_mixed("IN", [value.type, *(candidate.type for candidate in candidates)], zone)
    return among_many(value, candidates) if many else among(value, candidates)


def is_form(node: exp.Is, of: Of) -> pa.Array:
    value = of(node.this)
    if isinstance(node.expression, exp.Null):
        return value.is_null()
    if not isinstance(node.expression, exp.Boolean):
        raise NotSupportedYet(f"replay does not evaluate {node.sql('spark')}")
    return call("<=>", [CONDITION.take("IS", value), of(node.expression)])


def like_form(node: exp.Like | exp.ILike | exp.Escape, of: Of) -> pa.Array:
    escape = "\\"
    if isinstance(node, exp.Escape):
        escape, node = node.expression.name, node.this
    if isinstance(node.expression, exp.Any | exp.All) or len(escape) != 1:
        raise NotSupportedYet(f"replay does not evaluate {node.sql('spark')}")
    found = like(of(node.this), of(node.expression), escape, any_case=isinstance(node, exp.ILike))
    return pc.invert(found) if node.args.get("negate") else found


def interval_sum(node: exp.Add | exp.Sub, of: Of, zone: str) -> pa.Array | None:
    """A time plus or minus an interval; None for any other sum."""
    name = "+" if isinstance(node, exp.Add) else "-"
    if is_interval(node.right):
        return shift(name, of(node.left), node.right, zone)
    if is_interval(node.left) and name == "+":
        return shift(name, of(node.right), node.left, zone)
    return None
