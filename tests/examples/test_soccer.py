"""The soccer challenge: what the queries find is what happened in the game, in replay and on Spark."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "soccer"
SECONDS = 20


@pytest.fixture(scope="module")
def soccer() -> Any:
    """The modules of the example, which import each other by their names."""
    names = ("compare", "functions", "game", "picture", "queries", "run")
    sys.path.insert(0, str(EXAMPLE))
    try:
        yield {name: __import__(name) for name in names}
    finally:
        sys.path.remove(str(EXAMPLE))
        for name in names:
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def answers(soccer: Any) -> Any:
    run, game = soccer["run"], soccer["game"].Game(SECONDS)
    readings = game.readings(0, SECONDS)
    return game, readings, run.replayed(readings, run.queries() | run.HITS, seconds_a_batch=7)


def test_answers_are_what_happened(soccer: Any, answers: Any, tmp_path: Path) -> None:
    game, readings, found = answers
    figures = soccer["compare"].compared(game, found)
    assert readings.num_rows == 15_600 * SECONDS
    assert figures["hits_found"] > 3
    assert [figures[f"{what}_{how}"] for what in ("hits", "shots") for how in ("missed", "made_up")] == [0, 0, 0, 0]
    assert figures["share_off"] < 0.01
    assert figures["metres_off"] < 0.01
    soccer["picture"].draw(found, tmp_path / "game.png")
    assert (tmp_path / "game.png").stat().st_size > 10_000


@pytest.mark.parametrize("grid", ["64x100", "8x13"])
def test_heat_maps_are_those_of_numpy(soccer: Any, answers: Any, grid: str) -> None:
    _, readings, found = answers
    told = soccer["compare"].found_map(found[f"map_{grid}_game"])
    last = soccer["compare"].seconds_of(found["running_game"]["window_end"]).max()
    times = soccer["compare"].seconds_of(readings["ts"])
    assert told == soccer["compare"].true_map(readings.filter(times < last), *soccer["queries"].GRIDS[grid])


@pytest.mark.slow
def test_spark_answers_as_replay_does(soccer: Any, spark: Any, tmp_path: Path) -> None:
    run, game = soccer["run"], soccer["game"].Game(SECONDS)
    game.write(tmp_path / "readings")
    asked = run.queries() | run.HITS
    asked = {name: asked[name] for name in ("hits", "shots", "possession_game", "running_game", "map_8x13_game")}
    found = run.on_spark(tmp_path, asked, spark, files_a_batch=1)
    expected = run.replayed(game.readings(0, SECONDS), asked)
    for name in asked:
        rows, wanted = (sorted(map(repr, table.to_pylist())) for table in (found[name], expected[name]))
        assert rows == wanted, name
