"""Answers are what their updates add up to, within their limits, whoever subscribes and whenever."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.current.answers import Answers
from windrow.current.limits import Limits, read_limits
from windrow.current.shape import ADDED_UP, LATEST_ROWS, NEWEST_WINDOW, Shape
from windrow.errors import AskError, SettingsError

TIME = pa.timestamp("us", tz="UTC")
WINDOWS = pa.schema({"window_start": TIME, "window_end": TIME, "k": pa.string(), "n": pa.float64()})
PLENTY = Limits()
CHANGES = pa.schema({"op": pa.string(), "time": TIME, "k": pa.string(), "n": pa.float64()})


def windows(*ends: int, groups: int = 2) -> pa.Table:
    rows = [(end - 10, end, f"k{g}", float(end * g)) for end in ends for g in range(groups)]
    return pa.table([list(column) for column in zip(*rows)], schema=WINDOWS)


def kept(shape: Shape, schema: pa.Schema, limits: Limits = PLENTY, **more: object) -> Answers:
    answers = Answers("e")
    answers.declare("q", shape, schema, limits, asked=True, **more)  # type: ignore[arg-type]
    return answers


OF_WINDOWS = Shape(NEWEST_WINDOW, ("window_start", "window_end"))
OF_CHANGES = Shape(ADDED_UP, ("op", "time"))


def test_nothing_is_shown_before_its_batch_is_committed():
    answers = kept(OF_WINDOWS, WINDOWS)
    assert len(answers.answer("q")) == 0 and answers.answer("q").version == 0
    answers.take("q", windows(10), 0)
    assert len(answers.answer("q")) == 0
    answers.commit(["q"], 0, 12)
    first = answers.answer("q")
    assert (len(first), first.batch, first.clock_us) == (2, 0, 12)
    answers.take("q", windows(20), 1)
    assert answers.answer("q") is first  # and a batch that fails is never seen
    answers.take("q", windows(20, 30), 1)
    answers.commit(["q"], 1, 31)
    assert set(answers.answer("q").table["window_end"].cast(pa.int64()).to_pylist()) == {30}
    answers.commit(["q"], 2, 35)
    assert (answers.answer("q").batch, answers.answer("q").clock_us, len(answers.answer("q"))) == (2, 35, 2)


def test_what_was_staged_for_a_batch_that_failed_is_not_taken_for_another():
    answers = kept(OF_WINDOWS, WINDOWS)
    answers.take("q", windows(10), 0)
    answers.commit(["q"], 1, 5)
    assert len(answers.answer("q")) == 0


@given(st.lists(st.lists(st.integers(1, 40), max_size=6), max_size=12), st.integers(1, 9), st.integers(1, 5))
def test_limits_hold_and_what_is_cut_is_said(batches, rows, groups):
    answers, newest = kept(OF_WINDOWS, WINDOWS, Limits(rows=rows, batches=3)), None
    for number, ends in enumerate(batches):
        later = sorted({(newest or 0) + end for end in ends})
        if later:
            answers.take("q", OF_WINDOWS.trimmed(windows(*later, groups=groups), Limits(rows=rows)), number)
            newest = later[-1]
        answers.commit(["q"], number, None)
        answer, own = answers.answer("q"), answers.kept("q")
        assert len(answer) + answer.cut == (groups if newest is not None else 0)
        assert len(answer) <= rows and len(own.updates) <= 3
        assert all(update.table.num_rows <= rows for update in own.updates)
        assert {end for end in answer.table["window_end"].cast(pa.int64()).to_pylist()} <= {newest}


class Kept:
    """Remembers answers as a checkpoint does."""

    def __init__(self) -> None:
        self.tables: dict[int, pa.Table] = {}

    def before(self, batch: int) -> pa.Table | None:
        older = [number for number in self.tables if number < batch]
        return self.tables[max(older)] if older else None

    def keep(self, answer: pa.Table, batch: int) -> None:
        self.tables[batch] = answer


@given(st.data(), st.lists(st.integers(0, 5), min_size=1, max_size=10))
def test_changes_add_up_also_over_restarts_and_batches_that_run_again(data, counts):
    home, there, restarted = Kept(), [], 0
    answers = kept(OF_CHANGES, CHANGES, home=home)
    for number, count in enumerate(counts):
        rows = []
        for _ in range(count):
            if there and data.draw(st.booleans()):
                row = there.pop(data.draw(st.integers(0, len(there) - 1)))
                rows.append(("-", number, *row))
            else:
                row = (
                    data.draw(st.sampled_from(["a", "b", None])),
                    data.draw(st.sampled_from([1.0, float("nan"), -0.0])),
                )
                there.append(row)
                rows.append(("+", number, *row))
        table = pa.table([list(c) for c in zip(*rows)], schema=CHANGES) if rows else CHANGES.empty_table()
        if data.draw(st.booleans()) and number:
            answers, restarted = kept(OF_CHANGES, CHANGES, home=home), number
        for _ in range(
            1 + data.draw(st.booleans()) * (restarted == number)
        ):  # the first after a restart may come again
            if restarted == number:
                answers = kept(OF_CHANGES, CHANGES, home=home)
            answers.take("q", table, number)
            answers.commit(["q"], number, None)
        found = [(row["k"], row["n"]) for row in answers.answer("q")]
        assert sorted(map(str, found)) == sorted(map(str, there)), number


def test_changes_from_the_middle_say_since_when():
    answers = kept(OF_CHANGES, CHANGES)
    answers.take("q", pa.table([["-", "+"], [1, 1], ["a", "b"], [1.0, 2.0]], schema=CHANGES), 7)
    answers.commit(["q"], 7, None)
    assert answers.answer("q").to_pylist() == [{"k": "b", "n": 2.0}] and answers.answer("q").since == 7


def test_latest_rows_are_the_last_that_came():
    answers = kept(Shape(LATEST_ROWS, ("window_start", "window_end")), WINDOWS, Limits(rows=3))
    for number, end in enumerate((10, 20)):
        answers.take("q", windows(end), number)
        answers.commit(["q"], number, None)
    assert answers.answer("q").table["window_end"].cast(pa.int64()).to_pylist() == [10, 20, 20]


def test_a_subscriber_gets_each_update_once_in_order_and_goes_on_from_a_batch():
    answers = kept(OF_WINDOWS, WINDOWS, Limits(batches=3))
    with answers.subscribe("q", since=-1) as all_of_it:
        for number in range(3):
            answers.take("q", windows(number * 10), number)
            answers.commit(["q"], number, None)
        assert [all_of_it.next(0).batch for _ in range(3)] == [0, 1, 2] and all_of_it.next(0) is None
    assert [update.batch for update in answers.kept("q").since(0)] == [1, 2]
    for number in range(3, 6):
        answers.take("q", windows(number * 10), number)
        answers.commit(["q"], number, None)
    assert [(update.batch, update.whole) for update in answers.kept("q").since(1)] == [(5, True)]
    assert [(update.batch, update.whole) for update in answers.kept("q").since(2)] == [
        (3, False),
        (4, False),
        (5, False),
    ]


def test_a_subscriber_that_does_not_read_is_told_so_and_holds_up_nobody():
    answers = kept(OF_WINDOWS, WINDOWS, Limits(batches=2))
    slow = answers.subscribe("q")
    for number in range(5):
        answers.take("q", windows(number * 10), number)
        answers.commit(["q"], number, None)
    assert answers.answer("q").batch == 4
    assert [slow.next(0).batch for _ in range(2)] == [0, 1]
    with pytest.raises(AskError, match="2 updates were not read"):
        slow.next(0)


def test_limits_are_whole_numbers():
    assert read_limits({"KEEPROWS": "7", "keepMB": "2"}) == Limits(7, 2 << 20)
    for wrong in ("0", "-1", "many", "1.5", "9999999999"):
        with pytest.raises(SettingsError, match="keepRows"):
            read_limits({"keepRows": wrong})
