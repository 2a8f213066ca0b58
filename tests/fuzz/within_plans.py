"""Random plans within each window: joins, set operators, groups, rankings and sub-queries over what one window holds,
beside DuckDB over those rows."""

from __future__ import annotations

import random
import re
from collections import Counter

import pyarrow as pa

from oracle.at_instants import LATENESS, Drawn, results
from oracle.judge import cursor

from .change_plans import a_table
from .jobs import Tables, told_by_job
from .plans import TABLE, Plans, for_duckdb, for_windrow
from .questions import ORDER, rounded
from .window_plans import Kind, WindowPlans, in_hours

SOURCE = re.compile(r"\b([ab]) \{\d+\}")
SHARED = ("_cumulate", "_levels", "_calendar")
"""Windows that all streams have together; the others are those of one stream."""

OF_ONE = ("_session", "_rows", "_range_by_rows", "_until")


def tried_within(chance: random.Random, given: Drawn, seed: str) -> tuple[str, Counter, Counter]:
    """A plan within each window of a kind, its rows, and those that it should have; refused, it is raised."""
    plans = Plans(seed, most=3)
    plans.chance = chance
    plan, way = plans.drawn(), chance.choice([*SHARED, *OF_ONE])
    text = plan.text if way in SHARED else SOURCE.sub("a {1}", plan.text)
    used = sorted(set(SOURCE.findall(text)))
    streams, lateness = {name: given.tables[name] for name in used}, f"{LATENESS} microseconds"
    if way == "_calendar":
        streams, lateness = {name: in_hours(table) for name, table in streams.items()}, f"{2 * LATENESS} hours"
    state, kinds = chance.getstate(), dict[str, Kind]()
    for name, events in streams.items():
        chance.setstate(state)  # the same window of each
        kinds[name] = WindowPlans(chance, events).of(way)
    kind = kinds[used[0]]
    asked = for_windrow(SOURCE.sub(rf"\1 {kind.text}", text))
    tables = {TABLE: a_table(chance)}
    if way == "_calendar" or chance.random() < 0.6:
        told = told_by_job(asked, streams, chance, lateness, tables)
    else:
        told = list(results(asked, Drawn(streams, given.batch_rows, given.restarts), tables=tables))
    wanted = _wanted(for_duckdb(SOURCE.sub(r"in_\1", text)), kinds, streams, tables)
    leading = kind.told_by
    if any("op" in row for row in told):  # answers joined with a table alone are told as they come, without windows
        assert all(row["op"] == "+" for row in told)
        wanted, leading = _without(wanted, len(leading)), ()
    mine = Counter(tuple(rounded(row[name]) for name in (*leading, *plan.columns)) for row in told)
    return asked, mine, wanted


def _without(rows: Counter, leading: int) -> Counter:
    """The rows without what tells their windows."""
    found: Counter = Counter()
    for row, count in rows.items():
        found[row[leading:]] += count
    return found


def _wanted(text: str, kinds: dict[str, Kind], streams: Tables, tables: Tables) -> Counter:
    """DuckDB's answers over the rows of each window that holds any."""
    windows: dict[object, tuple[tuple[int, ...], dict[str, list[int]]]] = {}
    for name, kind in kinds.items():
        for number, (told, own) in enumerate(kind.held):
            if own:  # windows of one stream may be told alike: those of several keys
                windows.setdefault(told if len(kinds) > 1 else number, (told, {}))[1][name] = own
    found: Counter = Counter()
    with cursor() as database:
        database.execute("SET TimeZone = 'UTC'")
        database.execute(ORDER)
        for name, table in tables.items():
            database.register(name, table)
        for told, held in windows.values():
            for name, events in streams.items():
                database.register(f"in_{name}", events.take(pa.array(held.get(name, []), pa.int64())))
            found.update((*told, *map(rounded, row)) for row in database.execute(text).fetchall())
    return found
