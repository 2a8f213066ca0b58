"""One stream in a shard: its clock, and the windows that are folded over it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.spaces import AnySpace, RowSpace
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.plan.windows.session_window import SessionWindow
from windrow.runtime.answers.audience import Audience
from windrow.runtime.answers.query_answers import QueryAnswers
from windrow.runtime.contracts import KeptSpace
from windrow.runtime.late import Answered, corrected_events, late_events
from windrow.runtime.outcome import Outcome
from windrow.runtime.payload import CLOCK, COUNTS, HEADER, REJECTED, Payload
from windrow.runtime.reject import late_rows, rejected_of
from windrow.runtime.rows.partition_space import PartitionSpaceState
from windrow.runtime.rows.passed import Passing
from windrow.runtime.rows.rows_apart import refuse_rows_apart
from windrow.runtime.rows.session_space import SessionSpaceState
from windrow.runtime.set_aside import SetAside
from windrow.runtime.share import Share
from windrow.runtime.states import state_of
from windrow.runtime.time.space import SpaceState
from windrow.runtime.wall_clock import WallClock, newest_event
from windrow.storage.columns import decode
from windrow.storage.working_set import NoRoomError, WorkingSet


class NoRoomForError(NoRoomError):
    """A space wants more memory than there is."""

    def __init__(self, space: AnySpace, size: int) -> None:
        super().__init__(size)
        self.space = space


class StreamState:
    """What a shard holds of one stream, and how a batch changes it.

    `newest` is its newest event time, and `clock` how far it has come: windows that end by then are answered.
    """

    def __init__(
        self,
        plan: StreamPlan,
        blocks: WorkingSet,
        kept: Mapping[str, Any],
        older: StreamState | None = None,
        forgets: Collection[str] = (),
        begun: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """As `kept` has it; an `older` view of the same state gives what it has in memory. `forgets` was dropped.

        `begun` is how often the answers of queries have begun anew.
        """
        self.plan, self._blocks = plan, blocks
        self._settled_to: int | None = kept.get("settled_to")
        self.newest: int | None = kept.get("newest")
        self.clock: int | None = kept.get("clock")
        self._rows: int = kept.get("rows", 0)
        self._wall = WallClock(plan.timing, plan.lateness_us, kept.get("wall"), plan.clock.alpha)
        user = dict(plan.user_code)
        self.spaces: dict[AnySpace, KeptSpace] = {}
        self._aside = SetAside(blocks, kept.get("aside"), forgets)
        live = kept.get("spaces", {}) | kept.get("differences", {})
        if not kept.get("rows_shared"):
            refuse_rows_apart(plan, live)
        states = self._aside.sorted_out(live, plan.held, kept.get("held", {}), self.clock)
        unseen = None if self.newest is None else self.newest + 1  # of times before it, some events have gone by
        known = {}
        if older is not None and not self._aside.deleted:
            known = {space.name: state for space, state in older.spaces.items()}
        for space in plan.spaces:
            state = state_of(space, plan, blocks, user, states.get(space.name), unseen, self._rows)
            if space.name in known:
                state.adopt(known[space.name])
            self.spaces[space] = state
        asking: dict[str, list[str]] = {}
        for query in plan.queries:
            if query.is_compared:
                asking.setdefault(query.compared, []).append(query.name)
        known_of = {name for name in asking if f"changes-{name}" in states}
        audience = Audience(asking, kept.get("audience"), known_of, begun, self._aside.moves)
        self._told = QueryAnswers(plan, blocks, states, audience)
        told_since: dict[str, int | None] = kept.get("told_since", {})
        correcting = [query.answer_name for query in plan.queries if plan.correct_us]
        self._told_since = {name: told_since.get(name, self.clock) for name in correcting}
        self._asking = [[query.name for query in plan.queries_of(space)] for space in plan.spaces]  # in order of these
        self._cuts = plan.cuts
        self._deciding = plan.deciding

    def advance(self, payloads: Sequence[Payload]) -> None:
        """Move the clock to the newest event time, less the lateness, or where the wall clock has it; never back.

        Where an earlier stage has read the stream, the clock is that of the earlier stage.
        """
        clocks = [self.clock, self._wall.clock(payloads, self.newest)]
        clocks += [payload.probe for payload in payloads if payload.name == CLOCK]
        newest = newest_event(payloads)
        if newest is not None:
            self.newest = newest if self.newest is None else max(self.newest, newest)
            clocks.append(self.newest - self.plan.lateness_us)
        self.clock = _latest(*clocks)

    def process(
        self, payloads: Sequence[Payload], flush: bool, settled: Sequence[Answered], outcome: Outcome
    ) -> int | None:
        """Fold a batch's payloads into panes, answer the windows that are due, let go of what no window needs.

        Pipelines over the stream have `settled` what they say, so what comes for it now is late. Returns the clock as
        the events have it: at the end of the input, windows that are still open move it further.
        """
        before, settled_to = self.clock, self._settled_to
        self.advance(payloads)
        reached = self.clock
        closed = None if before is None else self._cuts.pane_at(before)
        if settled_to is not None and any(space.is_final for space in self.spaces):
            closed = _latest(closed, self._cuts.pane_at(settled_to))
        answered = [*self._answered(before, settled_to), *settled]
        for payload in payloads:
            self._count(payload, closed if self.spaces else None, answered, outcome)
        newest = self.newest if flush else None
        until = self.clock
        for (space, state), asking in zip(self.spaces.items(), self._asking):
            began = outcome.now()
            own = [decode(payload.body) for payload in payloads if payload.name in state.reads]
            outcome.weight.add(space, own)
            since, clock = before, self.clock
            if space.is_final:
                since, clock = _latest(since, settled_to), _latest(clock, settled_to)
            state.absorb(own, since)
            if space == self._deciding and isinstance(state, SessionSpaceState):
                self._decide(state, answered, outcome)
            if self.plan.correct_us and isinstance(state, SpaceState | SessionSpaceState):
                state.correct(since, partial(self._told.correct, space, state, outcome, self._told_since))
            if clock is not None:
                try:
                    state.answer(since, clock, partial(self._told.answer, space, space.name, state, outcome), newest)
                except NoRoomError as error:
                    raise NoRoomForError(space, error.size) from None
                if isinstance(space, RowSpace) and isinstance(state, Passing) and state.passed:
                    self._told.compared.passed(space, state)
                outcome.duplicates += state.duplicates if isinstance(state, PartitionSpaceState) else 0
                self._told.levels(state, outcome)
                last = clock if newest is None else state.last_end(clock, newest)
                self._told.compared.empty(space, clock, newest, outcome)
                freed = state.expire(last)
                if freed is not None:
                    self._told.compared.release(space, freed)
                if newest is not None:
                    until = last if until is None else max(until, last)
            outcome.spend(asking, began)
        self._told.row_levels(outcome)
        self._told.clusters_in_turn(outcome)
        if reached is not None:
            self._told.compared.changes(reached, newest, outcome)
        self.clock = until
        self._settled_to = None if settled_to is None or _latest(until, settled_to) == until else settled_to
        self._aside.moves += newest_event(payloads) is not None or self.clock != before
        return reached

    def rewind(self, to: int, outcome: Outcome) -> list[str] | None:
        """Set the clock back to `to`, as if the newest event had been the lateness after it, and drop what is later.

        Returns the spaces that have to begin anew, or None where the clock is not that far.
        """
        if self.clock is None or self.newest is None or self.clock <= to:
            return None
        newest, was = to + self.plan.lateness_us, self.clock
        settled = max(was, was if self._settled_to is None else self._settled_to)
        anew = []
        for space, state in self.spaces.items():
            rewound = state.rewind(newest, settled)
            outcome.dropped += rewound.dropped
            if rewound.freed is not None:
                self._told.compared.release(space, rewound.freed)
            anew += [space.name] if rewound.anew else []
        self._told.compared.rewind(to)
        self.newest, self.clock = min(self.newest, newest), to
        self._settled_to = min(settled, newest)
        self._aside.moves += 1
        return anew

    def keep(self, share: Share) -> None:
        """Let go of the groups that are not of `share`. The clock, and how many rows there were, all shards have."""
        for space, state in self.spaces.items():
            if space.spread_by:
                self._told.compared.keep(space, share, state.keep(share))

    def save(self, version: int) -> dict[str, Any]:
        """Write changed blocks to the store; returns what opens them again."""
        for state in self.spaces.values():
            state.save(version)
        self._told.save(version)
        spaces = {space.name: state.snapshot() for space, state in self.spaces.items()}
        kept: dict[str, Any] = {"newest": self.newest, "clock": self.clock, "rows": self._rows, "spaces": spaces}
        kept |= {"wall": self._wall.snapshot(), "settled_to": self._settled_to}
        kept |= {"told_since": self._told_since} if self._told_since else {}
        kept |= {"rows_shared": True} if self.plan.row_spaces else {}
        kept |= {"audience": self._told.compared.audience.snapshot()}
        return kept | {"differences": self._told.snapshot(), "aside": self._aside.snapshot(), "held": self.plan.held}

    def space_of(self, query: QueryPlan) -> SpaceState:
        """The state that a query over time is answered from."""
        return next(
            state
            for space, state in self.spaces.items()
            if isinstance(state, SpaceState) and not state.space.unbounded and query in self.plan.queries_of(space)
        )

    def held(self, wanting: AnySpace | None = None, more: int = 0) -> list[tuple[list[str], int]]:
        """What must be in memory of each space, where one of them wants `more`, and for which queries.

        The last answers, which new ones are compared with, are of it.
        """
        return [
            (
                asking,
                state.bytes_held + self._told.nbytes(space) + (more if space == wanting else 0),
            )
            for (space, state), asking in zip(self.spaces.items(), self._asking)
        ]

    def _answered(self, before: int | None, settled_to: int | None) -> list[Answered]:
        """What the spaces have answered when the clock was at `before`; rows have their numbers up to it.

        Windows whose answers are still corrected are not among it.
        """
        found = []
        for space in self.spaces:
            until = _latest(before, settled_to) if space.is_final else before
            if until is None:
                continue
            if space == self._deciding:
                continue
            if isinstance(space.counts, SessionWindow):  # a row for itself is a session as long as the gap
                found.append(Answered(until - space.counts.gap_us - self.plan.correct_us))
            elif isinstance(space, RowSpace):
                found.append(Answered(until))
            else:
                until -= self.plan.correct_us
                found += [Answered(until, window) for window in dict.fromkeys(w.closes for w in space.windows)]
        return found

    def _count(self, payload: Payload, closed: int | None, answered: Sequence[Answered], outcome: Outcome) -> None:
        """Count rejected events by cause, and keep them where somebody asked for them.

        Rows before `closed` have no number. What was `answered` before the batch says who is late.
        """
        outcome.count(payload)
        if payload.name == HEADER:
            times, counts = _cells(payload)
            unnumbered = 0 if closed is None else int(counts[times < closed].sum())
            self._rows += int(counts.sum()) - unnumbered
        if payload.name == COUNTS and answered:
            times, counts = _cells(payload)
            late, in_part = late_events(times, answered)
            outcome.late += int(counts[late].sum())
            outcome.late_in_part += int(counts[in_part].sum())
            if self.plan.correct_us:
                outcome.corrected += int(counts[corrected_events(times, answered, self.plan.correct_us)].sum())
        if payload.name == REJECTED:
            outcome.rejected.append(rejected_of(decode(payload.body), self.plan.stream, answered))

    def _decide(self, state: SessionSpaceState, answered: Sequence[Answered], outcome: Outcome) -> None:
        """Count what sessions say of a batch's events, and keep those that are late where somebody asked for them."""
        outcome.late += state.late
        outcome.corrected += state.corrected
        for decided in state.decided:
            late, in_part = decided.late_among(answered)
            outcome.late += int(decided.counts[late].sum())
            outcome.late_in_part += int(decided.counts[in_part].sum())
            if self.plan.correct_us:
                again = decided.changed | corrected_events(decided.times, answered, self.plan.correct_us)
                outcome.corrected += int(decided.counts[again].sum())
            if self.plan.keeps_rejected and late.any():
                outcome.rejected.append(late_rows(decided.events.filter(pa.array(late)), self.plan.stream))


def _cells(payload: Payload) -> tuple[Any, Any]:
    """A time in each cell of events, and how many it holds."""
    cells = decode(payload.body)
    return cells.column("time").to_numpy(), cells.column("count").to_numpy()


def _latest(*instants: int | None) -> int | None:
    return max((instant for instant in instants if instant is not None), default=None)
