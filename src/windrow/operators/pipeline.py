"""A plan over changes as it runs: arrivals and the clock in, changes of the answers out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from windrow.kernels.columns import plain
from windrow.operators.certain import HeldChanges, clock_of, streams_in, waiting_inputs
from windrow.operators.changes import Changes, joined, nothing
from windrow.operators.expire import ExpireRows
from windrow.operators.first_of_panes import FirstOfPanes, first_of_panes
from windrow.operators.given_rows import RefusedEvents
from windrow.operators.group import GroupRows
from windrow.operators.net import by_sign, net
from windrow.operators.operator import Evaluate, Operator
from windrow.operators.operator_for import OperatorNeeds, operator_for, space_of
from windrow.operators.pending_changes import HoldsPending
from windrow.operators.regrouped import RegroupedRows
from windrow.operators.repository import Repository, SharedWindow, range_of, shared_name
from windrow.operators.scan import ScanRows
from windrow.operators.single import SingleRows
from windrow.operators.stream_function import FunctionRows
from windrow.plan.instants import BEFORE_ALL
from windrow.plan.nodes.change_plan import is_told_in_order
from windrow.plan.nodes.changes import Distinct, Expire, Group, Node, Ranked, Scan, SetNode, Union
from windrow.plan.nodes.input_triggered import goes_by_input
from windrow.plan.nodes.regrouped import Leaf, Regrouped, StageEnd
from windrow.plan.windows.slide_ends import SlideEnds
from windrow.storage.blocks import Blocks, Snapshot

STEP_ROWS = 32_768
"""Arrivals that are worked off at once: joins of new with new rows are of these alone."""


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Events of one stream as they came: their times in microseconds, and the columns of its scans."""

    times: np.ndarray
    rows: pa.RecordBatch | pa.Table


