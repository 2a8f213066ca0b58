"""Counts and sums of groups, change by change: each state goes on from the one before, in one compiled loop."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.kernels import Fields, Kernel, Rows, identity
from windrow.kernels.columns import frozen, integers, live, reals
from windrow.kernels.count import Count
from windrow.kernels.float_sum import COLUMNS, SCALE, SMALL, add_pair
from windrow.kernels.integer_sum import LIMB, IntegerSum
from windrow.operators.running import IN_TURN
from windrow.operators.turns import Turns


def goes_in_turn(kernel: Kernel) -> bool:
    """Whether `follow_in_turn` knows the sums of a kernel."""
    return isinstance(kernel, IN_TURN)


def follow_in_turn(
    kernel: Kernel, state: Fields, turns: Turns, slots: np.ndarray, rows: Rows, weights: np.ndarray
) -> Fields:
    """All states of `turns`; `state` has the groups' own, by slot, and is brought on.

    Within an instant what comes is added before what goes is taken out, so that no partial ever holds less than
    nothing, which those of floats could not tell from empty. So states do not depend on how changes are cut into
    batches, not even in their last bits.
    """
    states = identity(kernel, turns.states)
    where = turns.cuts, turns.ends, turns.slots, turns.groups
    moved = frozen(live(slots, rows)), frozen(weights)
    if isinstance(kernel, Count):
        _counts(state["n"], states["n"], where, *moved)
    elif isinstance(kernel, IntegerSum):
        assert rows.values is not None
        names = ("n", "low", "high")
        own, told = tuple([state[name] for name in names]), tuple([states[name] for name in names])
        top = LIMB if pa.types.is_uint64(rows.values.type) else -1
        _integers(own, told, where, *moved, integers(rows.values), top)
    else:
        assert rows.values is not None
        own, told = tuple([state[name] for name in COLUMNS]), tuple([states[name] for name in COLUMNS])
        _floats(own, told, where, *moved, reals(rows.values))
    return states


@njit(cache=True, nogil=True)
def _counts(
    n: np.ndarray, told: np.ndarray, where: tuple[np.ndarray, ...], slots: np.ndarray, weights: np.ndarray
) -> None:
    cuts, ends, own, groups = where
    for number in range(groups.size):
        told[number] = n[groups[number]]
    pair = 0
    for instant in range(ends.size):
        for i in range(cuts[instant], cuts[instant + 1]):
            if slots[i] >= 0:
                n[slots[i]] += weights[i]
        while pair < ends[instant]:
            told[groups.size + pair] = n[own[pair]]
            pair += 1


@njit(cache=True, nogil=True)
def _integers(
    state: tuple[np.ndarray, ...],
    told: tuple[np.ndarray, ...],
    where: tuple[np.ndarray, ...],
    slots: np.ndarray,
    weights: np.ndarray,
    values: np.ndarray,
    top: int,
) -> None:
    """`top` are the bits of a value's upper half that count: those of an unsigned one have no sign."""
    cuts, ends, own, groups = where
    n, low, high = state
    told_n, told_low, told_high = told
    for number in range(groups.size):
        slot = groups[number]
        told_n[number], told_low[number], told_high[number] = n[slot], low[slot], high[slot]
    pair = 0
    for instant in range(ends.size):
        for i in range(cuts[instant], cuts[instant + 1]):
            slot = slots[i]
            if slot < 0:
                continue
            sign = 1 if weights[i] > 0 else -1
            for _ in range(abs(weights[i])):
                limb = low[slot] + sign * (values[i] & LIMB)  # its arithmetic shift borrows where it is negative
                n[slot] += sign
                low[slot] = limb & LIMB
                high[slot] += sign * ((values[i] >> 32) & top) + (limb >> 32)
        while pair < ends[instant]:
            slot, state_at = own[pair], groups.size + pair
            told_n[state_at], told_low[state_at], told_high[state_at] = n[slot], low[slot], high[slot]
            pair += 1


@njit(cache=True, nogil=True)
def _floats(
    state: tuple[np.ndarray, ...],
    told: tuple[np.ndarray, ...],
    where: tuple[np.ndarray, ...],
    slots: np.ndarray,
    weights: np.ndarray,
    values: np.ndarray,
) -> None:
    """All in one loop: what a function were given for each change would be counted as in use, at ten times the cost."""
    cuts, ends, own, groups = where
    n, hi, lo, big_n, big_hi, big_lo, nan, above, below = state
    told_n, told_hi, told_lo, told_big_n, told_big_hi, told_big_lo, told_nan, told_above, told_below = told
    at, known = 0, groups.size
    for instant in range(-1, ends.size):
        start, stop, states = (
            (0, 0, known) if instant < 0 else (cuts[instant], cuts[instant + 1], known + ends[instant])
        )
        for sign in (1, -1):
            for i in range(start, stop):
                slot, value = slots[i], values[i]
                if slot < 0 or weights[i] * sign <= 0:
                    continue
                for _ in range(abs(weights[i])):
                    n[slot] += sign
                    if abs(value) < SMALL:
                        add_pair(hi, lo, slot, sign * value, 0.0)
                    elif np.isfinite(value):
                        big_n[slot] += sign
                        add_pair(big_hi, big_lo, slot, sign * value * SCALE, 0.0)
                        if big_n[slot] == 0:
                            big_hi[slot] = big_lo[slot] = 0.0
                    elif value > 0:
                        above[slot] += sign
                    elif value < 0:
                        below[slot] += sign
                    else:
                        nan[slot] += sign
                    if n[slot] == big_n[slot] + nan[slot] + above[slot] + below[slot]:
                        hi[slot] = lo[slot] = 0.0
        while at < states:  # what is told is zero, and most of it stays so
            slot = groups[at] if at < known else own[at - known]
            told_n[at], told_hi[at], told_lo[at] = n[slot], hi[slot], lo[slot]
            if big_n[slot] | nan[slot] | above[slot] | below[slot]:
                told_big_n[at], told_big_hi[at], told_big_lo[at] = big_n[slot], big_hi[slot], big_lo[slot]
                told_nan[at], told_above[at], told_below[at] = nan[slot], above[slot], below[slot]
            at += 1
