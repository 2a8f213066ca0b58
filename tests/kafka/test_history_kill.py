"""A job that reads a history and then Kafka, and writes Kafka, is killed on both sides of the seam: every row is there once."""

from __future__ import annotations

import json
import os
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from .broker import Broker
from .kill_again import kill_again_and_again
from .killed_answers import Rows, last_answer, last_window, windows_of_20_seconds

KILLS = int(os.environ.get("KILLS", "6"))
FIRST, UNTIL, LAST = datetime(2026, 1, 1, tzinfo=UTC), 240, 400
"""The first event, and seconds after it the seam and the end; two events in a second. The job knows the seam."""

FILES = 4


@pytest.mark.slow
@pytest.mark.parametrize("same_times", [False, True], ids=["files in their order", "files of one instant"])
def test_kills_on_both_sides_of_the_seam_lose_nothing_and_repeat_nothing(
    broker: Broker, tmp_path: Path, same_times: bool
) -> None:
    _write_history(tmp_path / "lake", same_times)
    source, sums = broker.topic(1, retention_ms="-1"), broker.topic(2)
    now = broker.topic(1, cleanup_policy="compact")
    broker.send(source, map(_message, range(2 * (UNTIL - 30), 2 * LAST)))
    given = [broker.address, source, sums, now, str(tmp_path)]
    kill_again_and_again("killed_history_job.py", given, tmp_path, KILLS)
    sent = [json.loads(message.value()) for message in broker.committed(sums)]
    rows = Counter((row["window_end"], row["card"], row["total"], row["n"]) for row in sent)
    expected = _expected()
    lost, twice = (expected - rows).total(), (rows - expected).total()
    print(f"{KILLS} kills: {rows.total():,} rows, {lost} lost, {twice} twice or wrong")
    assert rows == expected
    assert last_answer(broker, now) == last_window(expected)


def _event(number: int) -> tuple[datetime, str, int]:
    return FIRST + timedelta(seconds=number // 2), f"c{(number * 7) % 5}", number


def _message(number: int) -> dict[str, object]:
    time, card, amount = _event(number)
    value = json.dumps({"card": card, "amount": amount, "ts": f"{time:%Y-%m-%d %H:%M:%S}"})
    return {"value": value, "timestamp": int(time.timestamp() * 1000)}


def _write_history(folder: Path, same_times: bool) -> None:
    """Files that end a little after the seam. Of files of one instant the names tell the order."""
    folder.mkdir()
    events = 2 * (UNTIL + 6)
    for number in range(FILES):
        times, cards, amounts = zip(
            *map(_event, range(events * number // FILES, events * (number + 1) // FILES)), strict=True
        )
        name = f"{number:02}" if same_times else f"{(number * 3) % FILES:02}-{number}"
        columns = {"ts": pa.array(times, pa.timestamp("us", "UTC")), "card": cards, "amount": amounts}
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")
        os.utime(folder / f"{name}.parquet", (1e9 + (0 if same_times else number),) * 2)


def _expected() -> Rows:
    events = [(time.replace(tzinfo=None), card, amount) for time, card, amount in map(_event, range(2 * LAST))]
    given = pa.table(list(map(pa.array, zip(*events, strict=True))), ["ts", "card", "amount"])
    return windows_of_20_seconds(given, FIRST + timedelta(seconds=LAST))
