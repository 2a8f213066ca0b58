"""Random OVER over the events of a stream: each with those before it, and LAG and LEAD."""

from __future__ import annotations

import random
from collections import Counter

import pyarrow as pa

from oracle.at_instants import LATENESS, Drawn
from oracle.judge import cursor

from .change_plans import DifferenceError
from .jobs import told_by_job
from .plans import Plans
from .questions import IN_ORDER, ORDER, E, rounded


def tried_over(chance: random.Random, given: Drawn, seed: str) -> str:
    """What became of it: refused, it is raised, and so is a difference."""
    plans, events = Plans(seed), given.tables["a"]
    plans.chance = chance
    key = chance.choice(["", "e.k", "e.n"])
    by = f"PARTITION BY {key} " if key else ""
    reach, in_time = chance.randint(0, 5), chance.random() < 0.4
    where = f" WHERE {plans._predicate(E)}" if chance.random() < 0.3 else ""
    listed, theirs, after = ["e.k", "e.n"], ["e.k", "e.n"], 0
    for _ in range(chance.randint(1, 2)):
        name = chance.choice(["e.k", "e.n", "e.x"])
        away = chance.randint(1, 2)
        if in_time or chance.random() < 0.6:
            asked = plans._aggregate(E)[0].split(" FILTER")[0]
            if "DISTINCT" in asked or "MEDIAN" in asked or chance.random() < 0.3:
                asked = chance.choice(["FIRST(e.x)", "BIT_XOR(e.n)", "VAR_POP(e.x)", "COUNT(e.x)", "MAX(e.k)"])
            frame, order = f"ROWS {reach} PRECEDING", IN_ORDER
            if in_time:  # all of one instant are in each other's frames
                frame, order = f"RANGE INTERVAL {reach + 1} MICROSECONDS PRECEDING", "ORDER BY e.ts"
            listed.append(f"{asked} OVER ({by}ORDER BY e.ts {frame})")
            theirs.append(f"{asked} OVER ({by}{order} {frame})")
        else:
            function = chance.choice(["LAG", "LAG", "LEAD"])
            after = max(after, away if function == "LEAD" else 0)
            listed.append(f"{function}({name}, {away}) OVER ({by}ORDER BY e.ts)")
            theirs.append(f"{function}({name}, {away}) OVER ({by}{IN_ORDER})")
    names = [f"c{number}" for number in range(len(listed))]
    shown, judged = (", ".join(f"{one} AS {name}" for one, name in zip(each, names)) for each in (listed, theirs))
    chosen = f"c{len(names) - 1} IS NOT NULL" if chance.random() < 0.3 else ""
    text = f"SELECT {shown} FROM a AS e{where}{' QUALIFY ' if chosen else ''}{chosen}"
    last = f"count(*) OVER ({by}{IN_ORDER} ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)"
    with cursor() as database:
        database.execute(ORDER)
        database.register("e", events.append_column("seq", pa.array(range(events.num_rows), pa.int64())))
        found = database.execute(
            f"SELECT {', '.join(names)} FROM (SELECT {judged}, {last} AS rest FROM e{where.replace('<=>', '=')}) "
            f"WHERE rest > {after}{' AND ' if chosen else ''}{chosen}"
        ).fetchall()
    rows = told_by_job(text.replace("<=>", "="), {"a": events}, chance, f"{LATENESS} microseconds")
    mine = Counter(tuple(rounded(row[name]) for name in names) for row in rows)
    wanted = Counter(tuple(map(rounded, row)) for row in found)
    if mine != wanted:
        raise DifferenceError(f"more {mine - wanted}, less {wanted - mine}\n{text}")
    return "answered"
