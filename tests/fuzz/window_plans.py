"""Random aggregations over every kind of window that is folded: which events each window holds is found here, from the
definition, and what is made of them by DuckDB."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import duckdb
import pyarrow as pa

from oracle.at_instants import LATENESS, Drawn, results
from oracle.judge import cursor

from .duplicates import without_duplicates
from .jobs import told_by_job
from .plans import Plans
from .questions import ORDER, E, Question, drawn_question, rounded

Event = tuple[int, int]
"""When an event happened, and its row."""


@dataclass(frozen=True)
class Kind:
    """A window as it is written, the columns that tell one answer from another, and which events each answer is of.

    Of nested windows, `reaches` are the ranges of their levels, the finest first.
    """

    text: str
    told_by: tuple[str, ...]
    held: list[tuple[tuple[int, ...], list[int]]] = field(default_factory=list)
    reaches: tuple[int, ...] = ()

    def end_of(self, number: int, events: pa.Table) -> int:
        """When window `number` ends: where rows are counted, with its last one."""
        own, rows = self.held[number]
        return max(events["ts"][row].value for row in rows) if "ROW" in self.text else own[-1]

    def finest(self, number: int, time: int) -> int:
        """The finest level that holds an event of answer `number`."""
        end = self.held[number][0][-1]
        return next((level for level, reach in enumerate(self.reaches) if end - reach <= time), 0)


class WindowPlans:
    """Draws a window over the events of stream a, and a query over it."""

    def __init__(self, chance: random.Random, events: pa.Table, unordered: bool = False) -> None:
        """Events of one instant may be `unordered`, as the answers of other windows are."""
        self.chance, self.events, self.unordered = chance, events, unordered
        self._times = events["ts"].cast(pa.int64()).to_pylist()
        self._keys, self._numbers = events["k"].to_pylist(), events["n"].to_pylist()

    def drawn(self, counted: Sequence[bool]) -> tuple[Kind, bool]:
        """A window over the events that are counted, and whether the keys `k` have windows of their own."""
        kinds = [self._time, self._time, self._cumulate, self._levels, self._session, self._session]
        kinds += [] if self.unordered else [self._unbounded, self._rows, self._rows, self._range_by_rows, self._until]
        if min(self._times, default=0) >= BEGIN:
            kinds = [self._calendar, self._calendar, self._until if not self.unordered else self._calendar]
        kind = self.chance.choice(kinds)
        return self._over(kind, counted)

    def of(self, name: str) -> Kind:
        """A window of the kind that a method here draws, over all events."""
        return self._over(getattr(self, name), [True] * len(self._times))[0]

    def _over(self, kind: Callable[[list[list[Event]], str], Kind], counted: Sequence[bool]) -> tuple[Kind, bool]:
        by_key = kind in (self._rows, self._range_by_rows, self._until, self._session) and self.chance.random() < 0.5
        ordered = sorted((time, row) for row, time in enumerate(self._times) if counted[row])
        streams: dict[object, list[Event]] = {}
        for time, row in ordered:
            streams.setdefault(self._keys[row] if by_key else 0, []).append((time, row))
        return kind(list(streams.values()), "PARTITION BY k " if by_key else ""), by_key

    def _time(self, streams: list[list[Event]], _: str) -> Kind:
        reach, slide, offset = self._length(12), self._length(5), self.chance.choice([0, 0, 2])
        shift = f" OFFSET {offset} MICROSECONDS" if offset else ""
        text = f"[RANGE {reach} MICROSECONDS SLIDE {slide} MICROSECONDS{shift}]"
        return Kind(text, ("window_end",), list(_sliding(streams, reach, slide, offset)))

    def _levels(self, streams: list[list[Event]], _: str) -> Kind:
        slide = self._length(2)
        reach = slide * self.chance.randint(1, 3)
        pairs = [(reach, slide)]
        for _ in range(self.chance.randint(1, 2)):
            slide *= self.chance.randint(1, 2)
            reach = (reach // slide + self.chance.randint(1, 2)) * slide
            pairs.append((reach, slide))
        held = [((level, *end), own) for level, pair in enumerate(pairs) for end, own in _sliding(streams, *pair, 0)]
        ranges, slides = (", ".join(f"{one} MICROSECONDS" for one in reversed(ones)) for ones in zip(*pairs))
        reaches = tuple(reach for reach, _ in pairs)
        return Kind(f"[RANGES {ranges} SLIDES {slides}]", ("level", "window_end"), held, reaches)

    def _unbounded(self, streams: list[list[Event]], _: str) -> Kind:
        slide = self._length(5)
        held = []
        for events in streams:
            last = (max(self._times) // slide + 1) * slide  # events that no query counts move the clock, too
            for end in range((events[0][0] // slide + 1) * slide, last + 1, slide):
                held.append(((end,), [row for time, row in events if time < end]))
        return Kind(f"[RANGE UNBOUNDED SLIDE {slide} MICROSECONDS]", ("window_end",), held)

    def _cumulate(self, streams: list[list[Event]], _: str) -> Kind:
        slide = self._length(3)
        size = slide * self.chance.randint(1, 4)
        held = []
        for events in streams:
            for begin in sorted({time // size * size for time, _ in events}):
                for end in range(begin + slide, begin + size + 1, slide):
                    held.append(((end,), [row for time, row in events if begin <= time < end]))
        return Kind(f"[RANGE {size} MICROSECONDS SLIDE {slide} MICROSECONDS CUMULATE]", ("window_end",), held)

    def _rows(self, streams: list[list[Event]], keys: str) -> Kind:
        reach, slide = self.chance.randint(1, 6), self.chance.randint(1, 4)
        held = [
            ((number,), [row for _, row in events[max(0, number - reach) : number]])
            for events in streams
            for number in range(slide, len(events) + 1, slide)
        ]
        return Kind(f"[{keys}ROWS {reach} SLIDE {slide}]", ("window_row",), held)

    def _range_by_rows(self, streams: list[list[Event]], keys: str) -> Kind:
        reach, slide = self._length(8), self.chance.randint(1, 3)
        held = []
        for events in streams:
            for number in range(slide, len(events) + 1, slide):
                since = events[number - 1][0] - reach
                held.append(((number,), [row for time, row in events[:number] if time > since]))
        return Kind(f"[{keys}RANGE {reach} MICROSECONDS SLIDE {slide} ROWS]", ("window_row",), held)

    def _until(self, streams: list[list[Event]], keys: str) -> Kind:
        opens, closes = self.chance.randint(1, 4), self.chance.randint(1, 4)
        held: list[tuple[tuple[int, ...], list[int]]] = []
        for events in streams:
            inside: list[Event] = []
            for event in events:
                number = self._numbers[event[1]]
                if inside and number is not None and number <= closes:
                    inside.append(event)
                    held.append(((inside[0][0], event[0]), [row for _, row in inside]))
                    inside = []
                elif inside or (number is not None and number >= opens):
                    inside.append(event)
        return Kind(f"[{keys}FROM n >= {opens} UNTIL n <= {closes}]", ("window_start", "window_end"), held)

    def _session(self, streams: list[list[Event]], keys: str) -> Kind:
        gap = self._length(5)
        held: list[tuple[tuple[int, ...], list[int]]] = []
        for events in streams:
            pieces: list[list[Event]] = []
            for event in events:
                if pieces and event[0] - pieces[-1][-1][0] <= gap:
                    pieces[-1].append(event)
                else:
                    pieces.append([event])
            held += [((piece[0][0], piece[-1][0] + gap), [row for _, row in piece]) for piece in pieces]
        return Kind(f"[{keys}SESSION {gap} MICROSECONDS]", ("window_start", "window_end"), held)

    def _calendar(self, streams: list[list[Event]], _: str) -> Kind:
        """Days of Berlin, one of which has 23 hours."""
        reach, slide, offset = self.chance.randint(1, 3), self.chance.randint(1, 2), self.chance.choice([0, 0, 6])
        first = datetime.fromtimestamp(min(self._times) // 10**6, UTC).replace(
            hour=offset, minute=0, second=0, tzinfo=None
        )
        held = []
        for day in range(-2, 14):
            end = first + timedelta(days=day)
            if (end - datetime(1970, 1, 1)).days % slide == 0:
                start = end - timedelta(days=reach)
                low, high = (int(each.replace(tzinfo=BERLIN).timestamp()) * 10**6 for each in (start, end))
                held += [((high,), [row for time, row in events if low <= time < high]) for events in streams]
        shift = f" OFFSET {offset} HOURS" if offset else ""
        text = f"[RANGE {reach} DAYS SLIDE {slide} DAYS{shift} IN 'Europe/Berlin']"
        return Kind(text, ("window_end",), [(end, rows) for end, rows in held if rows])

    def _length(self, most: int) -> int:
        return self.chance.randint(1, most)


def _sliding(
    streams: list[list[Event]], reach: int, slide: int, offset: int
) -> Iterator[tuple[tuple[int, ...], list[int]]]:
    for events in streams:
        first, last = events[0][0], events[-1][0] + reach
        for end in range((first - offset) // slide * slide + offset, last + slide, slide):
            held = [row for time, row in events if end - reach <= time < end]
            if held:
                yield (end,), held


HOUR = 3_600_000_000
BEGIN = 492_960 * HOUR
"""A day and some hours before clocks are set forward in Berlin, in 2026."""

BERLIN = ZoneInfo("Europe/Berlin")


@dataclass(frozen=True)
class Over:
    """Events that a window is over: what stands in FROM before the window and behind it, and which of them count."""

    events: pa.Table
    before: str
    behind: str
    counted: Sequence[bool]
    unordered: bool = False
    leveled: bool = False
    """Whether they have a `level` already, which that of a window over them does not hide."""


def tried_window(chance: random.Random, given: Drawn, seed: str) -> tuple[str, Counter, Counter]:
    """A query over a random window, its rows, and those that it should have; refused, it is raised."""
    events, plans, settings = given.tables["a"], Plans(seed), dict[str, object]()
    plans.chance = chance
    counted = [True] * events.num_rows
    way, lateness = chance.random(), f"{LATENESS} microseconds"
    if 0.1 < way < 0.3 and chance.random() < 0.5:
        events, lateness = in_hours(events), f"{2 * LATENESS} hours"
    if way < 0.1:
        by, counted = without_duplicates(chance, events)
        settings["deduplicate"] = {"a": by}
    elif way < 0.2:
        settings["correct_for"] = "10000 hours"
        events = events.take(pa.array(chance.sample(range(events.num_rows), events.num_rows)))
    elif way < 0.25:
        settings["shed"] = True
    over = Over(events, "a", " AS e", counted, unordered="deduplicate" in settings)
    if 0.3 < way < 0.37:
        settings["functions"], over = {"steps": Steps}, _stepped(events)
    elif chance.random() < 0.3:
        over = _filtered(plans, over)
    for _ in range(chance.choice([0, 0, 0, 1, 2]) if "correct_for" not in settings else 0):
        over = _answers(chance, plans, over)
    kind, by_key = WindowPlans(chance, over.events, over.unordered).drawn(over.counted)
    if over.leveled:
        kind = replace(kind, reaches=())
    asked = drawn_question(chance, plans, by_key, len(kind.reaches), over.unordered)
    text = asked.text(f"{over.before} {kind.text}{over.behind}")
    theirs = Counter(
        (*kind.held[row[0]][0], *map(rounded, row[1:])) for row in _members(over.events, kind, asked).fetchall()
    )
    if settings or "hours" in lateness or chance.random() < 0.6:
        told = told_by_job(text, {"a": events}, chance, lateness, **settings)
    else:
        told = list(results(text, Drawn({"a": events}, given.batch_rows, given.restarts)))
    mine: Counter[tuple] = Counter()
    for row in told:
        assert row.get("sampled", 1.0) == 1.0
        sign = -1 if row.get("op") == "-" else 1
        mine[tuple(rounded(row[name]) for name in (*kind.told_by, *asked.names))] += sign
    return f"{text} {settings}", Counter({row: count for row, count in mine.items() if count}), theirs


def tried_joined(chance: random.Random, given: Drawn, seed: str) -> tuple[str, Counter, Counter]:
    """Answers of two windows, joined by when they end: a query, its rows, and those that it should have."""
    events, plans, sides, texts = given.tables["a"], Plans(seed), {}, []
    plans.chance = chance
    for name in ("p", "q"):
        kind, by_key = WindowPlans(chance, events).drawn([True] * events.num_rows)
        asked = Question.folded(chance, plans, by_key)
        rows = [(kind.end_of(row[0], events), *row[1:]) for row in _members(events, kind, asked).fetchall()]
        types = (pa.int64(), pa.string(), pa.int64(), pa.float64())
        columns = list(zip(*rows)) or [()] * 4
        sides[name] = pa.table([pa.array(own, type) for own, type in zip(columns, types)], ["at", "k", "n", "x"])
        texts.append(f"({asked.text(f'a {kind.text} AS e')}) AS {name}")
    before, after = chance.randint(0, 4), chance.randint(0, 4)
    equal = chance.choice(["p.k = q.k AND ", "p.k <=> q.k AND ", "p.n = q.n AND p.x < q.x AND ", ""])
    kind = chance.choice(["JOIN", "JOIN", "LEFT JOIN", "FULL JOIN"])
    listed = "p.k AS a, p.n AS b, p.x AS c, q.k AS d, q.n AS e, q.x AS f"
    near = f"q.window_end BETWEEN p.window_end - INTERVAL {before} MICROSECONDS AND p.window_end"
    near += f" + INTERVAL {after} MICROSECONDS" if after else ""
    text = f"SELECT {listed} FROM {texts[0]} {kind} {texts[1]} ON {equal}{near}{chance.choice(['', ' EMIT FINAL'])}"
    with cursor() as database:
        for name, table in sides.items():
            database.register(name, table)
        on = f"{equal.replace('<=>', 'IS NOT DISTINCT FROM')}q.at BETWEEN p.at - {before} AND p.at + {after}"
        found = database.execute(f"SELECT {listed} FROM p {kind} q ON {on}").fetchall()
    mine: Counter[tuple] = Counter()
    told = told_by_job(text, {"a": events}, chance, f"{LATENESS} microseconds")
    if told and "op" not in told[0]:
        return text, Counter(), Counter()  # windows that end together are joined within each
    for row in told:
        mine[tuple(rounded(row[name]) for name in "abcdef")] += 1 if row["op"] == "+" else -1
    theirs = Counter(tuple(map(rounded, row)) for row in found)
    return text, Counter({row: count for row, count in mine.items() if count}), theirs


def _members(events: pa.Table, kind: Kind, asked: Question) -> duckdb.DuckDBPyConnection:
    """What DuckDB makes of the events in each window; the first column is the number of the window."""
    database = cursor()
    database.execute(ORDER)
    rows = events.append_column("seq", pa.array(range(events.num_rows), pa.int64()))
    members = [(number, row) for number, (_, own) in enumerate(kind.held) for row in own]
    numbers, places = (pa.array([pair[i] for pair in members], pa.int64()) for i in (0, 1))
    times = events["ts"].cast(pa.int64()).to_pylist()
    levels = pa.array([kind.finest(number, times[row]) for number, row in members], pa.int64())
    database.register("held", pa.table({"w": numbers, "seq": places, "level": levels}))
    database.register("events", rows)
    database.execute("CREATE OR REPLACE TEMP VIEW e AS SELECT * FROM held JOIN events USING (seq)")
    return database.execute(asked.for_duckdb())


def in_hours(events: pa.Table) -> pa.Table:
    """The events as if an hour were where a microsecond was, two days and a half around the change of clocks."""
    times = [BEGIN + 2 * time * HOUR for time in events["ts"].cast(pa.int64()).to_pylist()]
    return events.set_column(0, "ts", pa.array(times, pa.int64()).cast(events["ts"].type))


def _filtered(plans: Plans, over: Over) -> Over:
    """Only some events, chosen before the window."""
    condition = plans._predicate(E).replace("<=>", "=")
    with cursor() as database:
        database.register("e", over.events.append_column("seq", pa.array(range(over.events.num_rows), pa.int64())))
        passed = [bool(found) for (found,) in database.execute(f"SELECT {condition} FROM e ORDER BY seq").fetchall()]
    counted = [one and other for one, other in zip(over.counted, passed)]
    return replace(over, before=f"(SELECT ts, k, n, x FROM a AS e WHERE {condition}) AS e", behind="", counted=counted)


class Steps:
    """Of each event whose n is known, how many there were of its key, and the greatest x so far."""

    returns = "n BIGINT, x DOUBLE"

    def init(self) -> dict:
        return {"n": 0, "x": None}

    def step(self, state: dict, event: object) -> tuple | None:
        known = [x for x in (state["x"], event.x) if x is not None]
        state["x"] = max(known, default=None)
        state["n"] += event.n is not None
        return None if event.n is None else (state["n"], state["x"])


def _stepped(events: pa.Table) -> Over:
    """What a function that remembers makes of the events."""
    rows = events.set_column(0, "time", events["ts"].cast(pa.int64())).to_pylist()
    states: dict[object, dict] = {}
    found = []
    for row in sorted(rows, key=lambda row: row["time"]):
        given = Steps().step(states.setdefault(row["k"], Steps().init()), SimpleNamespace(**row))
        found += [(row["time"], row["k"], *given)] if given else []
    columns = list(zip(*found)) or [()] * 4
    types = (pa.int64(), pa.string(), pa.int64(), pa.float64())
    arrays = [pa.array(column, type) for column, type in zip(columns, types)]
    stepped = pa.table([arrays[0].cast(events["ts"].type), *arrays[1:]], ["ts", "k", "n", "x"])
    text = "(SELECT k, n, x FROM steps(TABLE a PARTITION BY k)) AS e"
    return Over(stepped, text, "", [True] * len(found), unordered=True)


def _answers(chance: random.Random, plans: Plans, over: Over) -> Over:
    """The answers of a window as events."""
    kind, by_key = WindowPlans(chance, over.events, over.unordered).drawn(over.counted)
    if "UNTIL" in kind.text:
        return over
    asked = Question.folded(chance, plans, by_key)
    rows = _members(over.events, kind, asked).fetchall()
    ends_with_row = "ROW" in kind.text or "SESSION" in kind.text
    times = [kind.end_of(row[0], over.events) - (not ends_with_row) for row in rows]
    columns = list(zip(*rows)) or [()] * 4
    types = (pa.string(), pa.int64(), pa.float64())
    events = pa.table(
        {"ts": pa.array(times, pa.int64()).cast(over.events["ts"].type)}
        | {name: pa.array(column, type) for name, column, type in zip("knx", columns[1:], types)}
    )
    if not events.num_rows:
        return over
    text = asked.text(f"{over.before} {kind.text}{over.behind}")
    leveled = over.leveled or bool(kind.reaches)
    return Over(events, f"({text}) AS e", "", [True] * events.num_rows, True, leveled)
