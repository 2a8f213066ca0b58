"""Numbers as unevaluated pairs of doubles, high + low, of about 106 bits: columns of them at once."""

from __future__ import annotations

import numpy as np

Pair = tuple[np.ndarray, np.ndarray]

_SPLIT = 2.0**27 + 1
_HUGE = 2.0**990
"""Beyond it the halves of a product could overflow: such a product is rounded to one double."""


def plus(left: Pair, right: Pair) -> Pair:
    """The sum (Knuth, The Art of Computer Programming 2, 4.2.2, theorem B).

    >>> one, large = np.array([1.0]), np.array([1e16])
    >>> [half.tolist() for half in plus(plus((large, 0 * one), (one, 0 * one)), (-large, 0 * one))]
    [[1.0], [0.0]]
    """
    total, error = _two_sum(left[0], right[0])
    return _renewed(total, error + (left[1] + right[1]))


def times(pair: Pair, factor: float) -> Pair:
    """The product with a double (Dekker, A floating-point technique for extending the available precision, 1971)."""
    high, error = _two_product(pair[0], factor)
    return _renewed(high, error + pair[1] * factor)


def quotient(above: Pair, below: Pair) -> np.ndarray:
    """The quotient as one double, from one step of long division; where `below` is zero it says nothing."""
    first = above[0] / below[0]
    high, error = _two_product(below[0], first)
    rest = plus(above, (-high, -(error + below[1] * first)))
    return _finite_or(first + rest[0] / below[0], first)


def _two_sum(a: np.ndarray, b: np.ndarray) -> Pair:
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def _two_product(a: np.ndarray, b: float | np.ndarray) -> Pair:
    product = a * b
    a_high = a * _SPLIT - (a * _SPLIT - a)
    b_high = b * _SPLIT - (b * _SPLIT - b)
    a_low, b_low = a - a_high, b - b_high
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    tame = (np.abs(a) < _HUGE) & (np.abs(b) < _HUGE) & (np.abs(product) < _HUGE)
    return product, np.where(tame, error, 0.0)


def _renewed(total: np.ndarray, error: np.ndarray) -> Pair:
    """Both halves again, the low one less than half a unit of the high one; infinities and NaN have no low half."""
    high = total + error
    low = error - (high - total)
    odd = ~np.isfinite(total) | ~np.isfinite(high)
    return np.where(odd, np.where(np.isfinite(total), high, total), high), np.where(odd, 0.0, low)


def _finite_or(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values), values, others)
