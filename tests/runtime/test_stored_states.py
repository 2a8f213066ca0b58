"""Users' states in a checkpoint: plain by themselves, by `dump` and `load`, and as pickles only where that was asked for."""

from __future__ import annotations

import ast
import pickle
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import windrow
from windrow.errors import AggregateError, QueryError, SettingsError, StateError
from windrow.kernels import from_arrow, identity, kernel_for, to_arrow
from windrow.local.replay import Replay
from windrow.plan.nodes.aggregates import Partial
from windrow.runtime.shard import Shard
from windrow.storage.columns import decode, encode

SOURCES = Path(windrow.__file__).parent
RAN: list[str] = []


def run(what: str) -> None:
    RAN.append(what)


class Evil:
    """A pickle of it runs code when it is read."""

    def __reduce__(self):
        return run, ("ran",)


class Nested:
    """Keeps a bit of everything that is plain."""

    returns = "STRING"

    def init(self):
        return {"seen": set(), "sums": [0, Decimal(0)], "last": None, "held": np.zeros(2)}

    def add(self, state, value):
        state["seen"].add(value)
        state["sums"] = [state["sums"][0] + 2**70 * value, state["sums"][1] + Decimal(value)]
        state["last"] = (datetime(2024, 1, value), b"x")
        state["held"][1] += value

    def merge(self, state, other):
        state["seen"] |= other["seen"]
        state["sums"] = [a + b for a, b in zip(state["sums"], other["sums"])]
        state["last"] = other["last"] or state["last"]
        state["held"] = state["held"] + other["held"]

    def finish(self, state):
        return f"{sorted(state['seen'])} {state['sums']} {state['last']} {state['held'].tolist()}"


class Mean:
    """A fraction is not plain; this one says how it is stored."""

    returns = "STRING"

    def init(self):
        return Fraction(0)

    def add(self, state, value):
        return state + Fraction(value, 3)

    def merge(self, state, other):
        return state + other

    def finish(self, state):
        return str(state)

    def dump(self, state):
        return state.numerator, state.denominator

    def load(self, plain):
        return Fraction(*plain)


class Undeclared:
    returns = "STRING"
    init, add, merge, finish = Mean.init, Mean.add, Mean.merge, Mean.finish


class Wished(Undeclared):
    state = "pickle"


EVENTS = pa.table({"ts": pa.array([1, 2, 7, 11, 16, 22], pa.timestamp("s", tz="UTC")), "x": [1, 2, 3, 4, 5, 6]})
TEXT = "SELECT MINE(x) AS mine FROM events [RANGE 10 SECONDS SLIDE 5 SECONDS]"


def reopened(code: type, states: dict | None = None) -> list:
    """The answers of a shard that is opened again from what it stored after every event."""
    replay = Replay(TEXT, events=EVENTS, aggregates={"mine": code}, states=states)
    found = []
    for i in range(EVENTS.num_rows):
        found += [row for table in replay.step(EVENTS.slice(i, 1)) for row in table["mine"].to_pylist()]
        replay.shard = Shard(replay.plan, replay.blocks, replay.shard.save())
    return found


@pytest.mark.parametrize(
    ("code", "states"), [(Nested, None), (Mean, None), (Wished, None), (Undeclared, {"mine": "pickle"})]
)
def test_a_state_comes_back_from_the_checkpoint_as_it_was(code, states):
    whole = windrow.replay(TEXT, events=EVENTS, aggregates={"mine": code}, states=states)["mine"].to_pylist()
    assert len(whole) == 4
    assert reopened(code, states) == whole


def test_a_class_whose_states_are_not_plain_is_refused_before_anything_runs():
    with pytest.raises(AggregateError) as refused:
        Replay(TEXT, events=EVENTS, aggregates={"mine": Undeclared})
    for part in ("aggregate 'mine'", "fractions.Fraction", "dump(state)", "state='pickle'"):
        assert part in str(refused.value)
    half = type("Half", (Undeclared,), {"dump": Mean.dump})
    with pytest.raises(AggregateError, match="has dump and no load"):
        Replay(TEXT, events=EVENTS, aggregates={"mine": half})
    with pytest.raises(SettingsError, match="state='pickel' is none of 'plain' and 'pickle'"):
        Replay(TEXT, events=EVENTS, aggregates={"mine": Mean}, states={"mine": "pickel"})
    with pytest.raises(SettingsError, match="states names 'other'"):
        Replay(TEXT, events=EVENTS, aggregates={"mine": Mean}, states={"other": "pickle"})


def test_a_class_may_take_back_its_wish_where_it_is_registered():
    with pytest.raises(AggregateError, match="cannot be stored"):
        Replay(TEXT, events=EVENTS, aggregates={"mine": Wished}, states={"mine": "plain"})


