"""In which order the rows of an answer stand, and which numbers they have in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Ordering:
    """One term of ORDER BY, over the columns that slide emits."""

    sql: str
    descending: bool
    nulls_first: bool

    @property
    def text(self) -> str:
        return f"{self.sql} {'desc' if self.descending else 'asc'} nulls {'first' if self.nulls_first else 'last'}"


@dataclass(frozen=True, slots=True)
class Ranking:
    """A number for each row of a window among those of its partition, as `function` counts: 1 is the first.

    Rows with a number above `limit` are not asked for. Ties of `row_number` are in the order of the whole row.
    """

    function: str
    partition: tuple[str, ...]
    order: tuple[Ordering, ...]
    limit: int | None = None

    @property
    def type(self) -> pa.DataType:
        return pa.int32()

    @property
    def texts(self) -> tuple[str, ...]:
        return (*self.partition, *(term.sql for term in self.order))

    @property
    def text(self) -> str:
        """What it is, in words.

        >>> Ranking("rank", ("key_0",), (Ordering("agg_0", True, False),)).text
        'rank over (partition by key_0 order by agg_0 desc nulls last)'
        """
        parts = [f"partition by {', '.join(self.partition)}"] if self.partition else []
        parts += [f"order by {', '.join(term.text for term in self.order)}"] if self.order else []
        return f"{self.function} over ({' '.join(parts)})"


def holds_map(type: pa.DataType) -> bool:
    """Whether a type has no order: maps, and what they are in."""
    return pa.types.is_map(type) or any(holds_map(type.field(i).type) for i in range(type.num_fields))


def whole_row(emitted: pa.Schema) -> Sequence[str]:
    """The columns by which rows are told apart that are equal in an order: keys, and else what each row has."""
    named = [field for field in emitted if field.name.startswith(("key_", "item_", "agg_", "look_"))]
    return [field.name for field in named if not holds_map(field.type)]


def place_column(number: int) -> str:
    """The column in which the numbers of a ranking are, after `key_0`, ... and `agg_0`, ..."""
    return f"place_{number}"


def with_places(emitted: pa.Schema, types: Iterable[pa.DataType]) -> pa.Schema:
    return pa.schema([*emitted, *(pa.field(place_column(i), type) for i, type in enumerate(types))])
