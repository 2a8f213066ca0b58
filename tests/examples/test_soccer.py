"""The soccer challenge: what the queries find is what happened in the game, in replay and on Spark."""

from __future__ import annotations

import json
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "soccer"
SECONDS = 20


@pytest.fixture(scope="module")
def soccer() -> Any:
    """The modules of the example, which import each other by their names."""
    names = ("board", "compare", "functions", "game", "live", "picture", "queries", "run", "runners")
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


def test_interruptions_are_when_the_ball_is_outside(soccer: Any) -> None:
    """By the sensors' own clock, and players stay on the pitch: a game of four minutes, as only the ball tells it."""
    game = soccer["game"]
    played = game.Game(240, seed=5)
    told = played.truth.interruptions
    assert len(told) > 3 and {len(shot) for shot in played.truth.shots} == {2}
    for begin, end in told[:4]:
        readings = played.readings(int(begin) - 1, int(end) + 2)
        own = readings.filter(pc.equal(readings["sid"], 4))
        at = (own["ps"].to_numpy() - game.KICK_OFF_PS) / 1e12
        assert at == pytest.approx(soccer["compare"].seconds_of(own["ts"]))
        x, y = own["x"].to_numpy() / 1000, own["y"].to_numpy() / 1000
        outside = (x < 0) | (x > game.WIDTH) | (np.abs(y) > game.HALF)
        assert outside[(at > begin + 0.01) & (at < end - 0.01)].all() and not outside[at < begin - 0.01].any()
        assert not outside[(at > end + 0.01) & (at < end + 0.3)].any()
        feet = readings.filter(pc.greater_equal(readings["sid"], game.FEET))
        assert pc.min(feet["x"]).as_py() > 0 and pc.max(feet["x"]).as_py() < 1000 * game.WIDTH


@pytest.mark.parametrize("grid", ["64x100", "8x13"])
def test_heat_maps_are_those_of_numpy(soccer: Any, answers: Any, grid: str) -> None:
    _, readings, found = answers
    told = soccer["compare"].found_map(found[f"map_{grid}_game"])
    last = soccer["compare"].seconds_of(found["running_game"]["window_end"]).max()
    times = soccer["compare"].seconds_of(readings["ts"])
    assert told == soccer["compare"].true_map(readings.filter(times < last), *soccer["queries"].GRIDS[grid])


def test_the_page_is_told_what_the_answers_are(soccer: Any, answers: Any) -> None:
    """In pieces of a fifth of a second, first all that there is and then what is new: together what replay gives."""
    game, _, found = answers
    page = soccer["live"].Page(0, pace=1e9)
    try:
        with urllib.request.urlopen(page.address) as shown:
            assert b"<canvas" in shown.read()
        events = _events(page.address)
        first = next(events)
        assert first["newest"] == 0 and first["shots"] == [] and set(map(len, first["maps"].values())) == {0}
        soccer["live"].play(game, page)
        page.publish(soccer["compare"].compared(game, page.board.answers()))
        told, later = list(_until_the_end(events)), next(_events(page.address))
    finally:
        page.close()
    assert told[-1]["newest"] == later["newest"] == pytest.approx(SECONDS - 0.1)
    assert told[-1]["end"]["hits_found"] == found["hits"].num_rows == later["hits"]
    assert [told[-1]["end"][f"{what}_{how}"] for what in ("hits", "shots") for how in ("missed", "made_up")] == [0] * 4
    for name in ("64x100_game", "8x13_1"):
        cells = {(p, x, y): n for event in told for p, x, y, n in event["maps"].get(name, [])}
        held = {cell: n for cell, n in cells.items() if n}
        assert held == {(p, x, y): n for p, x, y, n in later["maps"][name]}
        assert held == soccer["compare"].found_map(found[f"map_{name}"])
    shares = found["possession_game"].sort_by("window_end")["share_of_a"].to_pylist()
    assert [share for event in told for _, share, _ in event["course"]] == shares == [c[1] for c in later["course"]]
    assert later["possession"]["game"] == shares[-1]
    frames = [frame for event in told for frame in event["frames"]]
    instants = [at for at, _ in frames]
    assert instants == sorted(set(instants)) and len(frames) == 10 * SECONDS - 1
    for at, places in frames[5::40]:
        for player in (0, 9):
            assert places[player] == pytest.approx(game.where(player, at - 0.05), abs=0.2)


def _events(address: str) -> Iterator[dict[str, Any]]:
    """What a page is sent."""
    with urllib.request.urlopen(address + "board", timeout=30) as lines:
        for line in lines:
            if line.startswith(b"data: "):
                yield json.loads(line[6:])


def _until_the_end(events: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for event in events:
        yield event
        if event["end"]:
            return


@pytest.mark.slow
def test_a_job_is_played_on_the_page(soccer: Any, spark: Any, tmp_path: Path) -> None:
    game, page = soccer["game"].Game(SECONDS), soccer["live"].Page(0, pace=4)
    try:
        soccer["live"].play_on_spark(game, page, tmp_path, spark)
        figures = soccer["compare"].compared(game, page.board.answers())
    finally:
        page.close()
    assert [figures[f"{what}_{how}"] for what in ("hits", "shots") for how in ("missed", "made_up")] == [0] * 4
    assert figures["share_off"] < 0.01 and figures["metres_off"] < 0.01
    assert page.newest > SECONDS - 1.5


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
