"""Replay and the oracle side by side, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from windrow.local.replay import Replay
from windrow.runtime.payload import FLUSH, Payload
from windrow.runtime.shard import Outcome

from .judge import Oracle, by_place, plain_rows, same, shown_start
from .streams import Stream


@dataclass(frozen=True)
class Case:
    """An aggregate as Windrow and as DuckDB are asked for it; floats must agree up to `relative`.

    `read` makes of DuckDB's answer the value it stands for, where DuckDB has no type for it.
    """

    asked: str
    oracle: str
    relative: float = 0.0
    read: Callable[[Any], Any] = lambda answer: answer


def like(text: str, relative: float = 0.0) -> Case:
    return Case(text, text, relative)


def query(cases: Sequence[Case], stream: Stream, keys: Sequence[str] = (), where: str | None = None) -> str:
    selected = [*keys, *(f"{case.asked} AS a{i}" for i, case in enumerate(cases))]
    text = f"SELECT {', '.join(selected)} FROM ticks {stream.window}"
    text += f" WHERE {where}" if where else ""
    return text + (f" GROUP BY {', '.join(keys)}" if keys else "")


def expected(
    oracle: Oracle, cases: Sequence[Case], stream: Stream, ends: set[int], keys: Sequence[str] = (), where: str = "true"
) -> list[dict]:
    """What DuckDB answers for the windows with `ends`."""
    selected = [*keys, *(f"{case.oracle} AS a{i}" for i, case in enumerate(cases))]
    rows = oracle.grouped(", ".join(selected), keys, stream.window, sorted(ends), where)
    for row in rows:
        row |= {f"a{i}": case.read(row[f"a{i}"]) for i, case in enumerate(cases)}
    return rows


class Watched(Replay):
    """A replay that shows what its last batch gave."""

    outcome: Outcome

    def _finished(self, outcome: Outcome) -> list[pa.Table]:
        self.outcome = outcome
        return super()._finished(outcome)

    def flush(self) -> list[pa.Table]:
        return self._finished(self.shard.process([Payload(0, 0, 0, None, FLUSH, b"")]))


def check(cases: Sequence[Case], stream: Stream, keys: Sequence[str] = (), where: str | None = None) -> None:
    """Work off `stream` and hold each batch's answers, at once and no later, against the oracle."""
    events, verdict = stream.events, stream.judged()
    replay = Replay(query(cases, stream, keys, where), lateness=stream.lateness, ticks=events)
    oracle = Oracle(events, verdict.kept)
    for (start, size), ends in zip(stream.bounds, verdict.ends(stream.window, stream.times)):
        mine = rows_of(replay.step(events.slice(start, size)))
        agree(cases, mine, expected(oracle, cases, stream, ends, keys, where or "true"), keys, stream.window.range_us)


def agree(
    cases: Sequence[Case], mine: list[dict], theirs: list[dict], keys: Sequence[str], range_us: int | None
) -> None:
    found, wanted = by_place(mine, keys), by_place(theirs, keys)
    assert found.keys() == wanted.keys()
    for place, row in found.items():
        assert row["window_start"] == shown_start(range_us, row["window_end"])
        for i, case in enumerate(cases):
            ours, answer = row[f"a{i}"], wanted[place][f"a{i}"]
            assert same(ours, answer, case.relative), f"{case.asked} at {place}: {ours!r}, the oracle has {answer!r}"


def rows_of(tables: Sequence[pa.Table]) -> list[dict]:
    return [row for table in tables for row in plain_rows(table)]
