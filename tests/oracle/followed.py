"""What every kind of window answers, early answers too, and what changes from one to the next: from the definition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import pyarrow as pa

import windrow

SECOND = 1_000_000


@dataclass(frozen=True)
class Row:
    time: int
    k: str
    g: str | None
    x: int


@dataclass(frozen=True)
class Answer:
    """One answer of a line: what a key, a level or the stream is told one after the other."""

    line: tuple
    place: tuple
    final: bool
    as_of: int
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Case:
    """Events in the order in which they come, what is asked for, and how far the clock goes before the input ends."""

    rows: list[Row]
    lateness: int
    batch_rows: int
    every: int | None

    @property
    def clock(self) -> int:
        return max(row.time for row in self.rows) - self.lateness

    @property
    def newest(self) -> int:
        return max(row.time for row in self.rows)

    @property
    def table(self) -> pa.Table:
        times = pa.array([row.time * SECOND for row in self.rows], pa.timestamp("us", tz="UTC"))
        named = {name: [getattr(row, name) for row in self.rows] for name in ("k", "g", "x")}
        return pa.table({"ts": times, **named})

    def lines(self, keyed: bool) -> dict[tuple, list[Row]]:
        found: dict[tuple, list[Row]] = {}
        for row in sorted(self.rows, key=lambda row: row.time):
            found.setdefault((row.k,) if keyed else (), []).append(row)
        return found

    def instants(self, slide: int | None, until: int, offset: int = 0) -> Iterator[int]:
        first = min(row.time for row in self.rows)
        if slide is not None:
            yield from range(offset + ((first - offset) // slide + 1) * slide, until + 1, slide)


def drawn_case(random: Random, early: bool) -> Case:
    lateness, time, rows = random.choice([0, 0, 3]), random.randint(0, 20), []
    for _ in range(random.randint(1, 25)):
        time += random.choice([0, 0, 1, 1, 2, 5, 13])
        rows.append(Row(time, random.choice("ab"), random.choice(["u", "v", None]), random.randint(0, 5)))
    rows.sort(key=lambda row: row.time + random.uniform(0, lateness))
    return Case(rows, lateness, random.randint(1, 8), random.choice([1, 2, 3, 7]) if early else None)


def counted(case: Case, random: Random) -> tuple[str, list[Answer]]:
    """[ROWS n SLIDE m], [ROWS n SLIDE m SECONDS] and [RANGE n SECONDS SLIDE m ROWS], of the stream or by key."""
    kind, keyed = random.choice(["rows", "rows in time", "range"]), random.random() < 0.5
    n, m, offset = random.randint(1, 5), random.randint(1, 4), random.randint(0, 2)
    if kind != "rows in time":
        offset = 0
    reach = {"rows": f"ROWS {n}", "rows in time": f"ROWS {n}", "range": f"RANGE {n} SECONDS"}[kind]
    slide = {"rows": f"{m}", "rows in time": f"{m} SECONDS", "range": f"{m} ROWS"}[kind]
    shift = f" OFFSET {offset} SECONDS" if offset % m else ""
    answers = []
    for line, rows in case.lines(keyed).items():
        if kind == "rows in time":
            last = offset + ((case.newest - offset) // m + 1) * m
            for due in case.instants(m, last, offset % m):
                there = [row for row in rows if row.time < due]
                answers += [Answer(line, (2 * due, 0), True, due, tuple(there[-n:]))] if there else []
        else:
            for high in range(m, len(rows) + 1, m):
                at = rows[high - 1].time
                held = rows[max(0, high - n) : high] if kind == "rows" else rows[:high]
                held = held if kind == "rows" else [row for row in held if row.time > at - n]
                answers.append(Answer(line, (2 * at + 1, high), True, at, tuple(held)))
        for due in case.instants(case.every, case.clock):
            there = [row for row in rows if row.time < due]
            if not there or (kind == "rows in time" and (due - offset) % m == 0):
                continue
            held = there[-n:] if kind == "rows in time" else [row for row in there if row.time > due - n]
            if kind == "rows":
                held = there[max(0, (len(there) // m + 1) * m - n) :]
            answers.append(Answer(line, (2 * due, 0), False, due, tuple(held)))
    return f"[{'PARTITION BY k ' if keyed else ''}{reach} SLIDE {slide}{shift}{{}}]", answers


def sessions(case: Case, random: Random) -> tuple[str, list[Answer]]:
    gap, keyed = random.randint(1, 4), random.random() < 0.7
    answers = []
    for line, rows in case.lines(keyed).items():
        parts: list[list[Row]] = []
        for row in rows:
            if parts and row.time - parts[-1][-1].time <= gap:
                parts[-1].append(row)
            else:
                parts.append([row])
        for part in parts:
            end = part[-1].time + gap
            answers.append(Answer(line, (2 * end + 1, 0), True, end, tuple(part)))
            for due in case.instants(case.every, case.clock):
                there = [row for row in part if row.time < due]
                if there and there[-1].time + gap >= due:
                    answers.append(Answer(line, (2 * due, 0), False, due, tuple(there)))
    return f"[{'PARTITION BY k ' if keyed else ''}SESSION {gap} SECONDS{{}}]", answers


def predicates(case: Case, random: Random) -> tuple[str, list[Answer]]:
    opens, closes, keyed = random.randint(0, 3), random.randint(1, 4), random.random() < 0.5
    answers = []
    for line, rows in case.lines(keyed).items():
        held: list[Row] = []
        steps: list[tuple[int, list[Row]]] = []
        for number, row in enumerate(rows):
            if held or row.x > opens:
                was_open = bool(held)
                held = [*held, row]
                if was_open and row.x > closes:
                    answers.append(Answer(line, (2 * row.time + 1, number), True, row.time, tuple(held)))
                    held = []
            steps.append((row.time, held))
        for due in case.instants(case.every, case.clock):
            there = [held for time, held in steps if time < due]
            if there and there[-1]:
                answers.append(Answer(line, (2 * due, 0), False, due, tuple(there[-1])))
    return f"[{'PARTITION BY k ' if keyed else ''}FROM x > {opens} UNTIL x > {closes}{{}}]", answers


def over_time(case: Case, random: Random) -> tuple[str, list[Answer]]:
    """One window over time, or levels, of which the coarsest may be without bound."""
    slide, many, offset = random.randint(1, 4), random.random() < 0.6, random.randint(0, 1)
    levels = [(slide * random.randint(1, 3), slide)]
    if many:
        coarse = slide * random.choice([1, 2])
        wide = -(-(levels[0][0] + 1) // coarse) * coarse
        levels.append((random.choice([wide, 10**6]), coarse))
    answers = []
    rows = sorted(case.rows, key=lambda row: row.time)
    for level, (reach, step) in enumerate(levels):
        shift = offset % step
        unbounded = reach == 10**6
        over = 0 if unbounded else reach
        last = shift + (case.newest + over - shift) // step * step
        last = shift + ((case.newest - shift) // step + 1) * step if unbounded else last
        line = (level,) if many else ()
        for due in case.instants(step, max(last, case.clock), shift):
            held = [row for row in rows if due - reach <= row.time < due]
            answers.append(Answer(line, (due, 0), True, due, tuple(held)))
        for due in case.instants(case.every, case.clock):
            if (due - shift) % step:
                end = shift + ((due - shift) // step + 1) * step
                held = [row for row in rows if end - reach <= row.time < due]
                answers.append(Answer(line, (due, 0), False, due, tuple(held)))
    reaches = ", ".join("UNBOUNDED" if reach == 10**6 else f"{reach} SECONDS" for reach, _ in reversed(levels))
    slides = ", ".join(f"{step} SECONDS" for _, step in reversed(levels))
    plural = "S" if many else ""
    shown = f" OFFSET {offset} SECONDS" if offset else ""
    return f"[RANGE{plural} {reaches} SLIDE{plural} {slides}{shown}{{}}]", answers


def levels_of_rows(case: Case, random: Random) -> tuple[str, list[Answer]]:
    slide, keyed = random.randint(1, 3), random.random() < 0.5
    fine = slide * random.randint(1, 2)
    coarse = slide * random.choice([1, 2])
    wide = -(-(fine + 1) // coarse) * coarse
    wide_or_all = random.choice([wide, 10**6])
    answers = []
    for line, rows in case.lines(keyed).items():
        for level, (n, m) in enumerate([(fine, slide), (wide_or_all, coarse)]):
            for high in range(m, len(rows) + 1, m):
                at = rows[high - 1].time
                answers.append(
                    Answer((level, *line), (2 * at + 1, high), True, at, tuple(rows[max(0, high - n) : high]))
                )
            for due in case.instants(case.every, case.clock):
                there = [row for row in rows if row.time < due]
                if there:
                    held = there[max(0, (len(there) // m + 1) * m - n) :]
                    answers.append(Answer((level, *line), (2 * due, 0), False, due, tuple(held)))
    reach = "UNBOUNDED" if wide_or_all == 10**6 else wide_or_all
    return f"[{'PARTITION BY k ' if keyed else ''}ROWS {reach}, {fine} SLIDES {coarse}, {slide}{{}}]", answers


KINDS = {
    "counted": counted,
    "sessions": sessions,
    "predicates": predicates,
    "time": over_time,
    "levels of rows": levels_of_rows,
}


def grouped(answer: Answer, least: int, by_key: bool) -> dict[tuple, tuple]:
    """What is told of a window: of each group how many rows, and their sum."""
    groups: dict[tuple, list[int]] = {}
    for row in answer.rows:
        if row.x >= least:
            groups.setdefault((row.k, row.g) if by_key else (row.g,), []).append(row.x)
    return {group: (len(values), sum(values)) for group, values in groups.items()}


def changes(answers: list[Answer], least: int, by_key: bool, leveled: bool) -> list[tuple]:
    """What differs from each answer to the next of its line."""
    told, held = [], dict[tuple, dict]()
    for answer in sorted(answers, key=lambda answer: (answer.place, str(answer.line))):
        now, was = grouped(answer, least, by_key), held.get(answer.line, {})
        level = answer.line[:1] if leveled else ()
        for group in now.keys() | was.keys():
            if now.get(group) != was.get(group):
                told += [(answer.as_of, "-", *level, *group, *was[group])] if group in was else []
                told += [(answer.as_of, "+", *level, *group, *now[group])] if group in now else []
        held[answer.line] = now
    return sorted(told, key=str)


def plain(rows: list[dict]) -> list[tuple]:
    """Times in seconds, without the columns of windows."""
    left_out = ("window_start", "window_end", "window_row")
    return [
        tuple(
            value.timestamp() if hasattr(value, "timestamp") else value
            for name, value in row.items()
            if name not in left_out
        )
        for row in rows
    ]


def asked(case: Case, kind: str, random: Random) -> tuple[str, list[Answer], int, bool, bool]:
    window, answers = KINDS[kind](case, random)
    window = window.format("" if case.every is None else f" EMIT EVERY {case.every} SECONDS")
    least, by_key = random.choice([0, 0, 3]), "PARTITION" in window
    keys = "k, g" if by_key else "g"
    text = f"SELECT {keys}, COUNT(*) AS n, SUM(x) AS total FROM e {window} WHERE x >= {least} GROUP BY {keys}"
    return text, answers, least, by_key, "SLIDES" in window


def replayed(case: Case, text: str) -> list[tuple]:
    lateness = f"{case.lateness} seconds"
    return plain(
        windrow.replay(text, e=case.table, lateness=lateness, batch_rows=case.batch_rows, flush=True).to_pylist()
    )


def early_answers(answers: list[Answer], least: int, by_key: bool, leveled: bool) -> list[tuple]:
    """The rows of all answers, early and final ones."""
    told = [
        (*(answer.line[:1] if leveled else ()), answer.final, answer.as_of, *group, *values)
        for answer in answers
        for group, values in grouped(answer, least, by_key).items()
    ]
    return sorted(told, key=str)


def tried_followed(random: Random, kind: str) -> tuple[str, list[tuple], list[tuple]]:
    """A random query over a random stream: its text, its rows, and those that it should have."""
    early, changing = random.random() < 0.6, random.random() < 0.6
    case = drawn_case(random, early or not changing)
    text, answers, least, by_key, leveled = asked(case, kind, random)
    if not changing:
        return text, sorted(replayed(case, text), key=str), early_answers(answers, least, by_key, leveled)
    text += " EMIT CHANGES"
    told = [(row[1], row[0], *row[2:]) for row in replayed(case, text)]
    return text, sorted(told, key=str), changes(answers, least, by_key, leveled)
