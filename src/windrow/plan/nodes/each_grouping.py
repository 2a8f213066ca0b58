"""GROUPING SETS over changes: rows that come and go, once for every grouping."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from windrow.plan.nodes.changes import Column, Node

NUMBER = "#set"
"""The column with the number of the grouping that a row is for."""


@dataclass(frozen=True, slots=True)
class EachGrouping(Node):
    """Each row once for every grouping, with the keys as that has them: one that it does not group by is NULL.

    The columns of the child stay as they are, since aggregates are of these. Each of `sets` has the places of the
    `keys`, columns of the child, that it groups by. The number of the grouping tells a key that is NULL from one that
    is left out.
    """

    child: Node
    keys: tuple[str, ...]
    sets: tuple[tuple[int, ...], ...]

    @property
    def grouped(self) -> tuple[str, ...]:
        """The columns to group by: the keys, and the number of the grouping."""
        return (*(f"#key{place}" for place in range(len(self.keys))), NUMBER)

    @property
    def columns(self) -> tuple[Column, ...]:
        known = {column.name: column.type for column in self.child.columns}
        types = (*(known[key] for key in self.keys), pa.int32())
        return (*self.child.columns, *map(Column, self.grouped, types))

    def read_from(self, column: str) -> str | None:
        """The column of the child that has the same value in every grouping; None if there is none."""
        if column not in self.grouped:
            return column
        place = self.grouped.index(column)
        return self.keys[place] if all(place in chosen for chosen in self.sets) else None
