"""Functions that take functions: TRANSFORM, FILTER, EXISTS, FORALL, AGGREGATE, ZIP_WITH, and those over maps.

The body of a lambda is evaluated once for the elements of all rows, as an expression over columns: its variables, and
those columns of the rows that it names.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from windrow.errors import NotSupportedYet, QueryError

from . import types
from .columns import column, missing, truths, values
from .compare import CONDITION
from .lists import ARRAY, MAP, any_of, array_of, arrays_of, elements_of, entries_of, lengths_of
from .made_values import never_null

Of = Callable[[exp.Expr], pa.Array]
Each = Callable[[exp.Lambda, np.ndarray, list[pa.Array]], pa.Array]
"""What a lambda gives for its variables: the second says which row each of the calls is made for."""


def variables_of(function: exp.Lambda, most: int) -> list[str]:
    """The names of a lambda's variables, of which there may be so many."""
    names = [variable.name for variable in function.expressions]
    if not 0 < len(names) <= most:
        wanted = "one variable" if most == 1 else f"at most {most} variables"
        raise QueryError(f"a lambda takes {wanted} here, not {len(names)}: {function.sql('spark')}")
    return names


def is_there(function: exp.Lambda, *nullable: bool) -> bool:
    """Whether a lambda never gives NULL, if each of its variables may be NULL or not as said."""
    given = {variable.name for variable, may in zip(function.expressions, nullable) if not may}
    return never_null(function.this, given)


def _function(name: str, node: exp.Expr) -> exp.Lambda:
    if not isinstance(node, exp.Lambda):
        raise QueryError(f"{name} takes a function", hint=f"{name}(..., x -> ...)")
    return node


def _transform(nodes: list[exp.Expr], of: Of, each: Each) -> pa.Array:
    arrays, function = ARRAY.take("transform", of(nodes[0])), _function("transform", nodes[1])
    held = elements_of(arrays)
    made = each(function, held.parents, [held.values, _places(held.places())])
    kind = array_of(made.type, nullable=not is_there(function, arrays.type.value_field.nullable, False))
    return arrays_of(made, held.lengths, held.absent, kind)


def _filter(nodes: list[exp.Expr], of: Of, each: Each) -> pa.Array:
    arrays, function = ARRAY.take("filter", of(nodes[0])), _function("filter", nodes[1])
    held = elements_of(arrays)
    kept = truths(_condition("filter", each(function, held.parents, [held.values, _places(held.places())])))
    lengths = np.bincount(held.parents[values(kept)], minlength=len(arrays))
    return arrays_of(held.values.filter(kept), lengths, held.absent, arrays.type)


def _exists(nodes: list[exp.Expr], of: Of, each: Each) -> pa.Array:
    return _any("exists", nodes, of, each, wanted=True)


def _for_all(nodes: list[exp.Expr], of: Of, each: Each) -> pa.Array:
    """That none is false."""
    return pc.invert(_any("forall", nodes, of, each, wanted=False))


def _any(name: str, nodes: list[exp.Expr], of: Of, each: Each, *, wanted: bool) -> pa.Array:
    """Whether the condition is `wanted` for an element; NULL where it is for none, and unknown for one."""
    held = elements_of(ARRAY.take(name, of(nodes[0])))
    found = _condition(name, each(_function(name, nodes[1]), held.parents, [held.values]))
    hit = any_of(held, (values(found) == wanted) & ~missing(found))
    return column(hit, held.absent | (~hit & any_of(held, missing(found))), types.BOOLEAN)


def _aggregate(nodes: list[exp.Expr], of: Of, each: Each) -> pa.Array:
    """One step for each place: the first elements of all rows, the second ones, and so on."""
    held, total = elements_of(ARRAY.take("aggregate", of(nodes[0]))), _nullable(of(nodes[1]))
    merge, rows = _function("aggregate", nodes[2]), len(total)
    for place in range(max(int(held.lengths.max()), 1)):
        reached = np.flatnonzero(held.lengths > place)
        element = held.values.take(pa.array(held.first[reached] + place))
        merged = _nullable(each(merge, reached, [total.take(pa.array(reached)), element]))
        if merged.type != total.type:
            kinds = f"{types.sql_name(total.type)} and gives {types.sql_name(merged.type)}"
            raise QueryError(f"{merge.sql('spark')} takes {kinds}", hint="CAST the value that aggregate begins with")
        newest = np.arange(rows)
        newest[reached] = rows + np.arange(len(reached))
        total = pa.concat_arrays([total, merged]).take(pa.array(newest))
    if len(nodes) > 3:
        total = each(_function("aggregate", nodes[3]), np.arange(rows), [total])
    return pc.if_else(pa.array(held.absent), pa.scalar(None, total.type), total)


