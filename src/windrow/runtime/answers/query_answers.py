"""What queries are told of the windows that a shard answers: rows, or how these differ from those before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from windrow.plan.nodes.emission import CORRECTED, SNAPSHOT
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.row_panes import RowPanes
from windrow.plan.nodes.spaces import AnySpace, RowSpace, Space
from windrow.plan.nodes.stream_plan import StreamPlan, followed_name
from windrow.plan.windows.row_levels import row_parts
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.answers.audience import Audience
from windrow.runtime.answers.comparisons import Comparisons
from windrow.runtime.answers.corrections import Correction, told_again, told_first
from windrow.runtime.answers.differences import Told
from windrow.runtime.answers.join_levels import RowLevels, rows_of_levels
from windrow.runtime.answers.row_followers import RowFollower
from windrow.runtime.answers.rows import answer_rows, rows_of_many
from windrow.runtime.answers.told_alike import ToldAlike
from windrow.runtime.answers.window_rows import row_by_row
from windrow.runtime.answers.windows import Answers, ManyAnswers
from windrow.runtime.contracts import Correcting, KeptSpace
from windrow.runtime.group_slots import GroupSlots
from windrow.runtime.outcome import Outcome
from windrow.runtime.rows.row_panes import RowPanesState
from windrow.runtime.time.space import SpaceState
from windrow.storage.blocks import Blocks, Snapshot


class QueryAnswers:
    """Hands the answers of windows to the queries that ask for them: as rows, or as what has changed since the last.

    Answers that are made of several levels wait until all of these have been given. Spaces and queries are known by
    their names here: a space of a thousand windows has a plan that takes long to compare.
    """

    def __init__(self, plan: StreamPlan, blocks: Blocks, kept: Mapping[str, Snapshot], audience: Audience) -> None:
        self._user = dict(plan.user_code)
        self._asking: dict[tuple[str, TimeWindow | CountWindow | None], list[QueryPlan]] = {}
        for space in plan.spaces:
            name = space.name
            for query in plan.queries_of(space):
                for window in _answered_apart(space, query):
                    self._asking.setdefault((name, window), []).append(query)
        self._alike = ToldAlike(self._asking)
        self.compared = Comparisons(plan, blocks, kept, audience)
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
            alike = self._alike.of(name, window, state)
            for _, kind in alike or ():
                if kind not in made:
                    made[kind] = rows_of_many(self._alike.like(kind), state.groups, many, self._user)
            found = [(query, made[kind]) for query, kind in alike or ()]
            told = [(query, rows.slice(first, stop - first)) for query, rows in found if rows is not None]
            if alike is not None and len(told) == len(found):
                outcome.results += told
            else:
                self._tell(space, name, state, outcome, many.part(number))

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
            else:
                batches, overflows = self.compared.told(query, mine, state.groups, told)
            outcome.failed += overflows
            outcome.add(query.name, batches)
        self.compared.have_told(told)

    def correct(
        self, space: AnySpace, state: Correcting, outcome: Outcome, since: Mapping[str, int | None], told: Correction
    ) -> None:
        """Tell all who were told of windows what holds instead; each query was told of those `since` its clock."""
        window = told.now.window
        assert window is None or isinstance(window, TimeWindow)
        for query in self._asking[space.name, window]:
            first = state.first_told(query, window, since[query.answer_name])
            mine = [part.since(first) for part in (told.was, told.now)]
            had, has = (side[told.now.ends >= first] for side in (told.had, told.has))
            was, now = (answer_rows(query, state.groups, part, self._user) for part in mine)
            outcome.failed += now[1]
            outcome.add(query.name, [told_again(query, now[0], was[0], had, has)])

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
            name = self.compared.name_of(query)
            for answers in waiting.answers if name not in compared else ():
                if name is None:
                    batch, overflows = answer_rows(query, waiting.groups, answers, self._user)
                    outcome.add(query.name, [row_by_row(query, batch) if query.items else batch])
                else:
                    overflows = self.compared.add(query, answers, waiting.groups)
                outcome.failed += overflows
            compared |= set() if name is None else {name}
        self._waiting = {}

    def nbytes(self, space: AnySpace) -> int:
        """What the last answers take that new ones are compared with."""
        followers = [follower for follower in self._followers.values() if follower.space == space]
        return self.compared.nbytes(space) + sum(follower.nbytes for follower in followers)

    def save(self, version: int) -> None:
        self.compared.save(version)
        for follower in self._followers.values():
            follower.save(version)

    def snapshot(self) -> Snapshot:
        followed = {name: follower.snapshot() for name, follower in self._followers.items()}
        return self.compared.snapshot() | followed

    def _join(
        self, query: QueryPlan, answers: list[Answers], groups: GroupSlots, compared: set[str], outcome: Outcome
    ) -> None:
        """Tell the rows, or have them compared with those before, once for all queries that are `compared` alike."""
        joined, overflows = rows_of_levels(query, answers, groups, self._user)
        outcome.failed += overflows
        name = self.compared.name_of(query)
        if name is None:
            outcome.add(query.name, [batch for batch, _ in joined])
        elif name not in compared:
            compared.add(name)
            for batch, places in joined:
                self.compared.add_rows(name, batch, places)


def _answered_apart(space: AnySpace, query: QueryPlan) -> Sequence[TimeWindow | CountWindow | None]:
    """The windows of a query that a space answers one by one."""
    if isinstance(space, Space) and isinstance(query.window, TimeWindow):
        return space.parts_of(query.window)
    if isinstance(space, RowPanes) and isinstance(query.window, CountWindow):
        return row_parts(query.window)
    return (None,)


def _kind(space: str, window: TimeWindow | CountWindow | None) -> str:
    """A name for the windows of a space that are answered, the same in all shards."""
    if isinstance(window, CountWindow):
        return f"{space}.{window.rows}-{window.slide_rows}"
    return space if window is None else f"{space}.{window.label}"
