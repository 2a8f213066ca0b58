"""Random plans over random streams, beside DuckDB at random instants: `make plans`.

python -m fuzz.try_plans 20000 [seed [first]]        from tests/
"""

from __future__ import annotations

import os
import random
import sys
import traceback
from collections import Counter
from time import monotonic

import pyarrow as pa

from oracle.at_instants import LATENESS, Drawn, added_up, plain_text, results, row_values, text_of
from oracle.followed import KINDS, tried_followed
from oracle.judge import TIME, cursor
from windrow.errors import WindrowError

from .plans import Plans, Relation, for_duckdb, for_windrow
from .window_plans import tried_window

REACH = 26
"""Rows of windows of 12 are gone so long after the last event."""

ORDER = "SET default_null_order = 'nulls_first_on_asc_last_on_desc'"


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


def wanted(plan: Relation, given: Drawn, instant: int, before: bool) -> Counter[tuple]:
    """DuckDB's answer over the events in the windows at an instant."""
    with cursor() as database:
        database.execute("SET TimeZone = 'UTC'")
        database.execute(ORDER)
        for name, table in given.tables.items():
            database.register(name, table)
        rows = database.execute(plain_text(for_duckdb(plan.text), instant, before)).fetchall()
    return Counter(tuple(map(_rounded, row)) for row in rows)


def tried(seed: str) -> str:
    """What became of the plan of a seed: answered as DuckDB does, or refused; a difference is raised."""
    drawn = Plans(seed)
    part = drawn.chance.random()
    if part < 0.15:
        return _tried_followed(drawn.chance)
    if part < 0.45:
        return _tried_window(drawn.chance, seed)
    plan, chance = drawn.drawn(), drawn.chance
    given = streams(chance)
    slide = chance.choice([None, None, 2, 3, 5])
    emit = (
        chance.choice(["", "", " EMIT CHANGES"])
        if slide
        else chance.choice(["", "", "", " EMIT LAST EVERY 4 MICROSECONDS"])
    )
    text = text_of(for_windrow(plan.text), f" SLIDE {slide} MICROSECONDS" if slide else "") + emit
    try:
        rows = list(results(text, given))
    except WindrowError as error:
        return "refused: " + " ".join(str(error).split("\n")[0].split(" (line ")[0].split()[:9])
    newest = given.newest
    instants = list(range(0, newest + REACH + (slide or 0), slide or 1))
    if "LAST" in emit:
        instants = [instant for instant in instants if instant % 4 == 0]
    for instant in sorted(chance.sample(instants, min(len(instants), 8))):
        if slide and not emit:
            mine = Counter(row_values(row) for row in rows if row["window_end"] == instant)
        else:
            mine = added_up(rows, instant)
        mine = Counter({tuple(map(_rounded, row)): count for row, count in mine.items()})
        theirs = wanted(plan, given, instant, before=slide is not None)
        if "CHANGES" in emit and not theirs and instant > max((row["time"] for row in rows), default=-1):
            continue  # a flush answers the windows that hold an event: what leaves after that is not told
        if mine != theirs:
            raise DifferenceError(f"at {instant}: more {mine - theirs}, less {theirs - mine}\n{text}")
    return "answered"


def _tried_followed(chance: random.Random) -> str:
    """A window that is told while it fills, or as it changes."""
    text, mine, theirs = tried_followed(chance, chance.choice(list(KINDS)))
    if mine != theirs:
        more, less = Counter(mine), Counter(theirs)
        raise DifferenceError(f"more {more - less}, less {less - more}\n{text}")
    return "answered"


def _tried_window(chance: random.Random, seed: str) -> str:
    try:
        text, mine, theirs = tried_window(chance, streams(chance, 30), seed)
    except WindrowError as error:
        return "refused: " + " ".join(str(error).split("\n")[0].split(" (line ")[0].split()[:9])
    if mine != theirs:
        raise DifferenceError(f"more {mine - theirs}, less {theirs - mine}\n{text}")
    return "answered"


def _rounded(value: object) -> object:
    return round(value, 9) + 0.0 if isinstance(value, float) else value


def main(count: int, seed: int, first: int = 0) -> int:
    begin, ends, broken = monotonic(), Counter[str](), 0
    for number in range(first, first + count):
        name = f"{seed}/{number}"
        try:
            ends[tried(name)] += 1
        except Exception as error:
            broken += 1
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"({place.filename.rsplit('/', 1)[-1]}:{place.lineno})"
            print(f"\n{name}: {type(error).__name__} {where}: {error}", flush=True)
        if number % 1000 == 999:
            print(f"{number + 1 - first} tried, {broken} broken, {monotonic() - begin:.0f} s", flush=True)
    answered = ends.pop("answered", 0)
    print(
        f"seed {seed}: {count} plans, {answered} answered as DuckDB does, {ends.total()} refused, {broken} broken",
        end="",
    )
    print(f" in {monotonic() - begin:.0f} s")
    for reason, often in ends.most_common(40):
        print(f"  {often:6} {reason}")
    return 1 if broken else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main(*(int(argument) for argument in sys.argv[1:])))
