"""The rows of windows of several kinds, in DuckDB: `w` has a row for each event of each window, whatever is asked of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import duckdb
import pyarrow as pa
from hypothesis import strategies as st

import windrow

from .judge import TIME, cursor

SECOND = 1_000_000
BERLIN = ZoneInfo("Europe/Berlin")
FIRST = datetime(2026, 3, 27, tzinfo=UTC)
"""Two days before the clocks of Berlin are set forward."""

EVENTS = st.lists(
    st.tuples(st.integers(0, 40), st.sampled_from(["a", "b"]), st.sampled_from(["u", "v", None]), st.integers(-3, 9)),
    min_size=1,
    max_size=25,
)
NUMBERED = "SELECT *, row_number() OVER (PARTITION BY {line} ORDER BY t, seq) AS n FROM e"
ISLANDS = """
    SELECT *, min(t) OVER i AS begins, max(t) OVER i + {gap} AS ends, min(n) OVER i AS place
    FROM (SELECT *, sum(apart) OVER (PARTITION BY line ORDER BY n) AS island
          FROM (SELECT *, {line} AS line, CASE WHEN t - lag(t) OVER (PARTITION BY {line} ORDER BY n) <= {gap}
                THEN 0 ELSE 1 END AS apart FROM (""" + NUMBERED + """)))
    WINDOW i AS (PARTITION BY line, island)
"""  # fmt: skip
ROWS = """
    SELECT e.*, last.t AS ends, min(e.t) OVER (PARTITION BY last.line, last.n) AS begins, last.line, last.n AS place
    FROM (SELECT *, {line} AS line FROM (""" + NUMBERED + """)) AS e
    JOIN (SELECT *, {line} AS line FROM (""" + NUMBERED + """)) AS last
    ON e.line = last.line AND last.n % {slide} = 0 AND e.n <= last.n AND e.n > last.n - {size}
"""  # fmt: skip
CALENDAR = "SELECT *, ends AS place, 0 AS line FROM e JOIN days ON t >= begins AND t < ends"


@dataclass(frozen=True)
class Kind:
    """A window as it is written, its rows in DuckDB, and how long a step of the drawn times is."""

    text: str
    rows: str
    step_us: int = SECOND
    by_key: bool = False

    @property
    def line(self) -> str:
        """What is told one after the other: the windows of the stream, or those of a key."""
        return "k, " if self.by_key else ""


def _kind(text: str, rows: str, by_key: bool, **given: object) -> Kind:
    line = "k" if by_key else "0"
    return Kind(f"[{'PARTITION BY k ' if by_key else ''}{text}]", rows.format(line=line, **given), by_key=by_key)


KINDS = {
    "sessions": _kind("SESSION 3 SECONDS", ISLANDS, True, gap=3 * SECOND),
    "sessions of the stream": _kind("SESSION 2 SECONDS", ISLANDS, False, gap=2 * SECOND),
    "rows": _kind("ROWS 4 SLIDE 3", ROWS, False, size=4, slide=3),
    "rows by key": _kind("ROWS 3 SLIDE 2", ROWS, True, size=3, slide=2),
    "calendar": Kind("[RANGE 2 DAYS SLIDE 1 DAY IN 'Europe/Berlin']", CALENDAR, 7 * 3600 * SECOND),
}

SLIDING = Kind(
    "[RANGE 4 SECONDS SLIDE 2 SECONDS]",
    f"SELECT e.*, ends, ends - {4 * SECOND} AS begins, ends AS place, 0 AS line FROM e JOIN"
    f" (SELECT unnest(range((SELECT min(t) // {2 * SECOND} * {2 * SECOND} FROM e), (SELECT max(t) + {5 * SECOND} FROM e),"
    f" {2 * SECOND})) AS ends) ON t < ends AND t >= ends - {4 * SECOND}",
)
"""What can be joined with the others; what else is asked of it, operators over changes answer."""


def microseconds(instant: datetime) -> int:
    return (instant - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def days() -> Iterator[tuple[int, int]]:
    """Each two days of Berlin, from midnight to midnight."""
    for number in range(20):
        end = FIRST.date() - timedelta(days=2) + timedelta(days=number)
        yield _midnight(end - timedelta(days=2)), _midnight(end)


def _midnight(day: date) -> int:
    return microseconds(datetime.combine(day, time(), BERLIN).astimezone(UTC))


def events_of(kind: Kind, drawn: list[tuple]) -> pa.Table:
    """The events in order of time."""
    ordered = sorted(drawn, key=lambda event: event[0])
    times = [microseconds(FIRST) + event[0] * kind.step_us for event in ordered]
    named = {name: [event[place] for event in ordered] for place, name in ((1, "k"), (2, "g"), (3, "x"))}
    types = {"k": pa.string(), "g": pa.string(), "x": pa.int64()}
    columns = {name: pa.array(values, types[name]) for name, values in named.items()}
    return pa.table({"ts": pa.array(times, pa.int64()).cast(TIME), **columns})


def judge(kind: Kind, events: pa.Table) -> duckdb.DuckDBPyConnection:
    """DuckDB with the rows of all windows, `w`: `line`, `place` and the edges, in microseconds, tell windows apart."""
    db = cursor()
    numbered = events.append_column("t", events["ts"].cast(pa.int64())).drop_columns(["ts"])
    db.register("given", numbered.append_column("seq", pa.array(range(events.num_rows), pa.int64())))
    begins, ends = zip(*days())
    db.register("given_days", pa.table({"begins": begins, "ends": ends}))
    db.execute("CREATE OR REPLACE TEMP TABLE e AS SELECT * FROM given")
    db.execute("CREATE OR REPLACE TEMP TABLE days AS SELECT * FROM given_days")
    db.execute(f"CREATE OR REPLACE TEMP TABLE w AS {kind.rows}")
    return db


def replayed(text: str, events: pa.Table, batch: int, leave_out: tuple[str, ...] = ("window_row",)) -> list[tuple]:
    """The rows of a query in any order, instants in microseconds."""
    found = windrow.replay(text, e=events, batch_rows=batch, flush=True)
    names = [name for name in found.column_names if name not in leave_out]
    columns = [
        (found[name].cast(pa.int64()) if pa.types.is_timestamp(found[name].type) else found[name]).to_pylist()
        for name in names
    ]
    return sorted(zip(*columns), key=repr)


def judged(db: duckdb.DuckDBPyConnection, text: str) -> list[tuple]:
    return sorted(db.sql(text).fetchall(), key=repr)


def lines(kind: Kind, db: duckdb.DuckDBPyConnection, where: str, shown: str) -> dict[object, list[tuple[int, dict]]]:
    """Of each line its windows in order: the instant that each is told at, and what it has of each group `g`."""
    windows = db.sql("SELECT line, place, min(ends) FROM w GROUP BY line, place ORDER BY line, place").fetchall()
    if kind is KINDS["calendar"]:
        windows = [(0, end, end) for _, end in days()]
    rows = db.sql(f"SELECT line, place, g, {shown} FROM w WHERE {where} GROUP BY line, place, g").fetchall()
    found: dict[tuple, dict] = {}
    for line, place, *row in rows:
        found.setdefault((line, place), {})[row[0]] = tuple(row)
    told: dict[object, list[tuple[int, dict]]] = {}
    for line, place, end in windows:
        told.setdefault(line, []).append((end, found.get((line, place), {})))
    return told
