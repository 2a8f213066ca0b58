"""Points for tests: well separated clusters, as the SDC stream of Badiozamany 2016, Paper IV, section 4."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.kernels import Rows, identity
from windrow.windows.entries import Entries

CELL = 10.0


def sdc(random: np.random.Generator, cells: int, count: int, dimensions: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Points within a fifth of a cell's side from the centres of cells, and which cell each is of."""
    cell = random.integers(0, cells, (count, dimensions))
    way = random.normal(size=(count, dimensions))
    way *= (CELL / 5 * random.uniform(0, 1, count) ** (1 / dimensions) / np.linalg.norm(way, axis=1))[:, None]
    return (cell + 0.5) * CELL + way, cell @ (cells ** np.arange(dimensions))


def rows_of(points: np.ndarray, *others: pa.Array) -> Rows:
    columns = [pa.array(column) for column in points.T] + list(others)
    values = pa.StructArray.from_arrays(columns, names=[str(i) for i in range(len(columns))])
    return Rows(values, np.arange(len(points)))


def entries_of(kernel, panes: np.ndarray, slots: np.ndarray, points: np.ndarray, *others: pa.Array) -> Entries:
    """An entry for each pane and slot, lifted from the points in their order."""
    places, codes = np.unique(np.column_stack([panes, slots]), axis=0, return_inverse=True)
    fields = identity(kernel, len(places))
    kernel.lift(fields, codes.reshape(-1), rows_of(points, *others))
    return Entries(places[:, 0], places[:, 1], (fields,))