class Pipeline:
    """The operators of one or more plans; equal sub-plans run once.

    `plans` have been through `place_expiry`. Deterministic: the same arrivals and clocks give the same changes, and
    for each instant the same net changes however the arrivals are cut into batches.
    """

    def __init__(
        self,
        plans: Mapping[str, Node],
        evaluate: Evaluate,
        blocks: Blocks,
        *,
        tables: Mapping[str, pa.Table] | None = None,
        user: Mapping[str, type] | None = None,
        snapshot: Snapshot | None = None,
        ends: SlideEnds | None = None,
        spread: Mapping[Leaf, Sequence[str]] | None = None,
        older: Pipeline | None = None,
    ) -> None:
        """With `ends`, answers are asked for at these ends of windows alone, and clocks stay there.

        `spread` says by which columns the rows of each leaf are spread over the shards. A view of the same that is some
        saves `older` gives what it has in memory, and is of no use any more.
        """
        self._spread = spread or {}
        self.plans = {name: _expiring_alike(plan) for name, plan in plans.items()}
        around = OperatorNeeds(evaluate, blocks, tables or {}, user or {}, ends)
        snapshot = snapshot or {"version": 0, "operators": {}}
        self._version: int = snapshot["version"]
        self._older: dict[str, Operator] = {}
        if older is not None and older._version <= self._version:
            self._older = {older._spaces[key]: operator for key, operator in older._operators.items()}
        self._operators: dict[tuple[Node, bool], Operator] = {}
        self._inputs: dict[tuple[Node, bool], list[tuple[Node, bool]]] = {}
        self._held: dict[tuple[Node, bool], dict[int, HeldChanges]] = {}
        self._streams: dict[tuple[Node, bool], frozenset[str] | None] = {}
        self._by_input: set[tuple[Node, bool]] = set()
        self._repositories: dict[str, Repository] = {}
        self._shares: dict[tuple[Node, bool], str] = {}
        self._spaces: dict[tuple[Node, bool], str] = {}  # a name is made of the whole plan below: that takes its time
        self._first = {} if ends is None else _first_of_panes(self.plans.values(), ends)
        for plan in self.plans.values():
            self._build((plan, False), around, snapshot["operators"])
        self._older = {}
        self._spaces_of = {name: self._spaces_below((plan, False)) for name, plan in self.plans.items()}

    def advance(
        self, arrivals: Mapping[str | Leaf, Arrivals | Changes], clock: int | Mapping[str, int], *, ended: bool = False
    ) -> dict[str, Changes]:
        """Take `arrivals`, by stream or by leaf, and settle every instant up to `clock`: the net changes, in order.

        Where events at the instant of the clock may still come, the caller lets the clock stay just before it. What a
        stage sends to the next is not netted. Streams may have clocks of their own: then what is certain is told, also
        of instants that not all have come to, and the rest waits. Where steps go by what comes to them, what no row has
        brought to them is not told, unless the input has `ended`.
        """
        for (node, _), operator in self._operators.items():
            if isinstance(operator, ScanRows) and isinstance(node, Scan):
                arrived = arrivals.get(node) or arrivals.get(node.stream)
                if isinstance(arrived, Arrivals):
                    _arrive(operator, node, arrived)
            elif isinstance(operator, RegroupedRows) and isinstance(node, Regrouped):
                sent = arrivals.get(node)
                if isinstance(sent, Changes):
                    operator.add(sent)
        parts: dict[str, list[Changes]] = {name: [] for name in self.plans}
        clocks = clock if isinstance(clock, Mapping) else dict.fromkeys(self._read, clock)
        for until in _steps(list(arrivals.values()), max(clocks.values(), default=BEFORE_ALL)):
            own = {stream: min(until, clock) for stream, clock in clocks.items()}
            for name, changes in self._step(own, ended).items():
                parts[name].append(changes)
        for waiting in self._waiting:
            waiting.rest()
        return {name: joined(part) for name, part in parts.items()}

    @property
    def late(self) -> dict[str, int]:
        """How many events came too late, by stream."""
        counted: dict[str, int] = {}
        for (node, _), operator in self._operators.items():
            if isinstance(operator, ScanRows) and isinstance(node, Scan):
                counted[node.stream] = max(counted.get(node.stream, 0), operator.late)
        return counted

    def scans(self, stream: str) -> list[Scan]:
        """Who reads a stream."""
        return [node for node, _ in self._operators if isinstance(node, Scan) and node.stream == stream]

    def settled(self, stream: str) -> int | None:
        """The last instant of a stream that is settled: without a slide, an event that comes up to it is late."""
        own = (op for (node, _), op in self._operators.items() if isinstance(node, Scan) and node.stream == stream)
        clocks = [operator.clock for operator in own if isinstance(operator, ScanRows)]
        return max((clock for clock in clocks if clock is not None), default=None)

    @property
    def _read(self) -> list[str]:
        """The streams that it reads; of what comes from an earlier stage, any name will do."""
        return [node.stream for node, _ in self._operators if isinstance(node, Scan)] or [""]

    def spaces_of(self, name: str) -> list[str]:
        """The names of the spaces that the operators of one plan keep their state in."""
        return self._spaces_of[name]

    def _spaces_below(self, root: tuple[Node, bool]) -> list[str]:
        found, waiting = set(), [root]
        while waiting:
            key = waiting.pop()
            found.add(self._spaces[key])
            found.update(self._held_space(key, place) for place in self._held[key])
            found.update({self._shares[key]} if key in self._shares else ())
            waiting += self._inputs[key]
        return sorted(found)

    def _held_space(self, key: tuple[Node, bool], place: int) -> str:
        """The name of what waits before an operator, of its input at `place`."""
        return f"{self._spaces[key]}.held-{place}"

    @property
    def overflows(self) -> int:
        """How many values became NULL: sums may be too large, and sub-queries of one value have several rows."""
        overflows = sum(operator.overflows for operator in self._operators.values() if isinstance(operator, GroupRows))
        return overflows + sum(op.several for op in self._operators.values() if isinstance(op, SingleRows))

    def take_refused(self) -> list[tuple[str | None, RefusedEvents]]:
        """The events that functions have failed with since they were last asked for, and of which stream they are."""
        found: list[tuple[str | None, RefusedEvents]] = []
        for (node, _), operator in self._operators.items():
            if isinstance(operator, FunctionRows):
                streams = streams_in(node)
                stream = next(iter(streams)) if streams is not None and len(streams) == 1 else None
                found += [(stream, refused) for refused in operator.take_refused()]
        return found

    @property
    def nbytes(self) -> int:
        """What the rows that operators hold take in memory."""
        held = (operator.nbytes for by_place in self._held.values() for operator in by_place.values())
        shared = sum(repository.nbytes for repository in self._repositories.values())
        return sum(operator.nbytes for operator in self._operators.values()) + sum(held) + shared

    def save(self) -> None:
        """Write what has changed since the last save into the blocks."""
        self._version += 1
        for operator in self._operators.values():
            operator.save(self._version)
        for held in (held for by_place in self._held.values() for held in by_place.values()):
            held.save(self._version)
        for repository in self._repositories.values():
            repository.save(self._version)

    def snapshot(self) -> Snapshot:
        """All but the blocks themselves, as plain values, as of the last save."""
        kept = {self._spaces[key]: operator.snapshot() for key, operator in self._operators.items()}
        for key, by_place in self._held.items():
            kept |= {self._held_space(key, place): held.snapshot() for place, held in by_place.items()}
        kept |= {name: repository.snapshot() for name, repository in self._repositories.items()}
        return {"version": self._version, "operators": kept}

    def _build(self, key: tuple[Node, bool], around: OperatorNeeds, kept: Mapping[str, Snapshot]) -> None:
        if key in self._operators:
            return
        node, tells = key
        renewing = isinstance(node, Distinct) and node.renewing
        self._inputs[key] = [(child, renewing and isinstance(child, Expire)) for child in node.children]
        for child in self._inputs[key]:
            self._build(child, around, kept)
        space = self._spaces[key] = space_of(node, tells)
        shared = self._shared(key, around, kept)
        first, older = self._first.get(node), self._older.get(space) if space in kept else None
        self._operators[key] = operator_for(node, space, around, kept.get(space), tells, shared, first, older)
        self._streams[key] = streams_in(node)
        if goes_by_input(node):
            self._by_input.add(key)
        self._held[key] = {}
        for place in waiting_inputs(node):
            name = self._held_space(key, place)
            held = HeldChanges(node.children[place].types, name, around.blocks, kept.get(name))
            self._held[key][place] = held

    def _shared(
        self, key: tuple[Node, bool], around: OperatorNeeds, kept: Mapping[str, Snapshot]
    ) -> SharedWindow | None:
        """The rows of a window without a slide, which it shares with those of other ranges over the same stream."""
        node, _ = key
        range_us, name = range_of(node), shared_name(node, self._spread)
        if around.ends is not None or range_us is None or name is None:
            return None
        if name not in self._repositories:
            self._repositories[name] = Repository(node.types, name, around.blocks, kept.get(name))
        self._shares[key] = name
        return SharedWindow(self._repositories[name], self._spaces[key], range_us)

    @property
    def _waiting(self) -> list[HoldsPending]:
        """Who holds changes that wait."""
        own = [operator for operator in self._operators.values() if isinstance(operator, HoldsPending)]
        return own + [held for by_place in self._held.values() for held in by_place.values()]

    def _step(self, clocks: Mapping[str, int], ended: bool) -> dict[str, Changes]:
        done: dict[tuple[Node, bool], Changes] = {}
        reached: dict[tuple[Node, bool], int] = {}
        for key, operator in self._operators.items():  # children come before their parents
            clock = clock_of(key[0], self._streams[key], clocks)
            inputs = [done[child] for child in self._inputs[key]]
            if key in self._by_input and not ended:
                clock = min([clock, *(reached[child] for child in self._inputs[key])])
                if isinstance(operator, ExpireRows) and isinstance(key[0], Expire) and key[0].place == "input":
                    clock = min(clock, max([operator.reached, *(int(part.times[-1]) for part in inputs if len(part))]))
            reached[key] = clock
            for place, held in self._held[key].items():
                inputs[place] = held.process([inputs[place]], clock)
            done[key] = operator.process(inputs, clock)
        return {name: _answered(plan, done[plan, False]) for name, plan in self.plans.items()}


