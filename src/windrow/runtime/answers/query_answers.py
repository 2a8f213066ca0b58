"""What queries are told of the windows that a shard answers: rows, or how these differ from those before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from windrow.plan.nodes.aggregates import Aggregate
from windrow.plan.nodes.emission import CORRECTED, SNAPSHOT
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.row_panes import RowPanes
from windrow.plan.nodes.spaces import RowSpace, Space
from windrow.plan.nodes.stream_plan import StreamPlan, followed_name
from windrow.plan.windows.parts import NestedWindow, level_of, parts_of
from windrow.plan.windows.row_levels import NestedRows, row_parts
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.answers.audience import Audience
from windrow.runtime.answers.changed_items import changed_items
from windrow.runtime.answers.corrections import told_again, told_first
from windrow.runtime.answers.differences import Differences, Told
from windrow.runtime.answers.join_levels import RowLevels, rows_of_levels
from windrow.runtime.answers.line_differences import Following, LineDifferences
from windrow.runtime.answers.places import Places
from windrow.runtime.answers.row_followers import RowFollower
from windrow.runtime.answers.rows import answer_rounding, answer_rows, rows_of_many
from windrow.runtime.answers.window_rows import row_by_row
from windrow.runtime.answers.windows import Answers, ManyAnswers
from windrow.runtime.contracts import KeptSpace
from windrow.runtime.group_slots import GroupSlots
from windrow.runtime.outcome import Outcome
from windrow.runtime.rows.passed import Passing
from windrow.runtime.rows.row_panes import RowPanesState
from windrow.runtime.share import Share
from windrow.runtime.time.corrected import Correction
from windrow.runtime.time.space import SpaceState
from windrow.storage.blocks import Blocks, Snapshot

AnySpace = Space | RowSpace


class QueryAnswers:
    """Hands the answers of windows to the queries that ask for them: as rows, or as what has changed since the last.

    Answers that are made of several levels wait until all of these have been given. Spaces and queries are known by
    their names here: a space of a thousand windows has a plan that takes long to compare.
    """

    def __init__(self, plan: StreamPlan, blocks: Blocks, kept: Mapping[str, Snapshot], audience: Audience) -> None:
        self.audience = audience
        self._user = dict(plan.user_code)
        self._asking: dict[tuple[str, TimeWindow | CountWindow | None], list[QueryPlan]] = {}
        for space in plan.spaces:
            name = space.name
            for query in plan.queries_of(space):
                for window in _answered_apart(space, query):
                    self._asking.setdefault((name, window), []).append(query)
        self._alike: dict[tuple[str, CountWindow], list[tuple[str, int]] | None] = {}
        self._kinds: dict[tuple[Aggregate, ...], int] = {}
        self._like: dict[int, QueryPlan] = {}
        self._changing = {
            space.name: [(query.compared, query) for query in plan.queries_of(space) if query.is_compared]
            for space in plan.spaces
        }
        self._compared_as = {query.name: name for changing in self._changing.values() for name, query in changing}
        comparing = {name: query for changing in self._changing.values() for name, query in changing}
        self._differences: dict[str, Differences] = {}
        self._lines: dict[str, LineDifferences] = {}
        for name, query in comparing.items():
            place, known = f"changes-{name}.rows", kept.get(f"changes-{name}")
            if _is_plain(query):
                self._differences[name] = Differences(query, place, blocks, known)
            else:
                self._lines[name] = LineDifferences(query, place, blocks, known)
        self._followers: dict[str, RowFollower] = {}
        for space in plan.row_spaces:
            for query in plan.queries_of(space):
                if query.clusters is not None and (name := followed_name(space, query)) not in self._followers:
                    place, known = f"{name}.clusters", kept.get(name)
                    self._followers[name] = RowFollower(space, query, place, self._user, blocks, known)
        self._nested: dict[str, tuple[QueryPlan, list[Answers]]] = {}
        self._nested_rows: dict[str, tuple[QueryPlan, RowLevels]] = {}
        self._waiting: dict[str, tuple[QueryPlan, RowLevels]] = {}

    def answer(self, space: AnySpace, name: str, state: KeptSpace, outcome: Outcome, answers: Answers) -> None:
        """Tell all who ask for them of the answers of a window of a space, whose `name` takes a while to find out."""
        if answers.parts is not None:
            self._answer_many(space, name, state, outcome, ManyAnswers(answers))
            return
        if isinstance(space, RowSpace) and space.is_alone:
            outcome.alone += answers.count
        else:
            outcome.answer(_kind(name, answers.window), answers.told_apart)
        self._tell(space, name, state, outcome, answers)

    def _answer_many(self, space: AnySpace, name: str, state: KeptSpace, outcome: Outcome, many: ManyAnswers) -> None:
        """The same of many windows that count rows: what is asked of each costs more than its few rows."""
        parts = many.answers.parts
        assert parts is not None and isinstance(state, RowPanesState)
        outcome.answer_each([_kind(name, window) for window in parts.windows], parts.rows, many.answers.told_apart)
        made: dict[int, pa.RecordBatch | None] = {}
        for number, window in enumerate(parts.windows):
            first, stop = parts.cuts[number : number + 2]
            alike = self._told_alike(name, window, state)
            for _, kind in alike or ():
                if kind not in made:
                    made[kind] = rows_of_many(self._like[kind], state.groups, many, self._user)
            found = [(query, made[kind]) for query, kind in alike or ()]
            told = [(query, rows.slice(first, stop - first)) for query, rows in found if rows is not None]
            if alike is not None and len(told) == len(found):
                outcome.results += told
            else:
                self._tell(space, name, state, outcome, many.part(number))

    def _told_alike(self, name: str, window: CountWindow, state: RowPanesState) -> list[tuple[str, int]] | None:
        """Who asks for the rows of a window as they are, each with the number of its aggregates; None if some do not.

        The aggregates of thousands of queries are compared once.
        """
        place = (name, window)
        if place not in self._alike:
            asking = self._asking[place]
            if all(_is_told_all(query) and state.knows_all(query) for query in asking):
                self._alike[place] = [(query.name, self._kind_of(query)) for query in asking]
            else:
                self._alike[place] = None
        return self._alike[place]

    def _kind_of(self, query: QueryPlan) -> int:
        kind = self._kinds.setdefault(query.aggregates, len(self._kinds))
        self._like.setdefault(kind, query)
        return kind

    def _tell(self, space: AnySpace, name: str, state: KeptSpace, outcome: Outcome, answers: Answers) -> None:
        told: dict[str, Told] = {}
        followed: dict[str, Answers] = {}
        for query in self._asking[name, answers.window]:
            mine = answers
            if isinstance(state, SpaceState) and isinstance(answers.window, TimeWindow):
                mine = answers.since(state.first_end(query, answers.window))
            elif isinstance(state, RowPanesState):
                mine = state.told(query, answers)
            elif isinstance(space, RowSpace):
                mine = replace(answers, window=space.window)
                if query.clusters is not None:
                    own = followed_name(space, query)
                    if own not in followed:
                        followed[own] = self._followers[own].with_clusters(mine, state.groups)
                    mine = followed[own]
                    if self._followers[own].in_turn:
                        waiting = self._waiting.setdefault(query.name, (query, RowLevels(query)))
                        waiting[1].add(mine, state.groups)
                        continue
            if query.joins_levels and isinstance(space, RowSpace):
                if query.name not in self._nested_rows:
                    self._nested_rows[query.name] = (query, RowLevels(query))
                self._nested_rows[query.name][1].add(mine, state.groups)
                continue
            if query.joins_levels:
                self._nested.setdefault(query.name, (query, []))[1].append(mine)
                continue
            if query.emit == CORRECTED:
                batch, overflows = answer_rows(query, state.groups, mine, self._user)
                batches = [told_first(query, batch)]
            elif query.emit == SNAPSHOT:
                batch, overflows = answer_rows(query, state.groups, mine, self._user)
                batches = [row_by_row(query, batch) if query.items else batch]
            elif (compared := self._compared_as[query.name]) in told:
                batches, overflows = self._mine(query, told[compared]), 0
            elif compared in self._lines:
                overflows = self._compare(query, compared, mine, state.groups)
                batches, told[compared] = [], Told([], None)
            else:
                clusters = mine.clusters_for(query)
                batch, overflows = answer_rows(query, state.groups, mine, self._user)
                slots = mine.slots if clusters is None else mine.slots[clusters.rows]
                noise = answer_rounding(query, mine, self._user)
                anew = self.audience.has_new(compared)
                told[compared] = self._differences[compared].told(batch, slots, clusters, noise, anew)
                batches = self._mine(query, told[compared])
            outcome.failed += overflows
            outcome.add(query.name, batches)
        self._have_told(told)

    def correct(
        self, space: AnySpace, state: SpaceState, outcome: Outcome, since: Mapping[str, int | None], told: Correction
    ) -> None:
        """Tell all who were told of windows what holds instead; each query was told of those `since` its clock."""
        window = told.now.window
        assert isinstance(window, TimeWindow)
        for query in self._asking[space.name, window]:
            first, clock = state.first_end(query, window), since[query.answer_name]
            first = first if clock is None else max(first, clock + 1)
            mine = [part.since(first) for part in (told.was, told.now)]
            had = told.had[told.now.ends >= first]
            was, now = (answer_rows(query, state.groups, part, self._user) for part in mine)
            outcome.failed += now[1]
            outcome.add(query.name, [told_again(query, now[0], was[0], had)])

    def levels(self, state: KeptSpace, outcome: Outcome) -> None:
        """Answers that are made of those of several levels, all of which have been given by now."""
        compared: set[str] = set()
        for query, answers in self._nested.values():
            self._join(query, answers, state.groups, compared, outcome)
        self._nested = {}

    def row_levels(self, outcome: Outcome) -> None:
        """The same of levels in rows, each of which has a space of its own."""
        compared: set[str] = set()
        for query, levels in self._nested_rows.values():
            self._join(query, levels.answers, levels.groups, compared, outcome)
        self._nested_rows = {}

    def clusters_in_turn(self, outcome: Outcome) -> None:
        """Clusters that are followed through early answers and others, which are of two spaces."""
        for follower in self._followers.values():
            follower.number()
        compared: set[str] = set()
        for query, waiting in self._waiting.values():
            name = self._compared_as.get(query.name)
            for answers in waiting.answers if name not in compared else ():
                if name is None:
                    batch, overflows = answer_rows(query, waiting.groups, answers, self._user)
                    outcome.add(query.name, [row_by_row(query, batch) if query.items else batch])
                else:
                    overflows = self._compare(query, name, answers, waiting.groups)
                outcome.failed += overflows
            compared |= set() if name is None else {name}
        self._waiting = {}

    def passed(self, space: RowSpace, state: Passing) -> None:
        """Note which windows of a space were due, for those who are told that one has become empty."""
        windows, state.passed = state.passed or [], []
        for name, query in dict(self._changing[space.name]).items():
            assert isinstance(query.window, CountWindow)
            for one in windows:
                window = one.window or space.window
                if one.window is not None and window not in row_parts(query.window):
                    continue
                level = level_of(query.window, window) if isinstance(query.window, NestedRows) else None
                places = Places.of(one.ends, one.rows, one.instants, by_row=True)
                self._lines[name].pass_by(state.keys_of(one), level, places)

    def changes(self, clock: int, newest: int | None, outcome: Outcome) -> None:
        """Tell what differs where each key or each level has windows of its own: all answers have been given by now."""
        told: dict[str, Told] = {}
        asking = {query.name: (name, query) for changing in self._changing.values() for name, query in changing}
        for name, query in asking.values():  # each once, though it may be answered by several spaces
            if name not in self._lines:
                continue
            if name not in told:
                following = _following(query.window, clock, newest) if isinstance(query.window, TimeWindow) else None
                told[name] = self._lines[name].told(following, self.audience.has_new(name))
            batches = self._mine(query, told[name])
            outcome.add(query.name, [changed_items(query, batch) for batch in batches] if query.items else batches)
        self._have_told(told)

    def empty(self, space: AnySpace, clock: int, newest: int | None, outcome: Outcome) -> None:
        """Tell what is gone because windows have ended that hold nothing; with `newest` the input has ended there."""
        told: dict[str, Told] = {}
        for name, query in self._changing[space.name]:
            if name in self._lines:
                continue
            assert isinstance(query.window, TimeWindow)
            if name not in told:
                last = query.window.last_ended(clock)
                if newest is not None:
                    last = max(last, query.window.last_over(newest))
                told[name] = self._differences[name].emptied(last)
            outcome.add(query.name, self._mine(query, told[name]))
        self._have_told(told)

    def release(self, space: AnySpace, slots: np.ndarray) -> None:
        """Groups have gone, and their slots will be those of others."""
        for name in self._compared(space) & self._differences.keys():
            self._differences[name].release(slots)

    def keep(self, space: AnySpace, share: Share, others: np.ndarray) -> None:
        """Let go of what was told of groups that are not of `share`: those in the slots `others`, or in none."""
        for name in self._compared(space):
            self._all()[name].keep(share, space.spread_by, others)

    def rewind(self, clock: int) -> None:
        """Windows after `clock` are going to be told again."""
        for differences in self._all().values():
            differences.rewind(clock)

    def nbytes(self, space: AnySpace) -> int:
        """What the last answers take that new ones are compared with."""
        followers = [] if isinstance(space, Space) else self._of(space)
        return sum(part.nbytes for part in [*(self._all()[name] for name in self._compared(space)), *followers])

    def save(self, version: int) -> None:
        for part in (*self._all().values(), *self._followers.values()):
            part.save(version)

    def snapshot(self) -> Snapshot:
        compared = {f"changes-{name}": differences.snapshot() for name, differences in self._all().items()}
        return compared | {name: follower.snapshot() for name, follower in self._followers.items()}

    def _compare(self, query: QueryPlan, name: str, answers: Answers, groups: GroupSlots) -> int:
        """Have the rows of answers compared with those before, later; how many values are NULL instead."""
        batch, overflows = answer_rows(query, groups, answers, self._user)
        clusters, places = answers.clusters_for(query), answers.places
        places = places if clusters is None else places.taken(clusters.rows)
        self._lines[name].add(batch, places, answer_rounding(query, answers, self._user))
        return overflows

    def _mine(self, query: QueryPlan, told: Told) -> list[pa.RecordBatch]:
        """What one of those who share what is compared is told."""
        if told.whole is None or not self.audience.is_new(self._compared_as[query.name], query.name):
            return told.changes
        return told.whole

    def _have_told(self, told: Mapping[str, Told]) -> None:
        for name, each in told.items():
            if each.whole is not None:
                self.audience.tell(name)

    def _of(self, space: RowSpace) -> list[RowFollower]:
        return [follower for follower in self._followers.values() if follower.space == space]

    def _all(self) -> dict[str, Differences | LineDifferences]:
        return {**self._differences, **self._lines}

    def _compared(self, space: AnySpace) -> set[str]:
        return {name for name, _ in self._changing[space.name]}

    def _join(
        self, query: QueryPlan, answers: list[Answers], groups: GroupSlots, compared: set[str], outcome: Outcome
    ) -> None:
        """Tell the rows, or have them compared with those before, once for all queries that are `compared` alike."""
        joined, overflows = rows_of_levels(query, answers, groups, self._user)
        outcome.failed += overflows
        name = self._compared_as.get(query.name)
        if name is None:
            outcome.add(query.name, [batch for batch, _ in joined])
        elif name not in compared:
            compared.add(name)
            for batch, places in joined:
                self._lines[name].add(batch, places, {})


def _answered_apart(space: AnySpace, query: QueryPlan) -> Sequence[TimeWindow | CountWindow | None]:
    """The windows of a query that a space answers one by one."""
    if isinstance(space, Space) and isinstance(query.window, TimeWindow):
        return space.parts_of(query.window)
    if isinstance(space, RowPanes) and isinstance(query.window, CountWindow):
        return row_parts(query.window)
    return (None,)


def _is_told_all(query: QueryPlan) -> bool:
    """Whether a query is told the rows of each of its windows as they are."""
    apart = bool(query.items) or query.clusters is not None or isinstance(query.window, NestedRows)
    return query.emit == SNAPSHOT and not apart


def _is_plain(query: QueryPlan) -> bool:
    """Whether all answers are of one kind of window over time, one after the other."""
    window = query.window
    return isinstance(window, TimeWindow) and not isinstance(window, NestedWindow) and window.every_us is None


def _following(window: TimeWindow, clock: int, newest: int | None) -> Following:
    """When the answer after another one is due, by level, where the clock is at `clock` or the input has ended."""
    parts = parts_of(window)
    finals = [part for part in parts if not part.is_early]

    def following(level: int, instant: int) -> int | None:
        final = finals[level]
        last = final.last_ended(clock) if newest is None else max(final.last_ended(clock), final.last_over(newest))
        number = final.last_ended(instant) + 1
        due = [final.end(number)] if number <= last else []
        for early in (part for part in parts if part.is_early and part.closes == final):
            number = early.last_ended(instant) + 1
            due += [early.end(number)] if early.end(number) <= clock else []
        return min(due, default=None)

    return following


def _kind(space: str, window: TimeWindow | CountWindow | None) -> str:
    """A name for the windows of a space that are answered, the same in all shards."""
    if isinstance(window, CountWindow):
        return f"{space}.{window.rows}-{window.slide_rows}"
    return space if window is None else f"{space}.{window.label}"
