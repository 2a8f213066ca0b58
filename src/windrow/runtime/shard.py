"""One shard's work: payloads and state in, results and state out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from windrow.errors import MemoryLimitError, StateError
from windrow.plan.memory import too_large
from windrow.plan.nodes.pipeline import QueryPlan, StreamPlan
from windrow.plan.nodes.spaces import RowSpace, Space
from windrow.runtime.answers.told import Told
from windrow.runtime.contracts import KeptSpace
from windrow.runtime.outcome import Outcome
from windrow.runtime.payload import COUNTS, FLUSH, HEADER, REJECTED, RESET, Payload
from windrow.runtime.reject import rejected_of
from windrow.runtime.states import state_of
from windrow.runtime.time.space import SpaceState
from windrow.runtime.wall_clock import WallClock, newest_event
from windrow.storage.blocks import Blocks
from windrow.storage.columns import decode
from windrow.storage.working_set import NoRoomError, WorkingSet

FORMAT = 3
"""The version of the state's format; a checkpoint of another one is refused."""


class Shard:
    """The state of one shard of a stream, in memory, and how a batch changes it.

    Nothing in here reads a clock, a file or a random number: the same payloads on the same state give the same bits.
    """

    def __init__(self, plan: StreamPlan, blocks: Blocks, snapshot: bytes | None = None, older: Shard | None = None):
        self.plan, self._home = plan, blocks
        self._open(opened(snapshot) if snapshot is not None else {"version": 0, "newest": None, "clock": None}, older)

    def _open(self, kept: dict[str, Any], older: Shard | None) -> None:
        """Be as `kept` has it; where the clock was not set back since, an `older` view gives what it has in memory."""
        plan = self.plan
        self._blocks = blocks = WorkingSet(self._home, plan.memory_bytes, plan.wanted.get("eviction") or "distance")
        self.version: int = kept["version"]
        self._rewinds: int = kept.get("rewinds", 0)
        self._settled_to: int | None = kept.get("settled_to")
        self.newest: int | None = kept["newest"]
        self.clock: int | None = kept["clock"]
        self._rows: int = kept.get("rows", 0)
        self._wall = WallClock(plan.timing, plan.lateness_us, kept.get("wall"))
        self._user = dict(plan.user_code)
        self._spaces: dict[Space | RowSpace, KeptSpace] = {}
        states: dict[str, Any] = dict(kept.get("spaces", {}))
        unseen = None if self.newest is None else self.newest + 1  # of times before it, some events have gone by
        known = {}
        if older is not None and older._rewinds == self._rewinds:
            known = {space.name: state for space, state in older._spaces.items()}
        for space in plan.spaces:
            state = state_of(space, plan, blocks, self._user, states.pop(space.name, None), unseen, self._rows)
            if space.name in known:
                state.adopt(known[space.name])
            self._spaces[space] = state
        self._told = Told(plan, blocks, kept.get("differences", {}))
        self._cuts = plan.cuts
        for name in states:  # of queries that are no more
            blocks.delete_all(f"{name}.")

    def process(self, payloads: Sequence[Payload]) -> Outcome:
        """Fold a batch's payloads into panes, answer the windows that are due, let go of what no window needs."""
        payloads = sorted(payloads, key=lambda payload: (payload.task, payload.part))
        outcome = Outcome()
        for to in sorted(payload.probe for payload in payloads if payload.name == RESET and payload.probe is not None):
            self._rewind(to, outcome)
        before, settled = self.clock, self._settled_to
        self._advance(payloads)
        closed = None if before is None else self._cuts.pane_at(before)
        if settled is not None and any(_is_final(space) for space in self._spaces):
            closed = _latest(closed, self._cuts.pane_at(settled))
        for payload in payloads:
            self._count(payload, closed, outcome)
        newest = self.newest if any(payload.name == FLUSH for payload in payloads) else None
        until = self.clock
        for space, state in self._spaces.items():
            own = [decode(payload.body) for payload in payloads if payload.name in state.reads]
            since, clock = before, self.clock
            if _is_final(space):
                since, clock = _latest(since, settled), _latest(clock, settled)
            state.absorb(own, since)
            if clock is not None:
                try:
                    state.answer(since, clock, partial(self._told.answer, space, state, outcome), newest)
                except NoRoomError as error:
                    raise self._too_large(self._held(space, error.size)) from None
                self._told.levels(state, outcome)
                last = clock if newest is None else state.last_end(clock, newest)
                self._told.empty(space, clock, newest, outcome)
                freed = state.expire(last)
                if freed is not None:
                    self._told.release(space, freed)
                if newest is not None:
                    until = last if until is None else max(until, last)
        self._told.row_levels(outcome)
        self.clock = until
        self._settled_to = None if settled is None or _latest(until, settled) == until else settled
        self._check_memory()
        return outcome

    def save(self) -> bytes:
        """Write changed blocks to the store; returns the snapshot that opens them again."""
        self.version += 1
        for state in self._spaces.values():
            state.save(self.version)
        self._told.save(self.version)
        self._blocks.make_room()
        spaces = {space.name: state.snapshot() for space, state in self._spaces.items()}
        kept = {"version": self.version, "newest": self.newest, "clock": self.clock, "spaces": spaces}
        kept |= {"wall": self._wall.snapshot(), "rows": self._rows}
        kept |= {"rewinds": self._rewinds, "settled_to": self._settled_to}
        kept["differences"] = self._told.snapshot()
        return json.dumps({"format": FORMAT} | kept).encode()

    def forget_blocks(self) -> None:
        """Keep in memory only what could not be read again."""
        self._blocks.shrink(0)

    def space_of(self, query: QueryPlan) -> SpaceState:
        """The state that a query over time is answered from."""
        return next(
            state
            for space, state in self._spaces.items()
            if isinstance(state, SpaceState) and query in self.plan.queries_of(space)
        )

    @property
    def memory_limit(self) -> int:
        return self.plan.memory_bytes

    @property
    def groups(self) -> int:
        """How many groups are held, over all spaces."""
        return sum(len(state.groups) for state in self._spaces.values())

    @property
    def bytes_in_memory(self) -> int:
        """What the shard keeps from batch to batch: decoded blocks, groups, and windows that are kept folded."""
        return self._blocks.bytes_in_memory

    def _check_memory(self) -> None:
        """What groups and folded windows hold counts against the limit, and it cannot be let go."""
        held = self._held()
        self._blocks.held = sum(held.values())
        if self._blocks.held > self.plan.memory_bytes:
            raise self._too_large(held)

    def _held(self, wanting: Space | RowSpace | None = None, more: int = 0) -> dict[Space | RowSpace, int]:
        """What must be in memory of each space, where one of them wants `more`; the last answers are compared with."""
        return {
            space: state.bytes_held + self._told.nbytes(space) + (more if space == wanting else 0)
            for space, state in self._spaces.items()
        }

    def _too_large(self, held: dict[Space | RowSpace, int]) -> MemoryLimitError:
        """Names the fewest spaces that are beyond the limit together."""
        names, size = [], 0
        for space in sorted(held, key=lambda space: held[space], reverse=True):
            if size <= self.plan.memory_bytes:
                names += [query.name for query in self.plan.queries_of(space)]
                size += held[space]
        return MemoryLimitError(too_large(names, size, self.plan.memory_bytes))

    def _advance(self, payloads: Sequence[Payload]) -> None:
        """Move the clock to the newest event time, less the lateness, or where the wall clock has it; never back."""
        clocks = [self.clock, self._wall.clock(payloads, self.newest)]
        newest = newest_event(payloads)
        if newest is not None:
            self.newest = newest if self.newest is None else max(self.newest, newest)
            clocks.append(self.newest - self.plan.lateness_us)
        self.clock = _latest(*clocks)

    def _rewind(self, to: int, outcome: Outcome) -> None:
        """Set the clock back to `to`, as if the newest event had been the lateness after it, and drop what is later.

        Windows that end after `to` are answered again, from the first one that all is known of. What has been folded
        with what is dropped is folded anew, so the shard is opened anew from what is left.
        """
        if self.clock is None or self.newest is None or self.clock <= to:
            return
        newest, was = to + self.plan.lateness_us, self.clock
        settled = max(was, was if self._settled_to is None else self._settled_to)
        anew = []
        for space, state in self._spaces.items():
            rewound = state.rewind(newest, settled)
            outcome.dropped += rewound.dropped
            if rewound.freed is not None:
                self._told.release(space, rewound.freed)
            anew += [space.name] if rewound.anew else []
        self._told.rewind(to)
        self.newest, self.clock = min(self.newest, newest), to
        self._settled_to = min(settled, newest)
        self._rewinds += 1
        kept = json.loads(self.save())
        kept["wall"] = None  # what was learnt of the delay of events was learnt from those that are gone, too
        for name in anew:
            del kept["spaces"][name]
            self._blocks.delete_all(f"{name}.")
        self._open(kept, None)

    def _count(self, payload: Payload, closed: int | None, outcome: Outcome) -> None:
        """Count rejected events by cause, and keep them where somebody asked for them.

        Events before `closed` are late for some window, if not for all.
        """
        outcome.count(payload)
        if payload.name in (HEADER, COUNTS):
            cells = decode(payload.body)
            times, counts = cells.column("time").to_numpy(), cells.column("count").to_numpy()
            late = 0 if closed is None else int(counts[times < closed].sum())
            if payload.name == COUNTS:
                outcome.late += late
            else:
                self._rows += int(counts.sum()) - late
        if payload.name == REJECTED:
            outcome.rejected.append(rejected_of(decode(payload.body), self.plan.stream, closed))


def _is_final(space: Space | RowSpace) -> bool:
    """Whether what the clock has passed is taken in for good: rows keep their numbers, and a window without bound only
    grows. When the clock goes back, such a space stays where it is until the clock is there again."""
    return isinstance(space, RowSpace) or space.unbounded


def _latest(*instants: int | None) -> int | None:
    return max((instant for instant in instants if instant is not None), default=None)


def opened(snapshot: bytes) -> dict:
    """What a shard of either kind has kept, if it is of this format."""
    kept = json.loads(snapshot)
    if kept.get("format") != FORMAT:
        raise StateError(
            f"the checkpoint holds state of format {kept.get('format')}, and this version of Windrow reads format"
            f" {FORMAT}: start it with the version that wrote it, or with a new checkpoint"
        )
    return kept
