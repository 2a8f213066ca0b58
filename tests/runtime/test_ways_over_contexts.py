"""GROUP BY runs on every maintenance over contexts, and gives what the chosen ones give."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

import windrow
from windrow.compile.choose_maintenance import NAMES
from windrow.runtime.time.fold import OVER_CONTEXTS

BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
ANY = "symbol, COUNT(*) AS n, SUM(volume) AS volume, MAX(price) AS top, FIRST(price) AS first, LAST(price) AS last"
REVERSIBLE = "symbol, COUNT(*) AS n, SUM(volume) AS volume, SUM(price) AS total"


def ticks() -> pa.Table:
    """Groups that come and go, seconds without any event, and a silence longer than the windows."""
    random = np.random.default_rng(3)
    seconds = np.sort(np.concatenate([random.integers(0, 200, 300), random.integers(400, 460, 80)]))
    return pa.table(
        {
            "ts": [BEGIN + timedelta(seconds=int(second)) for second in seconds],
            "symbol": [f"S{int(second) // 50 + int(random.integers(0, 3))}" for second in seconds],
            "price": random.integers(1, 90, len(seconds)) / 4,
            "volume": random.integers(1, 9, len(seconds)),
        }
    )


@pytest.mark.one_in(4)
@pytest.mark.parametrize("way", OVER_CONTEXTS)
@pytest.mark.parametrize(
    "window", ["RANGE 21 SECONDS SLIDE 1 SECOND", "RANGE 16 SECONDS SLIDE 3 SECONDS OFFSET 1 SECOND"]
)
@pytest.mark.parametrize("batch_rows", [None, 17])
def test_group_by_over_contexts(way, window, batch_rows):
    columns = REVERSIBLE if way == "exclude" else ANY
    query = f"SELECT {columns} FROM ticks [{window}] GROUP BY symbol"
    options = {"ticks": ticks(), "time": "ts", "batch_rows": batch_rows, "flush": True}
    chosen = windrow.replay(query, **options)
    forced = windrow.replay(query, choose={"maintenance": NAMES.get(way, way)}, **options)
    order = [("window_end", "ascending"), ("symbol", "ascending")]
    assert len(forced) > 200 and forced.sort_by(order).equals(chosen.sort_by(order))
