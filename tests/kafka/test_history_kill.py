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

KILLS = int(os.environ.get("KILLS", "6"))
FIRST, UNTIL, LAST = datetime(2026, 1, 1, tzinfo=UTC), 240, 400
"""The first event, and seconds after it the seam and the end; two events in a second."""

FILES = 4
Rows = Counter[tuple[str, str, int, int]]


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
    assert _answer(broker, now) == _last_window(expected)


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
    """Every window by itself, from its events."""
    counted: dict[tuple[str, str], list[int]] = {}
    for number in range(2 * LAST):
        time, card, amount = _event(number)
        first = time - timedelta(seconds=time.second % 2) + timedelta(seconds=2)
        for end in (first + timedelta(seconds=2 * step) for step in range(10)):
            counted.setdefault((f"{end:%Y-%m-%dT%H:%M:%S.000Z}", card), []).append(amount)
    return Counter((end, card, sum(amounts), len(amounts)) for (end, card), amounts in counted.items())


def _answer(broker: Broker, topic: str) -> dict[bytes, dict[str, object]]:
    answer: dict[bytes, dict[str, object]] = {}
    for message in broker.committed(topic):
        if message.value() is None:
            answer.pop(message.key(), None)
        else:
            answer[message.key()] = json.loads(message.value())
    return answer


def _last_window(expected: Rows) -> dict[bytes, dict[str, object]]:
    last = max(end for end, *_ in expected)
    return {card.encode(): {"card": card, "n": n, "total": total} for end, card, total, n in expected if end == last}
