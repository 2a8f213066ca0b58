"""One value out of several: CASE, IF, COALESCE, GREATEST and their kin."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import QueryError

from . import types
from .casts import coerce
from .columns import repeat, truths
from .compare import CONDITION, equal, less_sides
from .registry import ANY, function


def alike(name: str, arrays: list[pa.Array], *, texts: bool = True) -> list[pa.Array]:
    """The arrays in their common type.

    >>> [array.type for array in alike("coalesce", [pa.array([1]), pa.array(["x"])])]
    [DataType(string), DataType(string)]
    """
    common = types.common_type([array.type for array in arrays], texts=texts)
    if common is None:
        kinds = ", ".join(types.sql_name(array.type) for array in arrays)
        raise QueryError(f"the values of {name} have no common type: {kinds}")
    return [coerce(array, common) for array in arrays]


def choose(conditions: list[pa.Array], results: list[pa.Array], otherwise: pa.Array | None) -> pa.Array:
    """CASE WHEN ... THEN ... ELSE ... END."""
    chosen = otherwise if otherwise is not None else repeat(None, len(results[0]), types.VOID)
    *results, chosen = alike("CASE", [*results, chosen])
    for condition, result in zip(reversed(conditions), reversed(results), strict=True):
        chosen = pc.if_else(truths(CONDITION.take("CASE", condition)), result, chosen)
    return chosen


@function("if", takes=[CONDITION, ANY, ANY])
def choose_of_two(condition: pa.Array, result: pa.Array, otherwise: pa.Array) -> pa.Array:
    return choose([condition], [result], otherwise)


@function("nvl2", takes=[ANY, ANY, ANY])
def choose_by_presence(value: pa.Array, present: pa.Array, absent: pa.Array) -> pa.Array:
    return choose([value.is_valid()], [present], absent)


@function("coalesce", "nvl", "ifnull", takes=[ANY], variadic=True)
def first_present(*options: pa.Array) -> pa.Array:
    *earlier, chosen = alike("coalesce", list(options))
    for option in reversed(earlier):
        chosen = pc.if_else(option.is_valid(), option, chosen)
    return chosen


@function("nullif", takes=[ANY, ANY])
def null_if(value: pa.Array, unwanted: pa.Array) -> pa.Array:
    return pc.if_else(truths(equal(value, unwanted)), pa.scalar(None, value.type), value)


@function("greatest", takes=[ANY, ANY], variadic=True)
def greatest(*options: pa.Array) -> pa.Array:
    return _extreme("greatest", options, less_sides)


@function("least", takes=[ANY, ANY], variadic=True)
def least(*options: pa.Array) -> pa.Array:
    return _extreme("least", options, lambda best, option: less_sides(option, best))


def _extreme(name: str, options: Sequence[pa.Array], better: Callable[[pa.Array, pa.Array], pa.Array]) -> pa.Array:
    best, *others = alike(name, list(options), texts=False)
    if best.type == types.VOID:
        return best
    for option in others:
        taken = pc.or_(truths(better(best, option)), pc.and_(best.is_null(), option.is_valid()))
        best = pc.if_else(taken, option, best)
    return best
