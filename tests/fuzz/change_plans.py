"""Random plans over random streams and a table, as they change: what they are told at random instants, beside DuckDB."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pyarrow as pa

from oracle.at_instants import LATENESS, Drawn, added_up, plain_text, results, row_values, text_of
from oracle.judge import TIME, cursor

from .duplicates import without_duplicates
from .jobs import Tables, told_by_job
from .plans import TABLE, WHOLE, Plans, for_duckdb, for_windrow
from .questions import ORDER, rounded

REACH = 26
"""Rows of windows of 12 are gone so long after the last event."""


class DifferenceError(Exception):
    """An answer that is not DuckDB's."""


def streams(chance: random.Random, most: int = 14) -> Drawn:
    """Streams with ties, duplicates, NULLs and gaps, out of order within the lateness, in batches, with restarts."""
    tables = {}
    for name in ("a", "b"):
        rows = chance.randint(1, most)
        times = sorted((chance.randint(0, 30) for _ in range(rows)), key=lambda time: time + chance.random() * LATENESS)
        tables[name] = pa.table(
            {
                "ts": pa.array(times, pa.int64()).cast(TIME),
                "k": pa.array([chance.choice(["nut", "bolt", "gear", None]) for _ in times], pa.string()),
                "x": pa.array([chance.choice([0.5, 1.0, 3.0, None]) for _ in times], pa.float64()),
                "n": pa.array([chance.choice([1, 2, 3, 4, None]) for _ in times], pa.int64()),
            }
        )
    return Drawn(tables, chance.choice([None, 1, 4]), chance.random() < 0.3)


def a_table(chance: random.Random) -> pa.Table:
    """A table with the columns of the streams, and several rows of a key."""
    rows = range(chance.randint(0, 5))
    return pa.table(
        {
            "k": pa.array([chance.choice(["nut", "bolt", None]) for _ in rows], pa.string()),
            "x": pa.array([chance.choice([0.5, 3.0, None]) for _ in rows], pa.float64()),
            "n": pa.array([chance.choice([1, 2, 4, None]) for _ in rows], pa.int64()),
        }
    )


def wanted(text: str, given: Drawn, tables: Tables, instant: int, before: bool) -> Counter[tuple]:
    """DuckDB's answer over the events in the windows at an instant."""
    with cursor() as database:
        database.execute("SET TimeZone = 'UTC'")
        database.execute(ORDER)
        for name, table in {**given.tables, **tables}.items():
            database.register(name, table)
        rows = database.execute(plain_text(for_duckdb(text), instant, before)).fetchall()
    return Counter(tuple(map(rounded, row)) for row in rows)


def told(text: str, given: Drawn, tables: Tables, chance: random.Random, **settings: object) -> list[dict]:
    """The rows of a query in one process, or of a job in any shards, stages and batches."""
    if chance.random() < 0.4:
        return list(results(text, given, tables=tables, **settings))
    return told_by_job(text, given.tables, chance, f"{LATENESS} microseconds", tables, **settings)


def tried_plan(plans: Plans) -> str:
    """What became of a plan: refused, it is raised, and so is a difference."""
    chance = plans.chance
    match chance.random():
        case part if part < 0.06:
            return _tried_near(plans)
        case part if part < 0.12:
            return _tried_when(plans)
    return _tried_at_instants(plans)


