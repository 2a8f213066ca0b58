"""Which kernel keeps which partial."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from windrow.errors import AggregateError
from windrow.kernels import bits
from windrow.kernels.bit_fold import BitFold
from windrow.kernels.collected import Collected
from windrow.kernels.columns import plain_type
from windrow.kernels.count import Count
from windrow.kernels.counted_values import CountedValues
from windrow.kernels.decayed_mean import DecayedMean
from windrow.kernels.decimal_sum import DecimalSum
from windrow.kernels.edge_value import EdgeValue
from windrow.kernels.extreme import Extreme
from windrow.kernels.extreme_object import ExtremeObject
from windrow.kernels.filled_moments import FilledMoments
from windrow.kernels.float_sum import FloatSum
from windrow.kernels.frequent_items import FrequentItems
from windrow.kernels.high_moments import HighMoments
from windrow.kernels.histogram import Histogram
from windrow.kernels.integer_sum import IntegerSum
from windrow.kernels.kernel import Kernel
from windrow.kernels.moments import Moments
from windrow.kernels.ordered_values import OrderedValues
from windrow.kernels.pair_moments import PairMoments
from windrow.kernels.seen import Seen
from windrow.kernels.sketches import Digest, DistinctSketch
from windrow.kernels.top_values import TopValues
from windrow.kernels.truth import Truth
from windrow.kernels.user import User
from windrow.kernels.user_rows import UserRows
from windrow.kernels.value_by import ValueBy
from windrow.plan.aggregate_plugin import Abilities
from windrow.plan.nodes.aggregates import USERS, FilledPartial, Partial, SizedPartial

WITHOUT_TYPE: dict[str, Kernel] = {
    "count": Count(),
    "seen": Seen(),
    "integer_sum": IntegerSum(),
    "float_sum": FloatSum(),
    "scaled_count": Count(),
    "scaled_integer_sum": IntegerSum(),
    "scaled_float_sum": FloatSum(),
    "moments": Moments(),
    "truth": Truth(),
    "digest": Digest(),
    "high_moments": HighMoments(),
}


def kernel_for(partial: Partial, user: Mapping[str, type] = {}) -> Kernel:
    """The kernel of `partial`; `user` gives the classes of the users' own aggregates by name.

    >>> kernel_for(Partial("count"))
    Count()
    >>> import pyarrow as pa
    >>> kernel_for(Partial("max", "price", pa.float64()))
    Extreme(type=DataType(double), largest=True)
    """
    if partial.kind in WITHOUT_TYPE:
        return WITHOUT_TYPE[partial.kind]
    if partial.kind in USERS:
        return _users(partial, user)
    if partial.type is None:
        raise AggregateError(f"{partial}: the type of its argument is not known")
    type = plain_type(partial.type)
    match partial.kind:
        case "decimal_sum" | "scaled_decimal_sum":
            return DecimalSum(type.scale)
        case "min" | "max":
            chosen = Extreme if bits.fits(type) else ExtremeObject
            return chosen(type, largest=partial.kind == "max")
        case "first" | "last":
            return EdgeValue(type, latest=partial.kind == "last", ignore_nulls=partial.ignore_nulls)
        case "values":
            return OrderedValues(type)
        case "counted":
            return CountedValues(type)
        case "collect" | "collect_nulls":
            return Collected(type, nulls=partial.kind == "collect_nulls")
        case "distinct_sketch":
            return DistinctSketch(type)
        case "filled_moments" if isinstance(partial, FilledPartial):
            return FilledMoments(partial.step_us)
        case "pair_moments":
            return PairMoments.of(type)
        case "min_by" | "max_by":
            return ValueBy.of(type, largest=partial.kind == "max_by")
        case "bit_and" | "bit_or" | "bit_xor":
            return BitFold(partial.kind, type)
    if isinstance(partial, SizedPartial):
        return _sized(partial.kind, type, partial.size)
    raise AggregateError(f"no kernel keeps a partial of kind {partial.kind!r}")


def _sized(kind: str, type: pa.DataType, size: int) -> Kernel:
    match kind:
        case "top":
            return TopValues(type, size)
        case "frequent":
            return FrequentItems(type, size)
        case "histogram":
            return Histogram(type, size)
        case "decayed":
            return DecayedMean(size)
    raise AggregateError(f"no kernel keeps a partial of kind {kind!r}")


def _users(partial: Partial, user: Mapping[str, type]) -> Kernel:
    name = partial.user
    if name is None or name not in user:
        raise AggregateError(f"unknown aggregate {name!r}; known are: {', '.join(sorted(user)) or 'none'}")
    aggregate = user[name]
    able = Abilities.of(aggregate)
    if able.missing:
        raise AggregateError(f"aggregate {name!r} has no {' and no '.join(able.missing)}")
    if partial.kind == "user" and able.merges:
        return User(name, aggregate)
    return UserRows(name, aggregate, plain_type(partial.type or pa.null()))
