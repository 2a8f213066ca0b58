"""What every kernel promises, tried on every kernel that there is."""

from __future__ import annotations

import math
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow.kernels
from declared import classes_in, lacking, undocumented
from drawn_examples import examples
from windrow.kernels import Kernel, concat, from_arrow, grow, identity, reset, take, to_arrow

from .cases import CASES, SLOTS, Case, codes

pytestmark = pytest.mark.one_in(3)
ALL = np.arange(SLOTS)
some = settings(max_examples=examples(12), deadline=None)
every_case = pytest.mark.parametrize("case", CASES, ids=str)
reversible_case = pytest.mark.parametrize("case", [case for case in CASES if case.kernel.reversible], ids=str)


def combined(case: Case, *parts):
    into = identity(case.kernel, SLOTS)
    for part in parts:
        case.kernel.combine(into, ALL, part)
    return into


def same(case: Case, left, right, rows=()) -> bool:
    """Equal answers; floats may differ in what the last of 106 bits of the largest value leaves."""
    sizes = [abs(row[1]) for row in rows if isinstance(row[1], float) and math.isfinite(row[1])]
    slack = max(sizes, default=0.0) * 1e-28
    pairs = zip(chain(*case.answered(left)), chain(*case.answered(right)))
    return all(_equal(case, a, b, slack) for a, b in pairs)


def _equal(case: Case, a, b, slack: float) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_equal(case, left, right, slack) for left, right in zip(a, b))
    if not isinstance(a, float) or not isinstance(b, float):
        return a == b
    if case.partial.kind in ("moments", "decayed") or "GEOMETRIC_MEAN" in case.answers:
        return a == pytest.approx(b, rel=1e-9, abs=1e-20, nan_ok=True)
    if case.partial.kind in (
        "pair_moments",
        "filled_moments",
        "high_moments",
    ):  # a covariance near zero is what is left of larger products
        return a == pytest.approx(b, rel=1e-9, abs=1e-6)
    if case.partial.kind == "float_sum":
        return (math.isnan(a) and math.isnan(b)) or a == b or math.isclose(a, b, rel_tol=1e-14, abs_tol=slack)
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))


def test_every_kernel_has_a_case():
    found = {kind for kind in classes_in(windrow.kernels) if hasattr(kind, "lift")}
    assert found == {type(kernel) for case in CASES for kernel in (case.kernel, case.kernel.running)}


def test_every_part_of_a_kernel_is_explained():
    assert undocumented(Kernel) == []


@every_case
def test_a_kernel_has_all_that_a_kernel_declares(case):
    assert lacking(case.kernel, Kernel) == []
    assert lacking(case.kernel.running, Kernel) == []


@every_case
@some
@given(st.data())
def test_what_a_kernel_cannot_do_it_says_and_raises(case, data):
    kernel, partials = case.kernel, case.lifted(data.draw(case.rows))
    if not kernel.reversible:
        with pytest.raises(TypeError, match="again instead"):
            kernel.remove(partials, ALL, partials)
    if kernel.rounds:
        with np.errstate(all="ignore"):
            assert all(len(kernel.rounding(partials, answer)) == SLOTS for answer in case.answers)
    else:
        with pytest.raises(TypeError, match="no rounding"):
            kernel.rounding(partials, case.answers[0])
    if {"SUM", "AVG"} & {*case.answers}:
        (high, low), fits = kernel.halves(partials)
        assert len(high) == len(low) == len(fits) == SLOTS
    else:
        with pytest.raises(TypeError, match="no sum"):
            kernel.halves(partials)


@every_case
@some
@given(st.data())
def test_owned_and_aligned_changes_are_the_plain_ones(case, data):
    older, newer = (case.lifted(data.draw(case.rows)) for _ in range(2))
    plain = combined(case, older, newer)
    owned, aligned, owner = combined(case, older), combined(case, older), object()
    case.kernel.combine_owned(owned, ALL, newer, owner)
    case.kernel.combine_aligned(aligned, newer, owner)
    assert repr(case.answered(owned)) == repr(case.answered(aligned)) == repr(case.answered(plain))
    if case.kernel.reversible:
        case.kernel.remove(plain, ALL, older)
        case.kernel.remove_owned(owned, ALL, older, owner)
        assert repr(case.answered(owned)) == repr(case.answered(plain))


@every_case
@some
@given(st.data())
def test_parts_combine_to_the_whole_however_they_are_bracketed(case, data):
    rows = data.draw(case.rows)
    cuts = sorted(data.draw(st.tuples(st.integers(0, len(rows)), st.integers(0, len(rows)))))
    a, b, c = (case.lifted(rows[i:j]) for i, j in zip([0, *cuts], [*cuts, len(rows)]))
    whole = case.lifted(rows)
    assert same(case, whole, combined(case, a, b, c), rows)
    assert same(case, whole, combined(case, a, combined(case, b, c)), rows)
    piecewise = identity(case.kernel, SLOTS)
    for part in (rows[: cuts[0]], rows[cuts[0] :]):
        case.kernel.lift(piecewise, codes(part), case.columns(part))
    assert same(case, whole, piecewise, rows)


@every_case
@some
@given(st.data())
def test_the_identity_is_a_unit_on_both_sides(case, data):
    rows = data.draw(case.rows)
    partials = case.lifted(rows)
    nothing = identity(case.kernel, SLOTS)
    assert same(case, partials, combined(case, nothing, partials), rows)
    assert same(case, partials, combined(case, partials, nothing), rows)


