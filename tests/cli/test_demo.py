"""The demo from its ticks to its last line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from windrow.cli.demos.live_files import SECOND_US
from windrow.cli.demos.ticks.demo import ticks_script
from windrow.cli.demos.ticks.market import Market
from windrow.cli.main import app
from windrow.language import Insert, parse_script


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


def test_the_script_has_four_queries() -> None:
    assert sum(isinstance(statement, Insert) for statement in parse_script(ticks_script())) == 4


def test_the_demo_shows_answers_and_ends_with_a_comparison(spark, tmp_path: Path) -> None:
    out = tmp_path / "demo-out"
    result = CliRunner().invoke(app, ["demo", "--seconds", "5", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "VWAP" in result.stdout
    assert "movers" in result.stdout
    assert result.stdout.count(" match, to ") == 3
    assert {path.name for path in out.iterdir()} == {"ticks", "ticks.sql", "vwap", "movers", "volatility", "market"}


def test_the_demo_writes_over_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "is not empty" in result.stderr
