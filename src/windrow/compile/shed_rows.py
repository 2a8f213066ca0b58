"""SHED ABOVE: by which hash the rows of a stream are chosen that are taken where not all are."""

from __future__ import annotations

import pyarrow as pa

from windrow.errors import SettingsError
from windrow.language import expression_sql, identifier_sql, parse_expression
from windrow.plan.catalog import Stream
from windrow.plan.nodes.shed import Shed

_LARGEST_DECIMAL = 18
"""Decimals of more digits are hashed by their bytes, which replay does not do."""


def shed_of(stream: Stream) -> Shed | None:
    """How rows are left out of a stream; None where that was not asked for.

    The hash is one of the whole row, so that rows of one key, or of one instant, are not all left out together.
    """
    if stream.shed_us is None:
        return None
    hashed = [field.name for field in stream.schema if _is_plain(field.type)]
    if not hashed:
        raise SettingsError(
            f"the rows of {stream.name!r} cannot be told apart by a hash: no column is a number, a text or a time"
            "\nhint: leave out SHED ABOVE (shed_above)"
        )
    text = f"xxhash64({', '.join(map(identifier_sql, hashed))})"
    return Shed(stream.shed_us, expression_sql(parse_expression(text)))


def _is_plain(type: pa.DataType) -> bool:
    if pa.types.is_decimal(type):
        return bool(type.precision <= _LARGEST_DECIMAL)
    return not pa.types.is_nested(type) and not pa.types.is_null(type) and not pa.types.is_duration(type)
