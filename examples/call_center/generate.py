"""Writes call records of a large call center into a folder, as Parquet files.

python examples/call_center/generate.py calls
python examples/call_center/generate.py calls --files 24 --rows 3600000 --rate 1000 --start 2024-01-01T00:00:00Z
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SCHEMA = pa.schema(
    [
        pa.field(name, kind, nullable=False)
        for name, kind in {
            "timestamp": pa.int64(),
            "instance": pa.int32(),
            "start": pa.int64(),
            "sessionId": pa.int32(),
            "serviceId": pa.int32(),
            "agentId": pa.int32(),
            "interactionLegId": pa.int32(),
            "alertingTime": pa.int32(),
            "busyTime": pa.int32(),
            "wrapUpTime": pa.int32(),
            "waitTime": pa.int32(),
            "direction": pa.int32(),
            "mediaId": pa.int32(),
            "helpTime": pa.int32(),
            "agentReleased": pa.bool_(),
            "mediaOutcome": pa.int32(),
            "finalSegment": pa.bool_(),
            "agentSite": pa.int32(),
            "callSite": pa.int32(),
            "availableTime": pa.int32(),
            "availableTimeByService": pa.int32(),
            "held": pa.int32(),
            "help": pa.int32(),
        }.items()
    ]
)
"""Figure 12 of the SlideM paper. `timestamp` and `start` are milliseconds since the epoch, times are seconds."""

SITE_AGENTS = 315 + 30 * np.arange(20)
"""20 sites, of 315 to 885 agents: 12,000 in all."""
SITE_BASE = np.concatenate([[0], np.cumsum(SITE_AGENTS)[:-1]])
SITE_OF_AGENT = np.repeat(np.arange(20), SITE_AGENTS)
SITES_PER_INSTANCE = 5
SERVICES = 150
MEDIA = np.cumsum([0.62, 0.17, 0.12, 0.05, 0.03])  # voice, chat, mail, callback, social, and the rest: fax
DIRECTIONS = np.cumsum([0.76, 0.19])  # in, out, and the rest: between agents

STEPS_PER_SESSION = 29
"""1,000 steps a second for 3 million requests a day."""
STEPS_PER_LEG = 12
STEP_SECONDS = 10
SHIFT_MS = 8 * 3_600_000
DISORDER_MS = 1_000
"""Records are out of order by less than this, as if they had come over different roads."""
BLOCK_ROWS = 250_000


class CallCenter:
    """Steps of the interactions between agents and customers, `rate` a second of event time (SlideM, Appendix A).

    As many sessions are open as take a step every ten seconds, each in a slot of its own; where one ends, the next
    begins. The center opens at `start_ms`: the first step of each slot begins a session. A session has legs, one for
    each agent it is passed on to. Agents work in three shifts.

    >>> center = CallCenter(rate=1_000, start_ms=0)
    >>> steps = center.steps()
    >>> steps.num_rows, steps.schema == SCHEMA
    (250000, True)
    """

    def __init__(self, rate: int, start_ms: int, seed: int = 42) -> None:
        self._rate, self._start_ms = rate, start_ms
        self._random = np.random.default_rng(seed)
        self._slots = rate * STEP_SECONDS
        self._rounds = max(1, BLOCK_ROWS // self._slots)
        self._events = self._sessions = 0
        self._session_ended = self._leg_ended = np.ones(self._slots, bool)
        self._legs = np.zeros(self._slots, np.int32)
        nothing = np.zeros(self._slots, np.int32)
        names = ("sessionId", "callSite", "serviceId", "mediaId", "direction", "legs_before")
        self._open_sessions = dict.fromkeys(names, nothing) | {"start": nothing.astype(np.int64)}
        self._open_legs = dict.fromkeys(("agentId", "agentSite"), nothing)

    def steps(self) -> pa.Table:
        """The next block of steps, in the order in which they come in: round by round, slot by slot."""
        random, shape = self._random, (self._rounds, self._slots)
        number = self._events + np.arange(self._rounds * self._slots).reshape(shape)
        self._events += number.size
        times = self._start_ms + number * 1000 // self._rate + random.integers(0, DISORDER_MS, shape)

        session_ends = self._happens(1 / STEPS_PER_SESSION)
        session_begins = np.vstack([self._session_ended, session_ends[:-1]])
        leg_ends = session_ends | self._happens(1 / STEPS_PER_LEG)
        leg_begins = np.vstack([self._leg_ended, leg_ends[:-1]])
        legs = self._legs + np.cumsum(leg_begins, axis=0, dtype=np.int32)
        self._session_ended, self._leg_ended, self._legs = session_ends[-1], leg_ends[-1], legs[-1]

        drawn = self._new_sessions(times[session_begins], legs[session_begins])
        session, self._open_sessions = in_force(session_begins, self._open_sessions, drawn)
        drawn = self._new_legs(times[leg_begins], session["callSite"][leg_begins])
        leg, self._open_legs = in_force(leg_begins, self._open_legs, drawn)

        columns = session | leg | self._durations(session_begins, leg_begins, leg_ends)
        columns |= {
            "timestamp": times,
            "instance": session["callSite"] // SITES_PER_INSTANCE,
            "interactionLegId": legs - session["legs_before"],
            "agentReleased": leg_ends & self._happens(0.4),
            "mediaOutcome": np.where(session_ends, random.integers(1, 6, shape), 0),
            "finalSegment": session_ends,
        }
        return pa.table([columns[field.name].astype(field.type.to_pandas_dtype()).ravel() for field in SCHEMA], SCHEMA)

    def _happens(self, chance: float) -> np.ndarray:
        return self._random.random((self._rounds, self._slots), np.float32) < chance

    def _new_sessions(self, start: np.ndarray, legs: np.ndarray) -> dict[str, np.ndarray]:
        random, count = self._random, len(start)
        ids = self._sessions + np.arange(count)
        self._sessions += count
        return {
            "sessionId": ids,
            "start": start,
            "callSite": SITE_OF_AGENT[random.integers(0, len(SITE_OF_AGENT), count)],
            "serviceId": (SERVICES * random.random(count) ** 2).astype(np.int32),  # the first are asked for most
            "mediaId": np.searchsorted(MEDIA, random.random(count)),
            "direction": np.searchsorted(DIRECTIONS, random.random(count)),
            "legs_before": legs - 1,
        }

    def _new_legs(self, times: np.ndarray, call_site: np.ndarray) -> dict[str, np.ndarray]:
        """An agent of the shift, mostly of the site that was called."""
        random, count = self._random, len(times)
        elsewhere = SITE_OF_AGENT[random.integers(0, len(SITE_OF_AGENT), count)]
        site = np.where(random.random(count) < 0.8, call_site, elsewhere)
        colleague = (random.random(count) * (SITE_AGENTS[site] // 3)).astype(np.int32)
        return {"agentId": SITE_BASE[site] + 3 * colleague + times // SHIFT_MS % 3, "agentSite": site}

    def _durations(self, begins: np.ndarray, leg_begins: np.ndarray, leg_ends: np.ndarray) -> dict[str, np.ndarray]:
        """Seconds of each step: 0 where a step has nothing of the kind."""
        help = self._happens(0.03)
        available = self._seconds(leg_begins, 60)
        return {
            "waitTime": self._seconds(begins, 45),
            "alertingTime": self._seconds(leg_begins, 6),
            "busyTime": self._seconds(~leg_ends, STEP_SECONDS),
            "wrapUpTime": self._seconds(leg_ends, 30),
            "helpTime": self._seconds(help, 40),
            "availableTime": available,
            "availableTimeByService": available // 2,
            "held": self._happens(0.05),
            "help": help,
        }

    def _seconds(self, where: np.ndarray, mean: float) -> np.ndarray:
        seconds = np.zeros(where.shape, np.int32)
        seconds[where] = 1 + self._random.exponential(mean - 1, np.count_nonzero(where))
        return seconds


Columns = dict[str, np.ndarray]


def in_force(begins: np.ndarray, still_open: Columns, drawn: Columns) -> tuple[Columns, Columns]:
    """What holds at each step: what was drawn where its session (or leg) began, or came in open from the last block.

    >>> begins = np.array([[False, True], [True, False]])  # two rounds of two slots
    >>> held, still_open = in_force(begins, {"site": np.array([7, 8])}, {"site": np.array([1, 2])})
    >>> held["site"].tolist(), still_open["site"].tolist()
    ([[7, 1], [2, 1]], [2, 1])
    """
    slots = begins.shape[1]
    places = np.where(begins, slots - 1 + np.cumsum(begins).reshape(begins.shape), 0)
    places[0] = np.where(begins[0], places[0], np.arange(slots))
    places = np.maximum.accumulate(places, axis=0)  # those who begin later have higher places
    held = {name: np.concatenate([before, drawn[name]])[places] for name, before in still_open.items()}
    return held, {name: column[-1] for name, column in held.items()}


def tables(center: CallCenter, rows: int) -> Iterator[pa.Table]:
    """The steps of `center` in tables of `rows`; the same steps, however they are cut."""
    waiting = SCHEMA.empty_table()
    while True:
        while waiting.num_rows < rows:
            waiting = pa.concat_tables([waiting, center.steps()])
        yield waiting.slice(0, rows)
        waiting = waiting.slice(rows)


def write_calls(folder: Path, files: int, rows: int, rate: int, start: datetime, seed: int = 42) -> None:
    """Write `files` files of `rows` records each, `rate` of them a second of event time."""
    folder.mkdir(parents=True, exist_ok=True)
    center = CallCenter(rate, round(start.timestamp() * 1000), seed)
    for number, table in zip(range(files), tables(center, rows)):
        name = f"{number:05d}.parquet"
        pq.write_table(table, folder / f".{name}")  # readers pass over names that begin with a dot
        os.utime(folder / f".{name}", (number, number))  # Spark reads files in the order of their age
        os.replace(folder / f".{name}", folder / name)


def instant(text: str) -> datetime:
    """A time as it is written, in UTC where it says nothing else."""
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def positive(text: str) -> int:
    if int(text) < 1:
        raise ValueError
    return int(text)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path, help="where the Parquet files go")
    arguments.add_argument("--files", type=positive, default=6, help="how many files")
    arguments.add_argument("--rows", type=positive, default=50_000, help="records in each")
    arguments.add_argument("--rate", type=positive, default=1_000, help="records a second of event time")
    arguments.add_argument("--start", type=instant, default="2024-01-01T09:00:00Z", help="when the first one happens")
    arguments.add_argument("--seed", type=int, default=42, help="another seed gives other records")
    chosen = arguments.parse_args()
    write_calls(chosen.folder, chosen.files, chosen.rows, chosen.rate, chosen.start, chosen.seed)
    seconds = chosen.files * chosen.rows / chosen.rate
    print(f"{chosen.files * chosen.rows:,} records, {seconds:,.0f} seconds of calls, are in {chosen.folder}")


if __name__ == "__main__":
    main()
