"""Who is late: a counting of its own, from the definition, of events that several queries of several kinds read."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.compile.compile import Wishes, compile_queries
from windrow.local.local_catalog import local_catalog
from windrow.local.replay_stages import StageReplay
from windrow.plan.catalog import Catalog
from windrow.plan.nodes.stage import StagePlan
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.plan.windows.session_window import SessionWindow
from windrow.runtime.reject import RAW
from windrow.runtime.shard import Shard

from .judge import TIME

SECOND = 10**6
SCHEMA = pa.schema({"ts": TIME, "k": pa.string(), "x": pa.int64(), "id": pa.int64()})
Event = tuple[int, str, int, int]
Fates = dict[int, tuple[bool, bool, bool]]
"""By the id of an event: whether an answer was given without it, whether one takes it, and changes for that."""


class Windows:
    """Queries whose answers are of windows, which end at `ends(time)`."""

    def __init__(self, text: str, ends: Callable[[int], list[int]]) -> None:
        self.text, self._ends = text, ends

    def fates(self, batch: list[Event], clock: int | None, correct: int) -> Fates:
        found = {}
        for time, *_, number in batch:
            ends = self._ends(time)
            missed = [end for end in ends if clock is not None and end <= clock - correct]
            again = [end for end in ends if clock is not None and clock - correct < end <= clock]
            found[number] = bool(missed), len(missed) < len(ends), bool(again)
        return found

    def move(self, clock: int | None, correct: int) -> None:
        """The clock has come to `clock`."""


class Instants(Windows):
    """Queries that settle one instant after the other."""

    def __init__(self, text: str) -> None:
        super().__init__(text, lambda time: [time + 1])


class Growing(Windows):
    """Windows without bound: any event comes into some that is still to end."""

    def __init__(self, text: str, slide: int) -> None:
        super().__init__(text, lambda time: [*range(time // slide * slide + slide, 200, slide), 10**9])


class Sessions(Windows):
    """Sessions of those that are partitioned `by` a key, or of the stream: which one is told by all that it holds."""

    def __init__(self, gap: int, by: bool, above: int | None) -> None:
        source = "s" if above is None else f"(SELECT * FROM s WHERE x > {above})"
        key = "PARTITION BY k " if by else ""
        self.text = f"SELECT COUNT(*) AS n FROM {source} [{key}SESSION {gap} SECONDS]"
        self._gap, self._by, self._above = gap, by, -1 if above is None else above
        self._held: list[Event] = []
        self._told: set[int] = set()

    def fates(self, batch: list[Event], clock: int | None, correct: int) -> Fates:
        come = [event for event in batch if event[2] > self._above]
        fresh, found = {event[3] for event in come}, {}
        staying: list[Event] = []
        for island in self._islands([*self._held, *come]):
            end = island[-1][0] + self._gap
            gone = clock is not None and end < clock - correct
            staying += [] if gone else island
            again = clock is not None and not gone and (end < clock or any(event[3] in self._told for event in island))
            found |= {number: (gone, not gone, again) for *_, number in island if number in fresh}
        self._held = staying
        return found

    def move(self, clock: int | None, correct: int) -> None:
        if clock is not None:
            islands = self._islands(self._held)
            self._told = {event[3] for one in islands if one[-1][0] + self._gap < clock for event in one}
            self._held = [event for one in islands if one[-1][0] + self._gap >= clock - correct for event in one]

    def _islands(self, events: list[Event]) -> list[list[Event]]:
        found: list[list[Event]] = []
        for key in sorted({event[1] for event in events}) if self._by else [None]:
            last = None
            for event in sorted((event for event in events if key in (None, event[1])), key=lambda event: event[0]):
                if last is None or event[0] - last > self._gap:
                    found.append([])
                found[-1].append(event)
                last = event[0]
        return found


def sliding(reach: int, slide: int, offset: int = 0) -> Callable[[int], list[int]]:
    def ends(time: int) -> list[int]:
        first = (time - offset) // slide * slide + offset
        return [end for end in range(first, time + reach + slide, slide) if end - reach <= time < end]

    return ends


def asked(chance: random.Random, corrected: bool) -> Windows:
    """A query of some kind; of those that are corrected, if need be."""
    reach, slide = chance.choice([(10, 5), (7, 5), (3, 5), (5, 5), (20, 4), (1, 1), (2, 7)])
    offset = chance.choice([0, 0, 1, 3])
    window = f"RANGE {reach} SECONDS SLIDE {slide} SECONDS"
    shifted = f"{window} OFFSET {offset} SECONDS" if offset else window
    ends = sliding(reach, slide, offset)
    kinds = [
        Windows(f"SELECT COUNT(*) AS n FROM s [{shifted}]", ends),
        Windows(f"SELECT k, SUM(x) AS n FROM s [{shifted}] WHERE x > 3 GROUP BY k", ends),
        Windows(
            "SELECT COUNT(*) AS n FROM s [RANGES 20 SECONDS, 5 SECONDS SLIDES 10 SECONDS, 5 SECONDS]",
            lambda time: [*sliding(20, 10)(time), *sliding(5, 5)(time)],
        ),
        Windows(
            "SELECT COUNT(*) AS n FROM s [RANGE 12 SECONDS SLIDE 4 SECONDS CUMULATE]",
            lambda time: list(range(time // 4 * 4 + 4, time // 12 * 12 + 13, 4)),
        ),
        Growing(f"SELECT COUNT(*) AS n FROM s [RANGE UNBOUNDED SLIDE {slide} SECONDS]", slide),
    ]
    if not corrected:
        joined = "SELECT a.k, COUNT(*) AS n FROM s [{0}] AS a JOIN s [{0}] AS b ON a.k = b.k GROUP BY a.k"
        kinds += [
            Windows(f"SELECT COUNT(*) AS n FROM s [{shifted} EMIT EVERY 1 SECOND]", ends),
            Windows(f"SELECT DISTINCT k FROM s [{window}]", sliding(reach, slide)),
            Windows(joined.format(window), sliding(reach, slide)),
            Instants(joined.format(f"RANGE {reach} SECONDS")),
            Instants("SELECT COUNT(*) AS n FROM s [RANGE UNBOUNDED]"),
            Instants("SELECT COUNT(*) AS n FROM s [ROWS 3 SLIDE 2]"),
            Instants("SELECT COUNT(*) AS n FROM s [RANGE 5 SECONDS SLIDE 2 ROWS]"),
            Instants("SELECT k, COUNT(*) AS n FROM s [PARTITION BY k ROWS 3 SLIDE 1]"),
            Instants("SELECT COUNT(*) AS n FROM s [FROM x > 5 UNTIL x > 7]"),
        ]
    return chance.choice(kinds)


def known(lateness: int = 0, correct: int = 0) -> Catalog:
    """The stream, whose lateness and time of corrections are in seconds."""
    limits = {"lateness": f"{lateness} seconds", "correct_for": f"{correct} seconds" if correct else None}
    plain = {"time": "ts", "idle_clock": False, "aggregates": {}, "clusterings": {}}
    return local_catalog({"s": SCHEMA.empty_table()}, {}, **plain, **limits)


def plans_of(texts: list[str], catalog: Catalog) -> list[StagePlan]:
    named = {f"q{i}": text for i, text in enumerate(texts)}
    return list(compile_queries(named, catalog, {}.__getitem__, Wishes(), {}).values())


class Rejecting(StageReplay):
    """A replay in which the rows of events are kept as they came."""

    def __init__(self, plan: StagePlan) -> None:
        keeping = tuple(replace(stream, keeps_rejected=True) for stream in plan.streams)
        super().__init__(replace(plan, streams=keeping), known().streams, {"s": SCHEMA.empty_table()})

    def _evaluated(self, plan: StreamPlan, events: pa.Table, arrived_us: int | None) -> pa.Table:
        return super()._evaluated(plan, events, arrived_us).append_column(RAW, events["id"].cast(pa.string()))

    def start_again(self) -> None:
        self.shard = Shard(self.plan, self.blocks, self.shard.save())


@dataclass(frozen=True)
class Trial:
    """Queries over events in batches."""

    queries: list[Windows]
    batches: list[list[Event]]
    lateness: int
    correct: int
    restarts: list[bool]


@st.composite
def trials(draw: st.DrawFn) -> Trial:
    chance = random.Random(draw(st.integers(0, 2**32)))
    correct = chance.choice([0, 0, 1, 6, 30])
    queries: list[Windows] = [asked(chance, correct > 0) for _ in range(chance.randint(0, 3))]
    if chance.random() < 0.6 or not queries:
        queries.append(Sessions(chance.choice([2, 5, 9]), chance.random() < 0.5, chance.choice([None, None, 4])))
    batches: list[list[Event]] = []
    at, number = 30, 0
    for _ in range(chance.randint(2, 9)):
        times = [max(0, at + chance.choice([0, 1, 2, 5, 9, -3, -9, -20, -40])) for _ in range(chance.randint(0, 6))]
        batches.append([(t, chance.choice("ab"), chance.randint(0, 9), number + i) for i, t in enumerate(times)])
        at, number = max([at, *times]), number + len(times)
    restarts = [chance.random() < 0.3 for _ in batches]
    return Trial(queries, batches, chance.choice([0, 0, 3]), correct, restarts)


def as_table(batch: list[Event]) -> pa.Table:
    times, *others = zip(*batch) if batch else [()] * 4
    own = pa.array([time * SECOND for time in times], pa.int64()).cast(TIME)
    return pa.table([own, *(pa.array(column, type) for column, type in zip(others, SCHEMA.types[1:]))], schema=SCHEMA)


@settings(max_examples=examples(400), deadline=None)
@given(trials())
def test_an_event_is_late_where_no_answer_takes_it_and_in_part_where_some_do(trial: Trial):
    texts = [query.text for query in trial.queries]
    for plan in plans_of(texts, known(trial.lateness, trial.correct)):  # those that run together have one clock
        mine = [trial.queries[int(query.name[1:])] for query in plan.queries]
        replayed, clock = Rejecting(plan), None
        for batch, again in zip(trial.batches, trial.restarts):
            if again:
                replayed.start_again()
            fates = [query.fates(batch, clock, trial.correct) for query in mine]
            none = False, False, False
            sides = {n: [any(side) for side in zip(*(each.get(n, none) for each in fates))] for *_, n in batch}
            late = [number for number, (missed, takes, _) in sides.items() if missed and not takes]
            _, outcome = replayed.work_off({"s": as_table(batch)})
            rejected = [int(row["row"]) for rows in outcome.rejected for row in rows.to_pylist()]
            assert sorted(rejected) == late
            assert outcome.late == len(late)
            assert outcome.late_in_part == sum(missed and takes for missed, takes, _ in sides.values())
            assert outcome.corrected == sum(changes for *_, changes in sides.values())
            newest = max((time - trial.lateness for time, *_ in batch), default=None)
            clock = max((instant for instant in (clock, newest) if instant is not None), default=None)
            for query in mine:
                query.move(clock, trial.correct)


def test_of_several_kinds_of_sessions_those_decide_that_take_whatever_others_do():
    windows = ["[PARTITION BY k SESSION 2 SECONDS]", "[SESSION 9 SECONDS]", "[PARTITION BY k SESSION 9 SECONDS]"]
    (plan,) = plans_of([f"SELECT COUNT(*) AS n FROM s {window}" for window in windows], known())
    deciding = plan.streams[0].deciding
    assert deciding is not None and isinstance(deciding.window, SessionWindow)
    assert (deciding.window.gap_us, deciding.window.partition) == (9 * SECOND, ())


@pytest.mark.parametrize("beside", ["[RANGE 5 SECONDS SLIDE 5 SECONDS]", "[ROWS 2 SLIDE 1]", "[RANGE 5 SECONDS]"])
def test_an_event_that_a_session_takes_is_not_rejected_for_what_others_have_answered(beside: str):
    for plan in plans_of(
        [f"SELECT COUNT(*) AS n FROM s {window}" for window in ("[SESSION 5 SECONDS]", beside)], known()
    ):
        replayed = Rejecting(plan)
        replayed.work_off({"s": as_table([(16, "a", 1, 0), (20, "a", 1, 1)])})
        _, outcome = replayed.work_off({"s": as_table([(12, "a", 1, 2)])})
        alone = len(plan.queries) == 1 and plan.queries[0].name == "q1"
        assert (outcome.late, outcome.late_in_part) == ((1, 0) if alone else (0, 1))