def _expiring_alike(plan: Node) -> Node:
    """The plan without a word of whose work expiry is: here it is always W-Expire's, and equal ones have one state.

    One that goes by its input holds the same rows for longer.
    """
    plan = plan.with_children([_expiring_alike(child) for child in plan.children]) if plan.children else plan
    return replace(plan, place="apart") if isinstance(plan, Expire) and plan.place != "input" else plan


def _first_of_panes(plans: Iterable[Node], ends: SlideEnds) -> dict[Node, FirstOfPanes]:
    """By W-Expire: what it may leave out, since a ranking with a limit is all that reads it."""
    readers: dict[Node, set[Node | None]] = {}
    for plan in plans:
        readers.setdefault(plan, set()).add(None)
        waiting = [plan]
        while waiting:
            node = waiting.pop()
            for child in node.children:
                readers.setdefault(child, set()).add(node)
                waiting.append(child)
    found = {}
    for node, reading in readers.items():
        (reader,) = reading if len(reading) == 1 else (None,)
        first = first_of_panes(reader, ends) if isinstance(reader, Ranked) else None
        if first is not None:
            found[node] = first
    return found


def _arrive(operator: ScanRows, node: Scan, arrived: Arrivals) -> None:
    columns = [plain(arrived.rows.column(name)) for name in node.names]
    operator.add(arrived.times, [column.cast(type) for column, type in zip(columns, node.types)])


def _steps(arrivals: Sequence[Arrivals | Changes], clock: int) -> list[int]:
    """The instants up to which to work, one after the other, with about STEP_ROWS arrivals each; the clock last."""
    rows = sum(len(arrived.times) for arrived in arrivals)
    if rows <= STEP_ROWS:
        return [clock]
    times = np.sort(np.concatenate([arrived.times for arrived in arrivals]))
    cuts = np.unique(times[STEP_ROWS - 1 :: STEP_ROWS])
    return [*cuts[cuts < clock].tolist(), clock]


def _answered(plan: Node, changes: Changes) -> Changes:
    """The net changes; operators that settle whole instants have netted theirs.

    Where rows only come, nothing is netted: one that comes twice is told twice.
    """
    if isinstance(plan, StageEnd) or is_told_in_order(plan):
        return changes
    if not len(changes):
        return nothing(plan.types)
    if changes.weights.min() > 0 and bool(np.all(changes.times[1:] >= changes.times[:-1])):
        return changes
    netted = isinstance(plan, (Group, Distinct, Ranked, SetNode)) and not (isinstance(plan, Union) and plan.all)
    return by_sign(changes) if netted else net(changes, plan.types)
