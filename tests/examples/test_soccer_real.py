"""Running and heat maps of real positions, where they are: what numpy finds, second by second."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "soccer"
ROWS = 12_000
LIMITS = {"standing": 1, "trot": 11, "low": 14, "medium": 17, "high": 24}


@pytest.fixture
def real() -> Any:
    sys.path.insert(0, str(EXAMPLE))
    try:
        import real

        yield real
    finally:
        sys.path.remove(str(EXAMPLE))
        for name in ("real", "queries", "compare", "game", "picture", "runners"):
            sys.modules.pop(name, None)


def made_up() -> pa.Table:
    """Twelve players who run about, 20 readings a second of each."""
    draw, players = np.random.default_rng(2), 12
    steps = ROWS // players
    times = 1_383_858_313_000_000 + np.repeat(np.arange(steps) * 50_000, players) + np.tile(np.arange(players), steps)
    x, y = (np.cumsum(draw.normal(0, 0.2, (steps, players)), axis=0).ravel() + 40 for _ in range(2))
    columns = {"player": pa.array(np.tile(np.arange(players), steps), pa.int32()), "x": x, "y": y}
    return pa.table(
        {"ts": pa.array(times).cast(pa.timestamp("us", tz="UTC")), **columns, "speed": draw.gamma(2, 2, ROWS)}
    )


@pytest.mark.parametrize("kind", ["made up", "real"])
def test_running_and_maps_are_those_of_numpy(real: Any, kind: str) -> None:
    if kind == "real" and not real.REAL.exists():
        pytest.skip("the positions are not here")
    readings = made_up() if kind == "made up" else real.positions().slice(0, ROWS)
    answers = real.replayed(readings)
    rows = readings.to_pydict()
    seconds = (readings["ts"].cast(pa.int64()).to_numpy() // 1_000_000).tolist()
    own: dict[tuple[int, int], list[int]] = defaultdict(list)
    for place, key in enumerate(zip(rows["player"], seconds)):
        own[key].append(place)
    took, metres = Counter[tuple[int, str]](), Counter[tuple[int, str]]()
    for (player, _), places in own.items():
        kmh = float(np.mean([rows["speed"][place] for place in places])) * 3.6
        kind_of = next((name for name, limit in LIMITS.items() if kmh <= limit), "sprint")
        first, last = places[0], places[-1]
        took[player, kind_of] += 1
        metres[player, kind_of] += np.hypot(rows["x"][last] - rows["x"][first], rows["y"][last] - rows["y"][first])  # type: ignore[assignment]
    game = answers["running_game"].to_pylist()
    end = max(row["window_end"] for row in game)
    found = {(row["player"], row["intensity"]): row for row in game if row["window_end"] == end}
    assert {key: row["seconds"] for key, row in found.items()} == took
    assert {key: row["metres"] for key, row in found.items()} == pytest.approx(dict(metres))

    cx = np.clip(np.floor(readings["y"].to_numpy() * 64 / real.WIDE), 0, 63).astype(int).tolist()
    cy = np.clip(np.floor(readings["x"].to_numpy() * 100 / real.LONG), 0, 99).astype(int).tolist()
    held: dict[tuple[int, int, int], int] = {}
    for row in answers["map_game"].to_pylist():
        cell = (row["player"], row["cx"], row["cy"])
        if row["op"] == "+":
            held[cell] = row["n"]
        elif held.get(cell) == row["n"]:
            del held[cell]
    assert held == Counter(zip(rows["player"], cx, cy))


def test_it_prints_and_draws(real: Any, tmp_path: Path) -> None:
    answers = real.replayed(made_up())
    real.draw(answers, tmp_path / "real.png")
    assert (tmp_path / "real.png").read_bytes()[1:4] == b"PNG"
