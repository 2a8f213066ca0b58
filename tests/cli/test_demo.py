"""The demo from its ticks to its last line."""

from __future__ import annotations

import io
from collections import deque
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from windrow.cli.demos.live_files import SECOND_US
from windrow.cli.demos.ticks.answers import Answers
from windrow.cli.demos.ticks.demo import TicksDemo, ticks_script
from windrow.cli.demos.ticks.market import SECTORS, Market
from windrow.cli.demos.ticks.screen import screen
from windrow.cli.main import app
from windrow.language import CreateSink, Insert, parse_script


def test_ticks_are_never_later_than_the_script_allows() -> None:
    market = Market(rate=1_000)
    newest = 0
    for begin in range(0, 10 * SECOND_US, SECOND_US):
        times = market.ticks(begin, begin + SECOND_US)["ts"].cast("int64").to_numpy()
        assert times.min() >= newest - SECOND_US
        newest = max(newest, int(times.max()))


def test_prices_walk_on_from_file_to_file() -> None:
    market = Market(rate=1_000, symbols=10)
    files = [market.ticks(begin, begin + SECOND_US) for begin in range(0, 5 * SECOND_US, SECOND_US)]
    prices = np.concatenate([file["price"].to_numpy() for file in files]).reshape(-1, 10)
    assert (abs(np.diff(np.log(prices), axis=0)) < 0.001).all()


def test_the_script_has_as_many_queries_as_are_told() -> None:
    """Each of another kind, or over another window, and each in a comment of its own number."""
    inserts = sum(isinstance(statement, Insert) for statement in parse_script(ticks_script()))
    assert f"{inserts} queries" in TicksDemo.headline and f"\n-- {inserts}: " in ticks_script()


def test_the_demo_shows_answers_and_ends_with_a_comparison(spark, tmp_path: Path) -> None:
    out = tmp_path / "demo-out"
    result = CliRunner().invoke(app, ["demo", "--seconds", "5", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "VWAP" in result.stdout
    assert "movers" in result.stdout
    assert result.stdout.count(" match, to ") == 6
    sinks = {statement.name for statement in parse_script(ticks_script()) if isinstance(statement, CreateSink)}
    left = {path.name for path in out.iterdir()}
    assert left >= {"ticks", "stocks", "ticks.sql", "vwap", "movers", "sectors", "levels", "averages", "smooth"}
    assert left - sinks == {"ticks", "stocks", "ticks.sql"}


@pytest.mark.parametrize("height", [24, 40])
def test_the_screen_fits_and_a_tall_one_has_every_query(tmp_path: Path, height: int) -> None:
    answers, now = Answers(tmp_path), datetime(2024, 1, 1, 9, 30, tzinfo=UTC)
    answers.window_end = now
    for number in range(100):
        symbol = f"S{number:02d}"
        answers.vwap[symbol] = deque([100.0 + number, 101.0 + number, 100.5 + number] * 4)
        answers.volatility[symbol] = {"low": 100.0 + number, "high": 399.25, "stddev": 12.345}
    answers.movers = [(f"M{number}", 0.5 - number / 4) for number in range(5)]
    answers.surges = [(f"V{number}", 1.5) for number in range(3)]
    answers.sectors = dict.fromkeys(SECTORS, 12_345_678_901.0)
    answers.turns.extend({"time": now, "symbol": "ABC", "way": "rises"} for _ in range(9))
    answers.alerts.extend({"time": now, "symbol": "ABC", "trades": 12} for _ in range(9))
    answers.market = {"trades": 300_000, "volume": 150_000_000, "turnover": 3.1e10}
    answers.medians = {"half": 350.0, "most": 2_280.0}
    rows = {f"movers_{number}_min": 1_234_567 for number in range(24)}
    figures = {"rows": rows, "rows_per_second": dict.fromkeys(rows, 100.0), "events": 123_456_789}
    figures |= {"events_per_second": 5_000.0, "delay": {"p50": 0.72, "p99": 1.04, "max": 1.2}}
    console = Console(file=io.StringIO(), width=80, height=height, color_system=None)
    with console.capture() as captured:
        console.print(screen(answers, figures, ["20 s to go; Ctrl-C ends it now"]))
    lines = captured.get().splitlines()
    assert len(lines) <= height - 1 and all(len(line) <= 80 for line in lines)
    assert "delay p50 0.72 s, p99 1.04 s" in captured.get() and "ABC 12 large" in captured.get()
    assert ("movers_23_min" in captured.get()) == (height == 40)


def test_the_demo_writes_over_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "is not empty" in result.stderr