@every_case
@some
@given(st.data())
def test_repeated_slots_are_folded_in_order(case, data):
    rows = data.draw(case.rows)
    parts = [case.lifted([row]) for row in rows]
    at_once, stepwise = identity(case.kernel, SLOTS), identity(case.kernel, SLOTS)
    if not parts:
        return
    case.kernel.combine(at_once, np.tile(ALL, len(parts)), concat(parts))
    for part in parts:
        case.kernel.combine(stepwise, ALL, part)
    assert same(case, stepwise, at_once, rows)


@every_case
@some
@given(st.data())
def test_skipped_and_masked_rows_leave_no_trace(case, data):
    rows = data.draw(case.rows)
    kept = [row for row in rows if row[0] >= 0 and row[3]]
    assert same(case, case.lifted(rows), case.lifted(kept, masked=False), rows)


@every_case
@some
@given(st.data())
def test_combining_changes_nothing_but_its_target(case, data):
    older, newer = data.draw(case.rows), data.draw(case.rows)
    into, more = case.lifted(older), case.lifted(newer)
    shared, before = take(into, ALL), case.answered(into)
    more_before = case.answered(more)
    case.kernel.combine(shared, ALL, more)
    case.kernel.combine(shared, ALL, more)
    case.kernel.lift(shared, codes(newer), case.columns(newer))
    assert repr(case.answered(into)) == repr(before)
    assert repr(case.answered(more)) == repr(more_before)


@every_case
@some
@given(st.data())
def test_stored_partials_come_back_as_they_were(case, data):
    rows = data.draw(case.rows)
    partials = case.lifted(rows)
    stored = to_arrow(case.kernel, partials)
    assert all(stored[field.name].type == field.type for field in case.kernel.fields if field.name in stored)
    back = from_arrow(case.kernel, stored)
    assert repr(case.answered(back)) == repr(case.answered(partials))
    assert same(case, combined(case, back, back), combined(case, partials, partials), rows)
    assert same(case, case.lifted(rows), from_arrow(case.kernel, stored), rows), "stored partials must not change"


@every_case
@some
@given(st.data())
def test_slots_grow_empty_and_reset_to_empty(case, data):
    rows = data.draw(case.rows)
    partials = case.lifted(rows)
    grown = grow(case.kernel, partials, SLOTS + 2)
    assert repr(case.answered(take(grown, ALL))) == repr(case.answered(partials))
    nothing = case.answered(identity(case.kernel, 2))
    assert case.answered(take(grown, np.array([SLOTS, SLOTS + 1]))) == nothing
    reset(case.kernel, grown, np.array([0, 1]))
    assert case.answered(take(grown, np.array([0, 1]))) == nothing


@reversible_case
@some
@given(st.data())
def test_removing_undoes_combining(case, data):
    older, newer = data.draw(case.rows), data.draw(case.rows)
    into = combined(case, case.lifted(older), case.lifted(newer))
    case.kernel.remove(into, ALL, case.lifted(older))
    expected = case.lifted(newer)
    # What remains of a big value may be as inexact as the biggest that was there; of small ones only small ones count.
    small = [row for row in older if isinstance(row[1], float) and abs(row[1]) < 2**53]
    big = any(isinstance(row[1], float) and abs(row[1]) >= 2**53 for row in newer)
    assert same(case, expected, into, [*newer, *(older if big else small)])
    case.kernel.remove(into, ALL, case.lifted(newer))
    assert case.answered(into) == case.answered(identity(case.kernel, SLOTS))


@reversible_case
@some
@given(st.data())
def test_turns_are_what_combining_and_removing_one_after_the_other_comes_to(case, data):
    older, newer = case.lifted(data.draw(case.rows)), case.lifted(data.draw(case.rows))
    moving, slots = concat([older, newer, older]), np.concatenate([ALL, ALL, ALL])
    turns = np.array([(0, SLOTS, 1, -1), (SLOTS, 2 * SLOTS, 1, SLOTS), (2 * SLOTS, 3 * SLOTS, -1, 0)])
    into, told = identity(case.kernel, SLOTS), identity(case.kernel, 2 * SLOTS)
    case.kernel.slide(into, slots, moving, turns, told)
    both, left = combined(case, older, newer), combined(case, older, newer)
    case.kernel.remove(left, ALL, older)
    assert same(case, take(told, ALL + SLOTS), both)
    assert same(case, take(told, ALL), left) and same(case, into, left)


@reversible_case
@settings(max_examples=examples(5), deadline=None)
@given(st.data())
def test_a_window_that_has_slid_for_long_has_forgotten_what_left_it(case, data):
    panes = [case.lifted(data.draw(case.rows)) for _ in range(6)]
    empty = {name for name, column in identity(case.kernel, SLOTS).items() if not column.any()}
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    into, inside = identity(case.kernel, SLOTS), []
    for step in random.integers(0, len(panes), 300):
        case.kernel.combine(into, ALL, panes[step])
        inside.append(step)
        if len(inside) > 4:
            case.kernel.remove(into, ALL, panes[inside.pop(0)])
    for step in inside:
        case.kernel.remove(into, ALL, panes[step])
    assert all(not into[name].any() for name in empty)