def test_a_dump_that_fails_or_is_not_plain_is_blamed():
    kernel = kernel_for(
        Partial("user", "x", pa.int64(), user="m"), {"m": type("Bad", (Mean,), {"dump": lambda s, x: x})}
    )
    partials = identity(kernel, 1)
    partials["state"][0] = Fraction(1)
    with pytest.raises(AggregateError, match=r"aggregate 'm': what dump gives holds a fractions\.Fraction"):
        to_arrow(kernel, partials)
    kernel = kernel_for(Partial("user", "x", pa.int64(), user="m"), {"m": type("Bad", (Mean,), {"dump": lambda s: 1})})
    with pytest.raises(AggregateError, match="aggregate 'm': dump failed: TypeError"):
        to_arrow(kernel, partials)


@pytest.mark.parametrize("code", [Nested, Mean])
def test_a_pickle_that_was_planted_in_the_state_is_refused_and_does_not_run(code):
    replay = Replay(TEXT, events=EVENTS, aggregates={"mine": code})
    replay.step(EVENTS.slice(0, 3))
    snapshot, planted = replay.shard.save(), 0
    RAN.clear()
    for (space, number), block in list(replay.blocks._blocks.items()):
        batch = decode(block)
        columns = dict(zip(batch.schema.names, batch.columns))
        for name in [name for name in columns if name.endswith(".state")]:
            columns[name] = pa.array([pickle.dumps(Evil())] * batch.num_rows, pa.binary())
            planted += 1
        replay.blocks.write(space, number, encode(columns))
    assert planted
    with pytest.raises(StateError, match="aggregate 'mine': the state that was stored cannot be read"):
        opened = Replay(TEXT, events=EVENTS, aggregates={"mine": code}, blocks=replay.blocks)
        opened.shard = Shard(opened.plan, replay.blocks, snapshot)
        for i in range(3, EVENTS.num_rows):
            opened.step(EVENTS.slice(i, 1))
    assert not RAN
    assert pickle.loads(pickle.dumps(Evil())) is None and RAN.pop() == "ran"  # it would have


def test_filled_series_and_rows_are_stored_in_columns():
    for partial, user in [
        (Partial("user_rows", "x", pa.int64(), user="m"), {"m": Undeclared}),
        (Partial("user", "x", pa.int64(), user="m"), {"m": type("Rows", (), {"init": int, "add": int, "finish": int})}),
    ]:
        kernel = kernel_for(partial, user)
        assert [pa.types.is_list(field.type) for field in kernel.fields] == [True]
        assert from_arrow(kernel, to_arrow(kernel, identity(kernel, 2)))["rows"].tolist() == [None, None]


class Points:
    """The simplest of clusterings: one cluster of all points, in an object of its own."""

    class Held:
        def __init__(self, points):
            self.points = points

    def init(self, parameters):
        return self.Held([])

    def add(self, summary, point):
        summary.points.append(point)

    def merge(self, summary, other):
        summary.points += other.points

    def copy(self, summary):
        return self.Held(list(summary.points))

    def report(self, summary):
        return [(np.mean(summary.points, axis=0), 0.0, len(summary.points))] if summary.points else []


class Declared(Points):
    def dump(self, summary):
        return summary.points

    def load(self, plain):
        return self.Held(plain)


def test_summaries_of_clusterings_are_stored_as_states_are():
    spots = pa.table({"ts": EVENTS["ts"], "x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
    text = "SELECT COUNT(cid) AS n FROM spots [RANGE 10 SECONDS SLIDE 5 SECONDS] CLUSTER BY x AS cid USING MINE()"
    with pytest.raises(QueryError, match=r"clustering MINE: its state holds a .*Points.Held.*dump\(state\)"):
        windrow.replay(text, spots=spots, clusterings={"mine": Points})
    told = windrow.replay(text, spots=spots, clusterings={"mine": Declared}, batch_rows=1)["n"].to_pylist()
    assert told == [2, 3, 2, 2]
    assert (
        windrow.replay(text, spots=spots, clusterings={"mine": Points}, states={"mine": "pickle"})["n"].to_pylist()
        == told
    )


def test_pickles_are_read_in_one_place_only():
    """Whoever reads a pickle runs what its writer wished: that is where the user has asked for it, and nowhere else."""
    importing, reading = set(), set()
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.split(".")[0] in ("pickle", "cloudpickle", "dill", "shelve", "marshal") for name in names):
                importing.add(path.relative_to(SOURCES).as_posix())
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "pickled":
                reading.add(path.relative_to(SOURCES).as_posix())
    assert importing == {"kernels/pickled.py"}
    assert reading == {"kernels/state_codec.py"}