def _zip_with(nodes: list[exp.Expr], of: Of, each: Each) -> pa.Array:
    """The elements of two arrays side by side; the shorter one goes on with NULLs."""
    left, right = (elements_of(ARRAY.take("zip_with", of(node))) for node in nodes[:2])
    function, absent = _function("zip_with", nodes[2]), left.absent | right.absent
    lengths = np.where(absent, 0, np.maximum(left.lengths, right.lengths))
    parents = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(len(parents)) - (np.cumsum(lengths) - lengths)[parents]
    sides = []
    for side in (left, right):
        short = place >= side.lengths[parents]
        sides.append(side.values.take(pa.array(np.where(short, 0, side.first[parents] + place), mask=short)))
    made = each(function, parents, sides)
    return arrays_of(made, lengths, absent, array_of(made.type, nullable=not is_there(function, True, True)))


def _map_filter(nodes: list[exp.Expr], of: Of, each: Each) -> pa.Array:
    maps, function = MAP.take("map_filter", of(nodes[0])), _function("map_filter", nodes[1])
    (keys, items), parents = entries_of(maps), _parents(maps)
    kept = truths(_condition("map_filter", each(function, parents, [keys, items])))
    lengths = np.bincount(parents[values(kept)], minlength=len(maps))
    return _maps_of(keys.filter(kept), items.filter(kept), lengths, maps, maps.type)


def _transform_values(nodes: list[exp.Expr], of: Of, each: Each) -> pa.Array:
    maps, function = MAP.take("transform_values", of(nodes[0])), _function("transform_values", nodes[1])
    keys, items = entries_of(maps)
    made = each(function, _parents(maps), [keys, items])
    nullable = not is_there(function, False, maps.type.item_field.nullable)
    return _maps_of(keys, made, lengths_of(maps), maps, pa.map_(keys.type, pa.field("value", made.type, nullable)))


def _maps_of(keys: pa.Array, items: pa.Array, lengths: np.ndarray, like: pa.Array, kind: pa.DataType) -> pa.Array:
    """Maps of so many entries each, NULL where those of `like` are."""
    absent = missing(like)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    mask = pa.array(absent) if absent.any() else None
    return pa.MapArray.from_arrays(offsets, keys, items, type=kind, mask=mask)


def _parents(maps: pa.Array) -> np.ndarray:
    return np.repeat(np.arange(len(maps)), lengths_of(maps))


def _nullable(structs: pa.Array) -> pa.Array:
    """The same values; of a struct, each field may be NULL, as those of another one may be that takes its place."""
    if not pa.types.is_struct(structs.type):
        return structs
    return structs.cast(pa.struct([(field.name, field.type) for field in structs.type]))


def _places(numbers: np.ndarray) -> pa.Array:
    return pa.array(numbers, types.INT)


def _condition(name: str, value: pa.Array) -> pa.Array:
    return CONDITION.take(name, value)


LAMBDAS: dict[str, tuple[int, int, Callable[[list[exp.Expr], Of, Each], pa.Array]]] = {
    "transform": (2, 2, _transform),
    "filter": (2, 2, _filter),
    "exists": (2, 2, _exists),
    "forall": (2, 2, _for_all),
    "aggregate": (3, 4, _aggregate),
    "reduce": (3, 4, _aggregate),
    "zip_with": (3, 3, _zip_with),
    "map_filter": (2, 2, _map_filter),
    "transform_values": (2, 2, _transform_values),
}
"""How many arguments each takes, at least and at most, and its code."""


def call_with_lambda(name: str, nodes: list[exp.Expr], of: Of, each: Each) -> pa.Array:
    """A call of which an argument is a function."""
    if name not in LAMBDAS:
        raise NotSupportedYet(f"replay does not evaluate {name} with a lambda")
    least, most, code = LAMBDAS[name]
    if not least <= len(nodes) <= most:
        raise QueryError(f"{name} takes {least if least == most else f'{least} or {most}'} arguments, not {len(nodes)}")
    return code(nodes, of, each)
