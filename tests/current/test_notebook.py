"""What notebooks show: answers as tables with nothing in them taken for markup, and one that changes as batches come."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from windrow.current.answer import Answer
from windrow.current.answers import Answers
from windrow.current.chart import MOST_LINES, lines_of
from windrow.current.limits import Limits
from windrow.current.shape import NEWEST_WINDOW, Shape
from windrow.current.widget import watch_answer

TIME = pa.timestamp("us", tz="UTC")
SCHEMA = pa.schema({"window_start": TIME, "window_end": TIME, "k": pa.string(), "n": pa.float64()})


def window(end: int) -> pa.Table:
    return pa.table([[end - 5], [end], ["<script>"], [1.5 * end]], schema=SCHEMA)


def test_an_answer_shows_itself_with_its_batch_and_clock():
    shown = Answer("q", window(10), 3, 12, 1, cut=7)._repr_html_()
    assert (
        "&lt;script&gt;" in shown and "<script>" not in shown and "7 more are not kept" in shown and "batch 3" in shown
    )


def test_a_watched_answer_follows_the_batches_until_it_is_closed():
    pytest.importorskip("anywidget", reason="anywidget is not installed: pip install 'windrow[notebook]'")
    answers = Answers()
    answers.declare("q", Shape(NEWEST_WINDOW, ("window_start", "window_end")), SCHEMA, Limits(), asked=True)
    widget = watch_answer(answers, "q")
    for batch in range(2):
        answers.take("q", window(10 + batch), batch)
        answers.commit(["q"], batch, 12)
    assert json.loads(widget.told)["rows"][0][3] == 16.5 and "batch 1" in widget.told
    widget.close()
    answers.take("q", window(20), 2)
    answers.commit(["q"], 2, 12)
    assert "batch 1" in widget.told


def test_windows_are_drawn_as_lines_of_the_largest_groups():
    """The first number over the ends of the windows; what is no number leaves a gap; one window makes no line."""
    answers = Answers()
    answers.declare("q", Shape(NEWEST_WINDOW, ("window_start", "window_end")), SCHEMA, Limits(), asked=True)
    groups = [f"g{number}" for number in range(9)]
    for batch in range(3):
        end = (batch + 1) * 1_000_000
        numbers = [float("nan") if (batch, number) == (1, 8) else number + batch / 10 for number in range(9)]
        answers.take("q", pa.table([[end - 5] * 9, [end] * 9, groups, numbers], schema=SCHEMA), batch)
        answers.commit(["q"], batch, end)
        if batch == 0:
            assert lines_of(answers.kept("q")) is None
    drawn = lines_of(answers.kept("q"))
    assert drawn is not None and drawn["value"] == "n"
    assert [line["name"] for line in drawn["lines"]] == groups[: -MOST_LINES - 1 : -1]
    assert drawn["lines"][0]["points"] == [(1000, 8.0), (3000, 8.2)]
    assert drawn["lines"][1]["points"] == [(1000, 7.0), (2000, 7.1), (3000, 7.2)]


def test_rows_that_only_a_number_tells_apart_are_not_drawn_as_one_line():
    answers = Answers()
    schema = pa.schema({"window_start": TIME, "window_end": TIME, "seg": pa.int64(), "n": pa.int64()})
    answers.declare("q", Shape(NEWEST_WINDOW, ("window_start", "window_end")), schema, Limits(), asked=True)
    for batch in range(2):
        end = (batch + 1) * 1_000_000
        answers.take("q", pa.table([[0, 0], [end, end], [1, 2], [batch, 7]], schema=schema), batch)
        answers.commit(["q"], batch, end)
    assert lines_of(answers.kept("q")) is None
