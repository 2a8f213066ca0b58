"""Users' aggregates: copies, arguments and blame."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from windrow.errors import AggregateError
from windrow.kernels import Rows, from_arrow, identity, kernel_for, take, to_arrow
from windrow.plan.nodes.aggregates import Partial

from .cases import USER

CODES = np.zeros(3, np.int64)


class Tree:
    """Merging puts parts of the other state into this one, and then changes them."""

    def init(self):
        return {}

    def add(self, state, value):
        state.setdefault("all", []).append(value)

    def merge(self, state, other):
        if "all" in state:
            state["all"] += other["all"]
        else:
            state["all"] = other["all"]

    def finish(self, state):
        return str(state.pop("all", None))


class Broken:
    def init(self):
        return 0

    def add(self, state, value):
        return state + value

    def finish(self, state):
        return state


class Any:
    def init(self):
        return ()

    def add(self, state, *values):
        return (*state, values)

    def merge(self, state, other):
        return state + other

    def finish(self, state):
        return str(state)


def kernel(name: str, aggregate: type):
    return kernel_for(Partial("user", "x", pa.int64(), user=name), {name: aggregate})


def lifted(kernel, values: pa.Array | None):
    partials = identity(kernel, 1)
    kernel.lift(partials, CODES, Rows(values, np.arange(3)))
    return partials


def test_states_that_blocks_share_are_never_changed():
    tree = kernel("tree", Tree)
    first, second = lifted(tree, pa.array([1, 2, 3])), lifted(tree, pa.array([4, 5, 6]))
    window = identity(tree, 1)
    for pane in (first, second, first, second):
        tree.combine(window, np.array([0]), pane)
    shared = take(window, np.array([0]))
    tree.lift(shared, CODES, Rows(pa.array([7, 8, 9]), np.arange(3)))
    for _ in range(2):
        assert tree.lower(window, "tree", pa.string()).values[0].as_py() == str([1, 2, 3, 4, 5, 6] * 2)
        assert tree.lower(first, "tree", pa.string()).values[0].as_py() == "[1, 2, 3]"


def test_an_empty_slot_finishes_from_init():
    tree = kernel("tree", Tree)
    assert tree.lower(identity(tree, 2), "tree", pa.string()).values.to_pylist() == ["None", "None"]


def test_several_arguments_come_apart_and_none_are_none():
    pairs = pa.array(
        [{"0": 1, "1": "a"}, None, {"0": None, "1": "b"}], pa.struct([("0", pa.int64()), ("1", pa.string())])
    )
    every = kernel("every", Any)
    found = every.lower(lifted(every, pairs), "every", pa.string()).values[0].as_py()
    assert found == str(((1, "a"), (None, None), (None, "b")))
    assert every.lower(lifted(every, None), "every", pa.string()).values[0].as_py() == "((), (), ())"


def test_a_single_struct_stays_whole():
    latest = kernel("latest", USER["latest"])
    values = pa.array([{"a": 1}, None, {"a": 2}])
    found = latest.lower(lifted(latest, values), "latest", pa.string()).values[0].as_py()
    assert found == "[{'a': 1}, None, {'a': 2}]"


def test_what_goes_wrong_names_the_aggregate_and_the_method():
    broken = kernel("broken", Broken)
    partials = lifted(broken, pa.array([1, None, 3]))
    with pytest.raises(AggregateError, match="aggregate 'broken': add failed: TypeError: unsupported"):
        broken.lower(partials, "broken", pa.int64())
    fine = lifted(broken, pa.array([1, 2, 3]))
    with pytest.raises(AggregateError, match="aggregate 'broken': finish failed: Arrow"):
        broken.lower(fine, "broken", pa.string())
    with pytest.raises(AggregateError, match="unknown aggregate 'brokn'; known are: broken"):
        kernel_for(Partial("user", "x", pa.int64(), user="brokn"), {"broken": Broken})
    with pytest.raises(AggregateError, match="aggregate 'int' has no init and no add and no finish"):
        kernel("int", int)


class Local:
    def init(self):
        return lambda: None

    def add(self, state, value):
        return state

    def merge(self, state, other):
        return state

    def finish(self, state):
        return None


def test_a_state_that_is_not_plain_is_the_users_error_with_three_ways_out():
    local = kernel("local", Local)
    with pytest.raises(AggregateError) as refused:
        to_arrow(local, lifted(local, pa.array([1, 2, 3])))
    for part in (
        "aggregate 'local'",
        "builtins.function",
        "plain values",
        "dump(state) and load(plain)",
        "state='pickle'",
    ):
        assert part in str(refused.value)


class Pickled(Local):
    state = "pickle"


def test_a_state_that_cannot_be_pickled_is_the_users_error():
    local = kernel("local", Pickled)
    with pytest.raises(AggregateError, match="aggregate 'local': its state cannot be pickled"):
        to_arrow(local, lifted(local, pa.array([1, 2, 3])))


def test_kept_rows_come_back_from_blocks():
    broken = kernel("broken", Broken)
    partials = from_arrow(broken, to_arrow(broken, lifted(broken, pa.array([1, 2, 3]))))
    assert broken.lower(partials, "broken", pa.int64()).values.to_pylist() == [6]
