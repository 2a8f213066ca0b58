"""A user's aggregate that no query could call, or whose answers have no type, is refused when it is registered."""

from __future__ import annotations

import pyarrow as pa
import pytest

import windrow
from windrow.errors import SettingsError

EVENTS = pa.table({"ts": pa.array([1, 2], pa.timestamp("s", tz="UTC")), "x": [1.0, 2.0]})


class Total:
    """A sum."""

    def init(self):
        return 0.0

    def add(self, state, value):
        return state + value

    def finish(self, state):
        return state


def replayed(name: str, aggregate: type = Total) -> list:
    text = f"SELECT {name}(x) AS a FROM events [RANGE 5 SECONDS SLIDE 5 SECONDS]"
    return windrow.replay(text, events=EVENTS, flush=True, aggregates={name: aggregate})["a"].to_pylist()


def test_any_other_name_may_be_called():
    assert replayed("total") == replayed("My_Total") == [3.0]


@pytest.mark.parametrize("name", ["sum", "Median", "mad", "array_agg", "filled_slope", "recurring", "center"])
def test_the_name_of_an_aggregate_is_taken(name: str):
    with pytest.raises(SettingsError, match=f"{name.upper()} is a function already: give the aggregate another name"):
        replayed(name)


@pytest.mark.parametrize("name", ["upper", "round", "nvl", "to_timestamp", "coalesce"])
def test_the_name_of_a_function_of_rows_is_taken(name: str):
    with pytest.raises(SettingsError, match=f"{name.upper()} is a function already"):
        replayed(name)


@pytest.mark.parametrize("name", ["", "my total", "a.b", "1st", "a)"])
def test_a_name_that_cannot_be_called_is_refused(name: str):
    with pytest.raises(SettingsError, match="an aggregate cannot be called"):
        windrow.replay("SELECT x FROM events [RANGE 5 SECONDS]", events=EVENTS, aggregates={name: Total})


@pytest.mark.parametrize("returns", ["NUMBR", "INT) + (1", "", "DECIMAL(99, 1)", "a INT, b INT", None, float, 7])
def test_a_result_of_no_type_is_refused(returns: object):
    with pytest.raises(SettingsError, match="aggregate 'total' cannot return"):
        replayed("total", type("Wrong", (Total,), {"returns": returns}))


def test_a_class_that_lacks_a_method_is_refused():
    with pytest.raises(SettingsError, match="aggregate 'total' lacks add, finish"):
        replayed("total", type("Half", (), {"init": lambda self: 0}))
