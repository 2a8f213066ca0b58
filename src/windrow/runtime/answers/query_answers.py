"""What queries are told of the windows that a shard answers: rows, or how these differ from those before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from windrow.plan.nodes.emission import SNAPSHOT
from windrow.plan.nodes.pipeline import QueryPlan, StreamPlan
from windrow.plan.nodes.spaces import RowSpace, Space
from windrow.plan.windows.parts import parts_of
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.answers.differences import Differences
from windrow.runtime.answers.join_levels import RowLevels, rows_of_levels
from windrow.runtime.answers.rows import answer_rounding, answer_rows
from windrow.runtime.answers.window_rows import row_by_row
from windrow.runtime.answers.windows import Answers
from windrow.runtime.contracts import KeptSpace
from windrow.runtime.group_slots import GroupSlots
from windrow.runtime.outcome import Outcome
from windrow.runtime.share import Share
from windrow.runtime.time.space import SpaceState
from windrow.storage.blocks import Blocks, Snapshot

AnySpace = Space | RowSpace


class QueryAnswers:
    """Hands the answers of windows to the queries that ask for them: as rows, or as what has changed since the last.

    Answers that are made of several levels wait until all of these have been given. Spaces and queries are known by
    their names here: a space of a thousand windows has a plan that takes long to compare.
    """

    def __init__(self, plan: StreamPlan, blocks: Blocks, kept: Mapping[str, Snapshot]) -> None:
        self._user = dict(plan.user_code)
        self._asking: dict[tuple[str, TimeWindow | None], list[QueryPlan]] = {}
        for space in plan.spaces:
            for query in plan.queries_of(space):
                for window in parts_of(query.window) if isinstance(query.window, TimeWindow) else (None,):
                    self._asking.setdefault((space.name, window), []).append(query)
        self._changing = {
            space.name: [(query.compared, query) for query in plan.queries_of(space) if query.emit != SNAPSHOT]
            for space in plan.spaces
        }
        self._compared_as = {query.name: name for changing in self._changing.values() for name, query in changing}
        comparing = {name: query for changing in self._changing.values() for name, query in changing}
        self._differences = {
            name: Differences(query, f"changes-{name}.rows", blocks, kept.get(f"changes-{name}"))
            for name, query in comparing.items()
        }
        self._nested: dict[str, tuple[QueryPlan, list[Answers]]] = {}
        self._nested_rows: dict[str, tuple[QueryPlan, RowLevels]] = {}

    def answer(self, space: AnySpace, state: KeptSpace, outcome: Outcome, answers: Answers) -> None:
        """Tell all who ask for them of the answers of a window."""
        if isinstance(space, RowSpace) and space.is_alone:
            outcome.alone += answers.count
        else:
            outcome.answer(_kind(space, answers), answers.told_apart)
        told: dict[str, list[pa.RecordBatch]] = {}
        for query in self._asking[space.name, answers.window]:  # type: ignore[index]
            mine = answers
            if isinstance(state, SpaceState) and isinstance(answers.window, TimeWindow):
                mine = answers.since(state.first_end(query, answers.window))
            elif isinstance(space, RowSpace):
                mine = replace(answers, window=space.window)
            if query.joins_levels and isinstance(space, RowSpace):
                if query.name not in self._nested_rows:
                    self._nested_rows[query.name] = (query, RowLevels(query))
                self._nested_rows[query.name][1].add(mine, state.groups)
                continue
            if query.joins_levels:
                self._nested.setdefault(query.name, (query, []))[1].append(mine)
                continue
            if query.emit == SNAPSHOT:
                batch, overflows = answer_rows(query, state.groups, mine, self._user)
                batches = [row_by_row(query, batch) if query.items else batch]
            elif (name := self._compared_as[query.name]) in told:
                batches, overflows = told[name], 0
            else:
                clusters = mine.clusters_for(query)
                batch, overflows = answer_rows(query, state.groups, mine, self._user)
                slots = mine.slots if clusters is None else mine.slots[clusters.rows]
                noise = answer_rounding(query, mine, self._user)
                batches = told[name] = self._differences[name].told(batch, slots, clusters, noise)
            outcome.failed += overflows
            outcome.add(query.name, batches)

    def levels(self, state: KeptSpace, outcome: Outcome) -> None:
        """Answers that are made of those of several levels, all of which have been given by now."""
        for query, answers in self._nested.values():
            self._join(query, answers, state.groups, outcome)
        self._nested = {}

    def row_levels(self, outcome: Outcome) -> None:
        """The same of levels in rows, each of which has a space of its own."""
        for query, levels in self._nested_rows.values():
            self._join(query, levels.answers, levels.groups, outcome)
        self._nested_rows = {}

    def empty(self, space: AnySpace, clock: int, newest: int | None, outcome: Outcome) -> None:
        """Tell what is gone because windows have ended that hold nothing; with `newest` the input has ended there."""
        told: dict[str, list[pa.RecordBatch]] = {}
        for name, query in self._changing[space.name]:
            assert isinstance(query.window, TimeWindow)
            if name not in told:
                last = query.window.last_ended(clock)
                if newest is not None:
                    last = max(last, query.window.last_over(newest))
                told[name] = self._differences[name].emptied(last)
            outcome.add(query.name, told[name])

    def release(self, space: AnySpace, slots: np.ndarray) -> None:
        """Groups have gone, and their slots will be those of others."""
        for name in self._compared(space):
            self._differences[name].release(slots)

    def keep(self, space: AnySpace, share: Share, others: np.ndarray) -> None:
        """Let go of what was told of groups that are not of `share`: those in the slots `others`, or in none."""
        for name in self._compared(space):
            self._differences[name].keep(share, space.spread_by, others)

    def rewind(self, clock: int) -> None:
        """Windows after `clock` are going to be told again."""
        for differences in self._differences.values():
            differences.rewind(clock)

    def nbytes(self, space: AnySpace) -> int:
        """What the last answers take that new ones are compared with."""
        return sum(self._differences[name].nbytes for name in self._compared(space))

    def save(self, version: int) -> None:
        for differences in self._differences.values():
            differences.save(version)

    def snapshot(self) -> Snapshot:
        return {f"changes-{name}": differences.snapshot() for name, differences in self._differences.items()}

    def _compared(self, space: AnySpace) -> set[str]:
        return {name for name, _ in self._changing[space.name]}

    def _join(self, query: QueryPlan, answers: list[Answers], groups: GroupSlots, outcome: Outcome) -> None:
        batches, overflows = rows_of_levels(query, answers, groups, self._user)
        outcome.failed += overflows
        outcome.add(query.name, batches)


def _kind(space: AnySpace, answers: Answers) -> str:
    """A name for the windows that are answered, the same in all shards."""
    return f"{space.name}.{answers.window.label}" if isinstance(answers.window, TimeWindow) else space.name