def _tried_at_instants(plans: Plans) -> str:
    plan, chance = plans.drawn(), plans.chance
    given, tables = streams(chance), {TABLE: a_table(chance)}
    slide = chance.choice([None, None, 2, 3, 5])
    changing = [" EMIT LAST EVERY 4 MICROSECONDS", " EMIT INSERTS", " EMIT DELETES"]
    emit = chance.choice(["", "", " EMIT CHANGES"] if slide else ["", "", "", *changing])
    text = text_of(for_windrow(plan.text), f" SLIDE {slide} MICROSECONDS" if slide else "") + emit
    newest = given.newest
    if chance.random() < 0.15:
        each = {name: without_duplicates(chance, table) for name, table in given.tables.items()}
        deduplicate = {name: by for name, (by, _) in each.items()}
        rows = told(text, given, tables, chance, deduplicate=deduplicate)
        given = replace(
            given, tables={name: given.tables[name].filter(pa.array(own)) for name, (_, own) in each.items()}
        )
        text += f" {deduplicate}"
    else:
        rows = told(text, given, tables, chance)
    instants = list(range(0, newest + REACH + (slide or 0), slide or 1))
    if "LAST" in emit:
        instants = [instant for instant in instants if instant % 4 == 0]
    for instant in sorted(chance.sample(instants, min(len(instants), 8))):
        theirs = wanted(plan.text, given, tables, instant, before=slide is not None)
        if slide and not emit:
            mine = Counter(row_values(row) for row in rows if row["window_end"] == instant)
        elif "INSERTS" in emit or "DELETES" in emit:
            mine = Counter(row_values(row) for row in rows if row["time"] == instant)
            before = wanted(plan.text, given, tables, instant - 1, before=False)
            theirs = theirs - before if "INSERTS" in emit else before - theirs
        else:
            mine = added_up(rows, instant)
        mine = Counter({tuple(map(rounded, row)): count for row, count in mine.items()})
        if "CHANGES" in emit and not theirs and instant > max((row["time"] for row in rows), default=-1):
            continue  # a flush answers the windows that hold an event: what leaves after that is not told
        _compare(f"at {instant}", mine, theirs, text)
    return "answered"


def _tried_near(plans: Plans) -> str:
    """A join by how far apart two events are, of streams without windows: as it grows, or each row once."""
    chance = plans.chance
    plan = plans.near([" {}", " {}"])
    given, emit = streams(chance), chance.choice(["", " EMIT FINAL"])
    text = text_of(for_windrow(plan.text)) + emit
    rows = told(text, given, {}, chance)
    if emit:
        assert all(row["op"] == "+" for row in rows)
    for instant in [10**5] if emit else sorted(chance.sample(range(given.newest + REACH), 6)):
        mine = Counter({tuple(map(rounded, row)): count for row, count in added_up(rows, instant).items()})
        _compare(f"at {instant}", mine, wanted(plan.text, given, {}, instant, before=False), text)
    return "answered"


def _tried_when(plans: Plans) -> str:
    """EMIT WHEN: a group is told when its condition begins to hold."""
    chance = plans.chance
    source = plans.source(chance.randint(1, 3))
    keys = list(dict.fromkeys(plans._expression(source) for _ in range(chance.randint(0, 2))))
    asked, where = plans._aggregates(source), plans._where(source)
    condition, type = plans._aggregate(source)
    condition += {"text": " > 'c'", WHOLE: f" >= {chance.randint(1, 3)}"}.get(type, " > 1.0E0")
    shown = plans._select(source, [*keys, *asked], where)
    group = f" GROUP BY {', '.join(text for text, _ in keys)}" if keys else ""
    given, tables = streams(chance), {TABLE: a_table(chance)}
    text = text_of(for_windrow(shown.text + group)) + f" EMIT WHEN {condition}"
    rows = told(text, given, tables, chance)
    listed, rest = shown.text.split(" FROM ", 1)
    held: dict[tuple, tuple] = {}
    theirs: Counter[tuple] = Counter()
    for instant in range(given.newest + REACH):
        judged = f"{listed}, coalesce({condition}, false) AS holds FROM {rest}{group}"
        found = wanted(judged, given, tables, instant, before=False)
        now = {row[: len(keys)]: row[:-1] for row in found if row[-1]}
        theirs.update((instant, *row) for key, row in now.items() if key not in held)
        held = now
    mine = Counter((row["time"], *map(rounded, row_values(row))) for row in rows)
    _compare("", mine, theirs, text)
    return "answered"


def _compare(when: str, mine: Counter, theirs: Counter, text: str) -> None:
    if mine != theirs:
        raise DifferenceError(f"{when}: more {mine - theirs}, less {theirs - mine}\n{text}")
