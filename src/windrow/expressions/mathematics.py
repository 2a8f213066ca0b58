"""Functions of doubles. Java and C may differ in the last digit; where they disagree in kind, Java is right."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from . import types
from .columns import column, missing, values
from .registry import DOUBLE, function

_PLAIN: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "sqrt": np.sqrt,
    "cbrt": np.cbrt,
    "exp": np.exp,
    "expm1": np.expm1,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "cot": lambda x: 1 / np.tan(x),
    "sec": lambda x: 1 / np.cos(x),
    "csc": lambda x: 1 / np.sin(x),
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "rint": np.rint,
    "sign": lambda x: np.where(x == 0, x, np.sign(x)),
    "signum": lambda x: np.where(x == 0, x, np.sign(x)),
    # Java multiplies by the rounded constant, numpy divides.
    "degrees": lambda x: x * (180.0 / math.pi),
    "radians": lambda x: x * (math.pi / 180.0),
}


def _of_double(code: Callable[[np.ndarray], np.ndarray]) -> Callable[[pa.Array], pa.Array]:
    return lambda number: column(code(values(number)), missing(number), types.DOUBLE)


for _name, _code in _PLAIN.items():
    function(_name, takes=[DOUBLE])(_of_double(_code))


def _logarithm(number: pa.Array, code: Callable[[np.ndarray], np.ndarray], above: float) -> pa.Array:
    """A logarithm, NULL up to the point where it has no value."""
    numbers = values(number)
    return column(code(numbers), missing(number) | (numbers <= above), types.DOUBLE)


@function("ln", takes=[DOUBLE])
def natural_logarithm(number: pa.Array) -> pa.Array:
    return _logarithm(number, np.log, 0.0)


@function("log1p", takes=[DOUBLE])
def logarithm_of_one_more(number: pa.Array) -> pa.Array:
    return _logarithm(number, np.log1p, -1.0)


@function("log10", takes=[DOUBLE])
def decimal_logarithm(number: pa.Array) -> pa.Array:
    return _logarithm(number, np.log10, 0.0)


@function("log2", takes=[DOUBLE])
def binary_logarithm(number: pa.Array) -> pa.Array:
    return _logarithm(number, lambda x: np.log(x) / np.log(2.0), 0.0)


@function("log", takes=[DOUBLE, DOUBLE], least=1)
def logarithm(base: pa.Array, number: pa.Array | None = None) -> pa.Array:
    """LOG(base, number), or LOG(number) to the base e."""
    if number is None:
        return natural_logarithm(base)
    bases, numbers = values(base), values(number)
    absent = missing(base) | missing(number) | (bases <= 0) | (numbers <= 0)
    return column(np.log(numbers) / np.log(bases), absent, types.DOUBLE)


@function("power", "pow", takes=[DOUBLE, DOUBLE])
def power(base: pa.Array, exponent: pa.Array) -> pa.Array:
    bases, exponents = values(base), values(exponent)
    # C holds 1 to the power of anything for 1; Java has NaN where the exponent is NaN or infinite.
    undefined = np.isnan(exponents) | ((np.abs(bases) == 1) & np.isinf(exponents))
    result = np.where(undefined, np.nan, np.power(bases, exponents))
    return column(result, missing(base) | missing(exponent), types.DOUBLE)


@function("atan2", takes=[DOUBLE, DOUBLE])
def angle(y: pa.Array, x: pa.Array) -> pa.Array:
    # Adding zero makes 0.0 of -0.0, as Spark does, so that the angle of (-0.0, -1.0) is pi.
    return column(np.arctan2(values(y) + 0.0, values(x) + 0.0), missing(y) | missing(x), types.DOUBLE)


@function("hypot", takes=[DOUBLE, DOUBLE])
def hypotenuse(x: pa.Array, y: pa.Array) -> pa.Array:
    return column(np.hypot(values(x), values(y)), missing(x) | missing(y), types.DOUBLE)
