"""Answers that are compared with the last ones, since who asks for them is told only what has changed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.spaces import AnySpace, RowSpace
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.plan.windows.parts import NestedWindow, level_of, parts_of
from windrow.plan.windows.row_levels import NestedRows, row_parts
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.answers.audience import Audience
from windrow.runtime.answers.changed_items import changed_items
from windrow.runtime.answers.differences import Differences, Told
from windrow.runtime.answers.line_differences import Following, LineDifferences
from windrow.runtime.answers.places import Places
from windrow.runtime.answers.rows import answer_rounding, answer_rows
from windrow.runtime.answers.windows import Answers
from windrow.runtime.group_slots import GroupSlots
from windrow.runtime.outcome import Outcome
from windrow.runtime.rows.passed import Passing
from windrow.runtime.share import Share
from windrow.storage.blocks import Blocks, Snapshot


class Comparisons:
    """The last answers, each kept once for all queries whose answers are equal, and known by a name.

    Windows over time of one kind come one after the other, and what differs is told at once (`Differences`). Where each
    key or each level has windows of its own, answers wait until the batch has given all (`LineDifferences`).
    """

    def __init__(self, plan: StreamPlan, blocks: Blocks, kept: Mapping[str, Snapshot], audience: Audience) -> None:
        self.audience, self._user = audience, dict(plan.user_code)
        self._asking = {
            space.name: [(query.compared, query) for query in plan.queries_of(space) if query.is_compared]
            for space in plan.spaces
        }
        self._names = {query.name: name for asking in self._asking.values() for name, query in asking}
        self._differences: dict[str, Differences] = {}
        self._lines: dict[str, LineDifferences] = {}
        for name, query in {name: query for asking in self._asking.values() for name, query in asking}.items():
            place, known = f"changes-{name}.rows", kept.get(f"changes-{name}")
            if _is_plain(query):
                self._differences[name] = Differences(query, place, blocks, known)
            else:
                self._lines[name] = LineDifferences(query, place, blocks, known)

    def name_of(self, query: QueryPlan) -> str | None:
        """What its answers are compared as, if they are."""
        return self._names.get(query.name)

    def told(
        self, query: QueryPlan, answers: Answers, groups: GroupSlots, told: dict[str, Told]
    ) -> tuple[list[pa.RecordBatch], int]:
        """What a query is told now, and how many values are NULL instead; `told` has what others were of the same."""
        name, overflows = self._names[query.name], 0
        if name not in told and name in self._lines:
            overflows, told[name] = self.add(query, answers, groups), Told([], None)
        elif name not in told:
            clusters = answers.clusters_for(query)
            batch, overflows = answer_rows(query, groups, answers, self._user)
            slots = answers.slots if clusters is None else answers.slots[clusters.rows]
            noise = answer_rounding(query, answers, self._user)
            anew = self.audience.has_new(name)
            told[name] = self._differences[name].told(batch, slots, clusters, noise, anew)
        return self._mine(query, told[name]), overflows

    def add(self, query: QueryPlan, answers: Answers, groups: GroupSlots) -> int:
        """Answers to compare once all have been given; how many values are NULL instead."""
        batch, overflows = answer_rows(query, groups, answers, self._user)
        clusters, places = answers.clusters_for(query), answers.places
        places = places if clusters is None else places.taken(clusters.rows)
        self._lines[self._names[query.name]].add(batch, places, answer_rounding(query, answers, self._user))
        return overflows

    def add_rows(self, name: str, rows: pa.RecordBatch, places: Places) -> None:
        """The same of rows that are made already, of several levels."""
        self._lines[name].add(rows, places, {})

    def have_told(self, told: Mapping[str, Told]) -> None:
        """All who ask have been told of these."""
        for name, each in told.items():
            if each.whole is not None:
                self.audience.tell(name)

    def passed(self, space: RowSpace, state: Passing) -> None:
        """Note which windows of a space were due, for those who are told that one has become empty."""
        windows, state.passed = state.passed or [], []
        for name, query in dict(self._asking[space.name]).items():
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
        asking = {query.name: (name, query) for asking in self._asking.values() for name, query in asking}
        for name, query in asking.values():  # each once, though it may be answered by several spaces
            if name not in self._lines:
                continue
            if name not in told:
                following = _following(query.window, clock, newest) if isinstance(query.window, TimeWindow) else None
                told[name] = self._lines[name].told(following, self.audience.has_new(name))
            batches = self._mine(query, told[name])
            outcome.add(query.name, [changed_items(query, batch) for batch in batches] if query.items else batches)
        self.have_told(told)

    def empty(self, space: AnySpace, clock: int, newest: int | None, outcome: Outcome) -> None:
        """Tell what is gone because windows have ended that hold nothing; with `newest` the input has ended there."""
        told: dict[str, Told] = {}
        for name, query in self._asking[space.name]:
            if name in self._lines:
                continue
            assert isinstance(query.window, TimeWindow)
            if name not in told:
                last = query.window.last_ended(clock)
                if newest is not None:
                    last = max(last, query.window.last_over(newest))
                told[name] = self._differences[name].emptied(last)
            outcome.add(query.name, self._mine(query, told[name]))
        self.have_told(told)

    def release(self, space: AnySpace, slots: np.ndarray) -> None:
        """Groups have gone, and their slots will be those of others."""
        for name in self._of(space) & self._differences.keys():
            self._differences[name].release(slots)

    def keep(self, space: AnySpace, share: Share, others: np.ndarray) -> None:
        """Let go of what was told of groups that are not of `share`: those in the slots `others`, or in none."""
        for name in self._of(space):
            self._all()[name].keep(share, space.spread_by, others)

    def rewind(self, clock: int) -> None:
        """Windows after `clock` are going to be told again."""
        for differences in self._all().values():
            differences.rewind(clock)

    def nbytes(self, space: AnySpace) -> int:
        return sum(self._all()[name].nbytes for name in self._of(space))

    def save(self, version: int) -> None:
        for differences in self._all().values():
            differences.save(version)

    def snapshot(self) -> dict[str, Snapshot]:
        return {f"changes-{name}": differences.snapshot() for name, differences in self._all().items()}

    def _mine(self, query: QueryPlan, told: Told) -> list[pa.RecordBatch]:
        """What one of those who share what is compared is told."""
        if told.whole is None or not self.audience.is_new(self._names[query.name], query.name):
            return told.changes
        return told.whole

    def _all(self) -> dict[str, Differences | LineDifferences]:
        return {**self._differences, **self._lines}

    def _of(self, space: AnySpace) -> set[str]:
        return {name for name, _ in self._asking[space.name]}


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
