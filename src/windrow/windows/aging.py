"""Aggregates that weigh what is older less: a weight for each level of nested windows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.errors import SettingsError
from windrow.kernels import Kernel, Lowered
from windrow.kernels.decimal_sum import DecimalSum
from windrow.kernels.float_sum import FloatSum
from windrow.plan.levels import Levels
from windrow.windows.stairs import Stairs

ANSWERS = ("SUM", "COUNT", "AVG")


@dataclass(frozen=True, slots=True)
class Aging:
    """SUM, COUNT and AVG of a level as weighted sums over the own stretches of it and of all finer levels, AVG divided
    by the weighted count (Patroumpas and Sellis 2010, section IV-A).

    `weights` are from the finest level to the coarsest. Slides must be multiples of each other, for else finer levels
    are not up to date when a coarser one answers.
    """

    levels: Levels
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.levels):
            raise SettingsError(f"{len(self.levels)} levels need {len(self.levels)} weights, not {len(self.weights)}")
        if not self.levels.divide:
            raise SettingsError("aging needs slides that are multiples of each other")

    def lower(self, stairs: Stairs, level: int, member: int, answer: str, width: int) -> Lowered:
        """The weighted `answer` of every slot at `level`, which has just slid; `member` is the kernel of the sums."""
        if answer not in ANSWERS:
            raise SettingsError(f"{answer} has no weights; aging knows {', '.join(ANSWERS)}")
        kernel = stairs.kernels[member]
        total, count = np.zeros(width), np.zeros(width)
        known, overflows = np.zeros(width, bool), np.zeros(width, bool)
        for finer in range(level + 1):
            fields = stairs.own(finer, width)[member]
            n = fields["n"]
            count += self.weights[finer] * n
            known |= n > 0
            if answer != "COUNT":
                sums = sums_of(kernel, fields)
                missing = sums.is_null().to_numpy(zero_copy_only=False)
                overflows |= missing & (n > 0)
                total += self.weights[finer] * np.where(missing, 0.0, sums.fill_null(0).to_numpy(zero_copy_only=False))
        if answer == "COUNT":
            return Lowered(pa.array(count))
        with np.errstate(divide="ignore", invalid="ignore"):
            values = total if answer == "SUM" else total / count
        empty = ~known | overflows | ((count == 0) if answer == "AVG" else False)
        return Lowered(pa.array(values, mask=empty), int(np.count_nonzero(overflows)))


def sums_of(kernel: Kernel, fields: dict[str, np.ndarray]) -> pa.Array:
    """Sums as doubles; NULL where there is none, or where it does not fit its own type."""
    if isinstance(kernel, DecimalSum):
        return kernel.lower(fields, "SUM", pa.decimal128(38, kernel.scale)).values.cast(pa.float64())
    type = pa.float64() if isinstance(kernel, FloatSum) else pa.int64()
    return kernel.lower(fields, "SUM", type).values.cast(pa.float64(), safe=False)
