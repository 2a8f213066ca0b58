"""DISTINCT that has been pushed down says the same, and has less to do above it."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.operators.plans import cases, distinct, join, project, scan, streams
from tests.operators.test_against_duckdb import check

from drawn_examples import examples
from windrow.compile.push_distinct import push_distinct
from windrow.plan.nodes.changes import Distinct
from windrow.plan.nodes.joins import Join


@settings(max_examples=examples(8), deadline=None)
@given(data=st.data())
def test_pushed_plans_say_the_same(data):
    left, right = data.draw(cases(2)), data.draw(cases(1))
    joined = join(left, right, "inner", data.draw(st.sampled_from([None, "v < v2"])))
    case = distinct(data.draw(st.sampled_from([joined, project(joined, "v + 1"), left])))
    check(replace(case, plan=push_distinct(case.plan)), data.draw(streams(8)), [5], False)


def test_columns_that_nobody_reads_leave_before_the_join():
    case = distinct(join(scan("a", 3), scan("b", 3), "inner", None))
    pushed = push_distinct(case.plan)
    assert isinstance(pushed, Distinct)
    (join_below,) = pushed.child.children
    assert isinstance(join_below, Join)
    assert [side.names for side in join_below.children] == [("k", "s"), ("k2", "v2")]
    assert all(isinstance(side, Distinct) for side in join_below.children)


def test_rows_that_are_distinct_already_are_left_alone():
    case = distinct(distinct(scan("a", 3)))
    assert push_distinct(case.plan) == Distinct(scan("a", 3).plan)
