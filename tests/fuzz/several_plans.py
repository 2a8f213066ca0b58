"""Several random queries in one job, of which some come later and some leave: each is told what it is told alone."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from random import Random

import pyarrow as pa

from oracle.at_instants import LATENESS, Drawn, text_of
from windrow.errors import WindrowError
from windrow.plan.nodes.query_plan import QueryPlan

from .jobs import Job, Setting, Tables, cuts
from .plans import Plans, for_windrow
from .questions import drawn_question
from .window_plans import WindowPlans

LATE = f"{LATENESS} microseconds"


class OtherAnswersError(Exception):
    """A query beside others was told something else than alone."""


def drawn_text(chance: Random, seed: str, events: Tables) -> str:
    """A query over the streams a and b, of any kind."""
    plans = Plans(seed, most=3)
    plans.chance = chance
    if chance.random() < 0.5:
        kind, by_key = WindowPlans(chance, events["a"]).drawn([True] * events["a"].num_rows)
        return drawn_question(chance, plans, by_key, len(kind.reaches)).text(f"a {kind.text} AS e")
    if chance.random() < 0.15:
        return text_of(for_windrow(plans.near([" {}", " {}"]).text)) + chance.choice(["", " EMIT FINAL"])
    slide = chance.choice([None, None, 2, 3])
    emit = chance.choice(["", "", " EMIT CHANGES"] if slide else ["", "", " EMIT LAST EVERY 4 MICROSECONDS"])
    return text_of(for_windrow(plans.drawn().text), f" SLIDE {slide} MICROSECONDS" if slide else "") + emit


def alone(text: str, batches: list[dict[str, pa.Table]], events: Tables) -> list[Counter]:
    """What the query is told by itself, up to each batch, and when the input has ended."""
    job = Job({"q": text}, events, Setting(), Random(0), LATE)
    found = []
    for batch in batches:
        job.step(batch)
        found.append(counted(job.rows["q"]))
    job.flush()
    return [*found, counted(job.rows["q"])]


def counted(rows: list[dict]) -> Counter:
    return Counter(repr(sorted(row.items())) for row in rows)


@dataclass
class Course:
    """Queries by name, the batches at which they come and leave, and what was there when they came."""

    texts: dict[str, str]
    batches: list[dict[str, pa.Table]]
    events: Tables
    comes: dict[str, int]
    leaves: dict[str, int]
    found_run: dict[str, bool] = field(default_factory=dict)
    newest: dict[str, int] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)

    def run(self, setting: Setting, chance: Random) -> Job:
        first = {name: text for name, text in self.texts.items() if name in self.comes and not self.comes[name]}
        job = Job(first, self.events, setting, chance, LATE)
        self.found_run = dict.fromkeys(first, False)
        for number, batch in enumerate([*self.batches, None]):
            for name in self.texts:
                if self.comes[name] == number > 0:
                    before = job.runs
                    job.ask({name: self.texts[name]})
                    self.found_run[name], clock = job.run_of(name) in before, job.clock_of(name)
                    self.newest[name] = -100 if clock is None else clock + LATENESS
                    self.log.append(f"{name} comes at {number} into {job.run_of(name)}, newest {self.newest[name]}")
                if self.leaves.get(name) == number and name in job.queries:
                    job.drop(name)
                    self.log.append(f"{name} leaves at {number}")
            if chance.random() < 0.2:
                job.restart({name: text for name, text in self.texts.items() if name in job.queries})
                self.log.append(f"restart at {number}")
            if batch is None:
                job.flush()
            else:
                job.step(batch)
        return job

    def check(self, name: str, job: Job) -> None:
        """Raise what a query was told in `job` that it is not told alone, and what it was not told."""
        mine, text, came = counted(job.rows[name]), self.texts[name], self.comes[name]
        end = self.leaves.get(name, len(self.batches) + 1) - 1
        if not self.found_run[name]:
            if came > end >= 0:
                return  # it has read all that there was, and left
            batches = self.batches
            if came:
                past = {name: pa.concat_tables(batch[name] for batch in batches[:came]) for name in self.events}
                batches = [past, *batches[came:]]
            wanted = alone(text, batches, self.events)[end - came + bool(came)] if end >= came else Counter[str]()
        elif end < came:
            wanted = Counter()
        elif isinstance(job.known[name], QueryPlan):
            self._check_since(name, job, end)
            return
        else:
            wanted = alone(text, self.batches[came:], self.events)[end - came]
        self._compare(name, mine - wanted, wanted - mine)

    def _check_since(self, name: str, job: Job, end: int) -> None:
        """A query that came later is told whole windows, and at least those that begin after it came."""
        if any(word in self.texts[name] for word in ("ROWS", "UNBOUNDED", "EMIT", "UNTIL")):
            return  # they begin when they come
        mine, whole = counted(job.rows[name]), alone_rows(self.texts[name], self.batches, self.events, end)
        gap = re.search(r"SESSION (\d+)", self.texts[name])  # what came before may be of a session that begins later
        known = self.newest[name] + (int(gap[1]) if gap else 0)
        since = counted([row for row in whole if row["window_start"] > known])
        self._compare(name, mine - counted(whole), since - mine)

    def _compare(self, name: str, more: Counter[str], less: Counter[str]) -> None:
        if more or less:
            raise OtherAnswersError(f"{name} more {more} less {less}\n{self.log}\n{self.texts}")


def tried_several(chance: Random, given: Drawn, seed: str) -> str:
    """What became of four queries that come and leave while the others go on."""
    events, texts = given.tables, dict[str, str]()
    batches = list(cuts(chance, events))
    while len(texts) < 4:
        text = drawn_text(chance, f"{seed}/{len(texts)}", events)
        try:
            Job({"q": text}, events, Setting(), Random(0), LATE)
        except WindrowError:
            continue
        texts[f"q{len(texts)}"] = text
    first = chance.sample(list(texts), chance.randint(1, 3))
    comes = {name: 0 if name in first else chance.randint(1, len(batches)) for name in texts}
    leaves = {name: chance.randint(max(came, 1), len(batches)) for name, came in comes.items() if chance.random() < 0.4}
    if all(name in leaves for name in first):
        del leaves[first[0]]
    course = Course(texts, batches, events, comes, leaves)
    job = course.run(Setting.drawn(chance).with_plenty(), chance)
    for name in texts:
        course.check(name, job)
    return "answered"


def alone_rows(text: str, batches: list[dict[str, pa.Table]], events: Tables, end: int) -> list[dict]:
    job = Job({"q": text}, events, Setting(), Random(0), LATE)
    for batch in batches[: end + 1]:
        job.step(batch)
    if end == len(batches):
        job.flush()
    return job.rows["q"]
