"""One shard's work: payloads and state in, results and state out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from windrow.errors import MemoryLimitError, StateError
from windrow.plan.memory import too_large
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.stage import AnyQuery, Feed, StagePlan
from windrow.runtime.changes.pipelines import Batch, Pipelines
from windrow.runtime.contracts import Joins
from windrow.runtime.feed import fed
from windrow.runtime.outcome import Outcome
from windrow.runtime.payload import ANSWERS, CLOCK, FLUSH, LEFT_OUT, RESET, Payload
from windrow.runtime.set_aside import streams_away
from windrow.runtime.share import Share
from windrow.runtime.split import refuse_unsplit, unsplit_in
from windrow.runtime.stream_state import NoRoomForError, StreamState
from windrow.runtime.time.space import SpaceState
from windrow.runtime.wall_clock import newest_event
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.columns import decode
from windrow.storage.working_set import WorkingSet

FORMAT = 4
"""The version of the state's format; a checkpoint of another one is refused."""


class Shard:
    """The state of one shard of a stage, in memory, and how a batch changes it.

    Events move the clocks of their streams and are folded into windows; pipelines over changes follow these clocks. All
    of it is in one set of blocks, under one limit of memory. Nothing in here reads a clock, a file or a random number:
    the same payloads on the same state give the same bits.
    """

    def __init__(self, plan: StagePlan, blocks: Blocks, snapshot: bytes | None = None, older: Shard | None = None):
        self.plan, self._home = plan, blocks
        self._open({"version": 0} if snapshot is None else opened(snapshot), older)

    def _open(self, kept: Snapshot, older: Shard | None) -> None:
        """Be as `kept` has it; where the clock was not set back since, an `older` view gives what it has in memory."""
        eviction = next((way for plan in self.plan.streams if (way := plan.wanted.get("eviction"))), "distance")
        self._blocks = WorkingSet(self._home, self.plan.memory_bytes, eviction)
        self.version: int = kept["version"]
        self._rewinds: int = kept.get("rewinds", 0)
        older = older if older is not None and older._rewinds == self._rewinds else None
        known: dict[str, StreamState] = {} if older is None else older.streams
        streams = kept.get("streams", {})
        self.streams: dict[str, StreamState] = {}
        for plan in self.plan.streams:
            own = streams.get(plan.stream, {})
            older_state = known.get(plan.stream)
            state = StreamState(plan, self._blocks, own, older_state, self.plan.forgets, dict(self.plan.begun))
            self.streams[plan.stream] = state
        self._away = streams_away(kept, self.streams, self.plan.forgets, self._blocks)
        answering: list[AnyQuery] = [query for plan in self.plan.streams for query in plan.queries]
        answering += self.plan.changing
        self._made_of = [query for query in answering if query.name.startswith("#")]
        self._fed_here = {feed.stream.stream: feed for feed in self.plan.feeds if feed.here}
        told = kept.get("pipelines", {})
        ran = None if older is None else older._pipelines
        self._pipelines: Pipelines = Pipelines(self.plan, self._blocks, told, self.version, ran)

    def process(
        self, payloads: Sequence[Payload], joins: Joins | None = None, now: Callable[[], int] | None = None
    ) -> Outcome:
        """Work off a batch: what has come is counted, windows and pipelines are told of it, and answer what is due.

        `joins` has the tables that answers are joined with where these are events of a stream, and `now` is a stopwatch
        by which the time of each query is noted.
        """
        payloads = sorted(payloads, key=lambda payload: (payload.task, payload.part))
        outcome = Outcome() if now is None else Outcome(now=now)
        for to in sorted(payload.probe for payload in payloads if payload.name == RESET and payload.probe is not None):
            self._rewind(to, outcome)
        flush = any(payload.name == FLUSH for payload in payloads)
        for payload in payloads:  # of an earlier stage
            if payload.name == LEFT_OUT:
                outcome.rejected.append(decode(payload.body))
            elif payload.name.startswith(ANSWERS):
                outcome.add(payload.name.removeprefix(ANSWERS), [decode(payload.body)])
        batch = Batch(payloads, flush)
        for name, state in self.streams.items():
            if name in self._fed_here:
                self._feed(self._fed_here[name], batch, outcome, joins)
            own = [payload for payload in batch.payloads if payload.stream in ("", name)]
            before = state.clock, state.newest
            try:
                batch.clocks[name] = state.process(own, flush, self._pipelines.settled(name), outcome)
            except NoRoomForError as error:
                raise self._too_large(self._held(error)) from None
            batch.newest[name] = state.newest
            if (batch.clocks[name], state.newest) != before or newest_event(own) is not None:
                outcome.clocks[name] = batch.clocks[name], state.newest
        self._pipelines.process(batch, outcome)
        outcome.clocks |= {query.name[1:]: (self._told_to(query, batch), None) for query in self._made_of}
        self._check_memory()
        return outcome

    def _feed(self, feed: Feed, batch: Batch, outcome: Outcome, joins: Joins | None) -> None:
        """Let the answers of a query be events of the batch; its stream has come as far as they have been given."""
        if isinstance(feed.query, ChangePlan):
            self._pipelines.process(batch, outcome)
        events = fed(feed, outcome, 0, [0], joins)
        clock = self._told_to(feed.query, batch)
        moved = [] if clock is None else [Payload(0, 0, 0, clock, CLOCK, b"", stream=feed.stream.stream)]
        batch.payloads += [*moved, *events]

    def _told_to(self, query: AnyQuery, batch: Batch) -> int | None:
        """Up to which instant all answers of a query have been given."""
        return batch.told_to.get(query.name) if isinstance(query, ChangePlan) else self.streams[query.stream].clock

    def keep(self, share: Share) -> None:
        """Become one of the shards that this one is split into: what is not of `share` goes.

        Groups are told apart by their keys. What has no keys is in one shard as a whole, and begins anew in all others,
        where nothing will ever come to it.
        """
        kept = json.loads(self.save())
        refuse_unsplit(unsplit_in(kept, self._fed_here))
        for name, state in self.streams.items():
            elsewhere = [space for space in state.spaces if not share.holds(space)]
            compared = [f"changes-{query.compared}" for space in elsewhere for query in state.plan.queries_of(space)]
            compared += state.plan.followed(elsewhere)
            for part in [*(space.name for space in elsewhere), *compared]:
                for parts in (kept["streams"][name]["spaces"], kept["streams"][name]["differences"]):
                    if parts.pop(part, None) is not None:
                        self._blocks.delete_all(f"{part}.")
        self._open(kept, None)
        for state in self.streams.values():
            state.keep(share)

    def save(self) -> bytes:
        """Write changed blocks to the store; returns the snapshot that opens them again."""
        self.version += 1
        streams = {name: state.save(self.version) for name, state in self.streams.items()}
        pipelines = self._pipelines.save(self.version)
        self._blocks.make_room()
        kept = {"version": self.version, "rewinds": self._rewinds, "streams": streams, "pipelines": pipelines}
        kept["away"] = self._away
        return json.dumps({"format": FORMAT} | kept).encode()

    def forget_blocks(self) -> None:
        """Keep in memory only what could not be read again."""
        self._blocks.shrink(0)

    @property
    def clock(self) -> int | None:
        """How far the stream has come that is furthest behind; None as long as one has no clock."""
        clocks = [state.clock for state in self.streams.values()]
        known = [clock for clock in clocks if clock is not None]
        return min(known) if known and len(known) == len(clocks) else None

    @property
    def memory_limit(self) -> int:
        return self.plan.memory_bytes

    @property
    def groups(self) -> int:
        """How many groups the windows hold, over all spaces, and how many queries the pipelines answer."""
        held = sum(len(space.groups) for state in self.streams.values() for space in state.spaces.values())
        return held + self._pipelines.queries

    def groupings(self, arrived: Mapping[str, int]) -> dict[str, list[Any]]:
        """Of each grouping of the windows over time: its stream, groups, entries in panes, panes, and what `arrived`.

        That is by the name of a space, how many events it has taken in of a batch.
        """
        found = {}
        for name, stream in self.streams.items():
            for space, state in stream.spaces.items():
                if isinstance(state, SpaceState) and not state.space.unbounded:
                    counted = (len(state.groups), len(state.log), state.panes, arrived.get(space.name, 0))
                    found[state.space.grouping] = [name, *counted]
        return found

    @property
    def bytes_in_memory(self) -> int:
        """What the shard keeps from batch to batch: decoded blocks, groups, folded windows, rows of operators."""
        return self._blocks.bytes_in_memory

    def _check_memory(self) -> None:
        """What groups, folded windows and operators hold counts against the limit; rows can go to blocks."""
        self._blocks.held = sum(size for _, size in self._held())
        self._blocks.claim(0)
        held = self._held()
        self._blocks.held = sum(size for _, size in held)
        if self._blocks.held > self.plan.memory_bytes:
            raise self._too_large(held)

    def _held(self, wanting: NoRoomForError | None = None) -> list[tuple[list[str], int]]:
        """What must be in memory, and for which queries; `wanting` is who has asked for more."""
        space, more = (None, 0) if wanting is None else (wanting.space, wanting.size)
        windows = [part for state in self.streams.values() for part in state.held(space, more)]
        return windows + self._pipelines.held()

    def _too_large(self, held: list[tuple[list[str], int]]) -> MemoryLimitError:
        """Names the fewest queries that are beyond the limit together."""
        names: list[str] = []
        size = 0
        for own, bytes_held in sorted(held, key=lambda part: part[1], reverse=True):
            if size <= self.plan.memory_bytes:
                names += own
                size += bytes_held
        return MemoryLimitError(too_large(names, size, self.plan.memory_bytes))

    def _rewind(self, to: int, outcome: Outcome) -> None:
        """Set the clocks back to `to`, and drop what is later.

        Windows that end after `to` are answered again, from the first one that all is known of. What has been folded
        with what is dropped is folded anew, so the shard is opened anew from what is left.
        """
        anew = {name: state.rewind(to, outcome) for name, state in self.streams.items()}
        if all(spaces is None for spaces in anew.values()):
            return
        self._rewinds += 1
        kept = json.loads(self.save())
        for name, spaces in anew.items():
            if spaces is None:
                continue
            stream = kept["streams"][name]
            stream["wall"] = None  # what was learnt of the delay of events was learnt from those that are gone, too
            for space in spaces:
                del stream["spaces"][space]
                self._blocks.delete_all(f"{space}.")
        self._open(kept, None)


def opened(snapshot: bytes) -> Snapshot:
    """What a shard has kept, if it is of this format."""
    kept: Snapshot = json.loads(snapshot)
    if kept.get("format") != FORMAT:
        raise StateError(
            f"the checkpoint holds state of format {kept.get('format')}, and this version of Windrow reads format"
            f" {FORMAT}: start it with the version that wrote it, or with a new checkpoint"
        )
    return kept
