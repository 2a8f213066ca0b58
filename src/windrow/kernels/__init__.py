"""Aggregates as mergeable partials over columns: numpy, numba, pyarrow."""

from windrow.kernels.choose import kernel_for
from windrow.kernels.kernel import Field, Fields, Kernel, Lowered, Rows
from windrow.kernels.partials import concat, ended, grow, identity, reset, running, take
from windrow.kernels.stored import from_arrow, to_arrow

__all__ = [
    "Field",
    "Fields",
    "Kernel",
    "Lowered",
    "Rows",
    "concat",
    "ended",
    "from_arrow",
    "grow",
    "identity",
    "kernel_for",
    "reset",
    "running",
    "take",
    "to_arrow",
]
