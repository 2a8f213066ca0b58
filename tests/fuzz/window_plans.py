"""Random aggregations over every kind of window that is folded: which events each window holds is found here, from the
definition, and what is made of them by DuckDB."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from oracle.at_instants import Drawn, results
from oracle.judge import cursor

from .plans import OPEN, Plans, Source, for_duckdb

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

    def finest(self, number: int, time: int) -> int:
        """The finest level that holds an event of answer `number`."""
        end = self.held[number][0][-1]
        return next((level for level, reach in enumerate(self.reaches) if end - reach <= time), 0)


class WindowPlans:
    """Draws a window over the events of stream a, and a query over it."""

    def __init__(self, chance: random.Random, events: pa.Table) -> None:
        self.chance, self.events = chance, events
        self._times = events["ts"].cast(pa.int64()).to_pylist()
        self._keys = events["k"].to_pylist()

    def drawn(self, counted: list[bool]) -> tuple[Kind, bool]:
        """A window over the events that are counted, and whether the keys `k` have windows of their own."""
        kinds = [self._time, self._time, self._unbounded, self._cumulate, self._levels, self._rows, self._rows]
        kind = self.chance.choice([*kinds, self._range_by_rows, self._session, self._session])
        by_key = kind in (self._rows, self._range_by_rows, self._session) and self.chance.random() < 0.5
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


def tried_window(chance: random.Random, given: Drawn, seed: str) -> tuple[str, Counter, Counter]:
    """A query over a random window, its rows, and those that it should have; refused, it is raised."""
    events, plans = given.tables["a"], Plans(seed)
    plans.chance = chance
    source = Source("e", "e", dict(OPEN))
    before = plans._predicate(source).replace("<=>", "=") if chance.random() < 0.3 else "TRUE"
    where = plans._predicate(source).replace("<=>", "=") if chance.random() < 0.4 else "TRUE"
    with cursor() as database:
        rows = events.append_column("seq", pa.array(range(events.num_rows), pa.int64()))
        database.register("e", rows)
        counted = [bool(found) for (found,) in database.execute(f"SELECT {before} FROM e ORDER BY seq").fetchall()]
        kind, by_key = WindowPlans(chance, events).drawn(counted)
        keys = ["k"] if by_key else chance.choice([[], ["k"], ["n"], ["k", "n"]])
        several = chance.choice(["ROLLUP", "CUBE"]) if keys and not by_key and chance.random() < 0.3 else ""
        if several and ("SESSION" in kind.text or by_key):
            several = ""
        asked = [plans._aggregate(source)[0] for _ in range(chance.randint(1, 3))]
        if kind.reaches and chance.random() < 0.6:
            asked.append(_of_level(chance, plans, source, len(kind.reaches)))
        having = chance.choice(["", "", " HAVING COUNT(*) > 1"])
        listed = ", ".join([*keys, *(f"{one} AS a{i}" for i, one in enumerate(asked))])
        grouped = f"{several} ({', '.join(keys)})" if several else ", ".join(keys)
        group = f" GROUP BY {grouped}" if keys and not by_key else ""
        shown = "" if where == "TRUE" else f" WHERE {where}"
        if before == "TRUE":
            text = f"SELECT {listed} FROM a {kind.text} AS e{shown}{group}{having}"
        else:
            text = f"WITH v AS (SELECT ts, k, n, x FROM a AS e WHERE {before}) SELECT {listed} FROM v {kind.text} AS e{shown}{group}{having}"
        members = [(number, row) for number, (_, own) in enumerate(kind.held) for row in own]
        numbers, places = (pa.array([pair[i] for pair in members], pa.int64()) for i in (0, 1))
        times = events["ts"].cast(pa.int64()).to_pylist()
        levels = pa.array([kind.finest(number, times[row]) for number, row in members], pa.int64())
        database.register("members", pa.table({"w": numbers, "seq": places, "level": levels}))
        by = ", ".join(part for part in ("w", grouped) if part)
        found = database.execute(
            for_duckdb(f"SELECT w, {listed} FROM members JOIN e USING (seq) WHERE {where} GROUP BY {by}{having}")
        ).fetchall()
    theirs = Counter((*kind.held[row[0]][0], *map(rounded, row[1:])) for row in found)
    names = [*keys, *(f"a{i}" for i in range(len(asked)))]
    told = results(text, Drawn({"a": events}, given.batch_rows, given.restarts))
    mine = Counter(tuple(rounded(row[name]) for name in (*kind.told_by, *names)) for row in told)
    return text, mine, theirs


def _of_level(chance: random.Random, plans: Plans, source: Source, levels: int) -> str:
    """An aggregate of the rows that a level holds, in the answers of coarser ones too."""
    asked = plans._aggregate(source)[0]
    level = chance.randint(0, levels - 1)
    wanted = "level = 0" if level == 0 else f"level <= {level}"
    if " FILTER (WHERE " in asked:
        return asked.replace(" FILTER (WHERE ", f" FILTER (WHERE {wanted} AND ")
    return f"{asked} FILTER (WHERE {wanted})"


def rounded(value: object) -> object:
    return round(value, 9) + 0.0 if isinstance(value, float) else value
