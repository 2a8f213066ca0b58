"""What users' aggregates must and may have is declared, and is all that is asked of their classes."""

from __future__ import annotations

import pytest

import windrow
from declared import lacking, members, undocumented
from windrow.plan.aggregate_plugin import METHODS, Abilities, AggregatePlugin, Dumping, Merging, Removing


class Least:
    def init(self):
        return 0

    def add(self, state, value):
        return state + value

    def finish(self, state):
        return state


class Most(Least):
    returns = "BIGINT"
    state = "pickle"

    def merge(self, state, other):
        return state + other

    def remove(self, state, value):
        return state - value

    def dump(self, state):
        return state

    def load(self, plain):
        return plain


class Spreading(Most):
    """Takes as many values as there are."""

    def add(self, state, *values):
        return state + sum(values)

    def remove(self, state, *values):
        return state - sum(values)


def test_every_part_of_an_aggregate_is_explained():
    for protocol in (AggregatePlugin, Merging, Removing, Dumping):
        assert undocumented(protocol) == []
        assert protocol.__doc__


def test_what_must_be_there_is_what_the_protocol_declares():
    assert windrow.AggregatePlugin is AggregatePlugin
    assert {name for name, _ in members(AggregatePlugin)} == {*METHODS}
    assert lacking(Spreading, Merging) == lacking(Spreading, Removing) == lacking(Spreading, Dumping) == []


def test_what_a_class_can_do_is_declared_for_it():
    assert Abilities.of(Least) == Abilities((), False, False, False, False, "DOUBLE", "plain")
    assert Abilities.of(Most) == Abilities((), True, True, True, True, "BIGINT", "pickle")
    assert Abilities.of(object).missing == METHODS


def test_an_attribute_that_is_no_method_is_none():
    class Without(Most):
        merge = None

    assert not Abilities.of(Without).merges and Abilities.of(Without).removes


def test_how_states_are_stored_is_said_by_the_class_and_not_by_what_an_object_keeps():
    class Keeping(Most):
        def __init__(self):
            self.state = [1, 2]

    assert Abilities.of(Keeping()).state == "pickle"


@pytest.mark.parametrize("method", METHODS)
def test_what_is_missing_is_named(method):
    kept = {name: thing for name, thing in vars(Least).items() if name in METHODS and name != method}
    assert Abilities.of(type("Lacking", (), kept)).missing == (method,)
