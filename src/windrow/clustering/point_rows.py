"""What windows that count rows hold for a clustering: its rows, until it is known which are together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from windrow.clustering.choose import kernel_of
from windrow.clustering.kernel import Clustering
from windrow.clustering.taken_rows import ROW, RowCodec, column_of, taken_rows
from windrow.kernels import Fields, Kernel, Lowered, Rows, identity
from windrow.kernels.kernel import OBJECT, Field, Irreversible
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.clusters import ClusterPartial


@dataclass(frozen=True, slots=True)
class PointRows(Irreversible):
    """Rows that `clustering` takes in as partials of its own: all that go to one summary at once, which takes a tenth
    of the time that a summary of each row by itself would."""

    clustering: Clustering
    fields: tuple[Field, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", (Field(ROW, OBJECT, pa.null(), None, codec=RowCodec()),))

    @property
    def running(self) -> Kernel:
        return self.clustering

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        kept = codes >= 0
        into[ROW][codes[kept]] = taken_rows(column_of(rows, ()))[kept]

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        raise TypeError("rows are not combined: the clustering takes them in")

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        raise TypeError("rows have no answer: the clustering takes them in")


def rows_kernel(partial: Partial, user: Mapping[str, type]) -> Kernel:
    """What a row holds of `partial` where rows are held: those of clusterings are not summarised yet."""
    kernel = kernel_of(partial, user)
    return PointRows(kernel) if isinstance(kernel, Clustering) else kernel


def only_places(partial: ClusterPartial) -> list[int]:
    """Which of the values of a row are coordinates and nothing else."""
    asked = {text for other in partial.attached for text in other.texts}
    return [i for i, text in enumerate(partial.texts) if text in partial.coordinates and text not in asked]


def summarised(kernel: Kernel, fields: Fields) -> Fields:
    """Partials as `kernel` folds them: a row of a clustering that is still as it came becomes a summary."""
    if ROW not in fields:
        return fields
    into = identity(kernel, len(fields[ROW]))
    kernel.combine(into, np.arange(len(fields[ROW])), fields)
    return into
