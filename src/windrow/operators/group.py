"""W-Group-By and W-Aggregate: the row of a group, whenever it changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.kernels import Fields, Rows, concat, kernel_for, take
from windrow.kernels.columns import plain
from windrow.operators.changes import NEVER, Changes, nothing
from windrow.operators.held_values import HeldValues
from windrow.operators.instants import Instants, instants_of
from windrow.operators.measures import Folded, Reversible
from windrow.operators.net import same_rows
from windrow.operators.operator import Evaluate
from windrow.operators.order import stable_order
from windrow.operators.row_table import RowTable
from windrow.operators.row_wise import true_rows
from windrow.operators.stepwise import Stepwise
from windrow.operators.sums_in_turn import goes_in_turn
from windrow.operators.told_in_turn import told_in_turn
from windrow.operators.turns import turns_of
from windrow.plan.nodes.aggregates import LISTS, ROWS, Partial
from windrow.plan.nodes.changes import Group, leave_in_order
from windrow.storage.blocks import Blocks, Snapshot


class GroupRows:
    """Folds changes into the partials of their groups and sends `-` the old row, `+` the new one, where they differ.

    Hammad et al. (2003), Algorithm 4.2. A batch is folded at once: the state of every group after each instant at which
    it changed is a running fold. Counts and sums are folded in turn, change by change as they come; where any other
    aggregate is asked for, the changes of each group are put together first. A group without rows has no row: the
    paper's NULL tuple is the `-` of the last one, unless it is asked for.
    """

    def __init__(
        self,
        node: Group,
        evaluate: Evaluate,
        user: Mapping[str, type],
        family: str,
        blocks: Blocks,
        snapshot: Snapshot | None = None,
    ) -> None:
        snapshot = snapshot or {}
        self._node, self._evaluate = node, evaluate
        child = node.child
        self._places = {name: i for i, name in enumerate(child.names)}
        types = [child.columns[self._places[key]].type for key in node.keys]
        self._groups = RowTable(types, ("n", "since"), f"{family}.groups", blocks, snapshot.get("groups"))
        self._partials = tuple(dict.fromkeys((ROWS.partial, *(m.aggregate.partial for m in node.measures))))
        self._kernels = {partial: kernel_for(partial, user) for partial in self._partials}
        kept = snapshot.get("partials", {})
        self._folded: dict[Partial, Folded] = {}
        for partial, kernel in self._kernels.items():
            place = (f"{family}.{partial.name}", blocks, kept.get(partial.name))
            if partial.kind == "user_rows":
                self._folded[partial] = Stepwise(kernel, *place)
            elif kernel.reversible and (partial.kind not in LISTS or leave_in_order(child)):
                self._folded[partial] = Reversible(kernel, *place)
            else:
                self._folded[partial] = HeldValues(kernel, partial.type or pa.null(), *place, leave_in_order(child))
        self._sums = [folded for folded in self._folded.values() if isinstance(folded, Reversible)]
        self._in_turn = len(self._sums) == len(self._folded) and all(map(goes_in_turn, self._kernels.values()))
        self.overflows = 0

    @property
    def nbytes(self) -> int:
        return self._groups.nbytes + sum(folded.nbytes for folded in self._folded.values())

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        (changes,) = inputs
        if not len(changes):
            return nothing(self._node.types)
        seen = len(self._groups) > 0
        slots = self._groups.slots_of([changes.columns[self._places[key]] for key in self._node.keys], len(changes))
        if self._in_turn:
            out = self._process_in_turn(changes, slots, seen)
            self._sweep()
            return out
        pairs = instants_of(slots, changes.times)
        folded = self._follow(changes, pairs)
        had, has = (both["n"] for both in folded[ROWS.partial])
        rows = self._rows({partial: concat(both) for partial, both in folded.items()}, len(had))
        out = self._differences(pairs, had, has, rows, seen)
        self._groups.side["n"][pairs.slots[pairs.lasts]] = has[pairs.lasts]
        self._groups.touch(slots)
        self._sweep()
        return out

    def _process_in_turn(self, changes: Changes, slots: np.ndarray, seen: bool) -> Changes:
        turns, batch = turns_of(slots, changes.times, self._groups.capacity), changes.batch(self._node.child.names)
        states = {}
        for partial, folded in zip(self._folded, self._sums):
            values = None if partial.argument is None else plain(self._value(partial.argument, batch))
            mask = None if partial.filter is None else true_rows(self._value(partial.filter, batch))
            states[partial] = folded.follow_in_turn(turns, slots, Rows(values, changes.since, mask), changes.weights)
        known, side = len(turns.groups), self._groups.side
        rows, counts = self._rows(states, known), states[ROWS.partial]["n"]
        same = same_rows(rows, turns.before, known + np.arange(len(turns)))
        which, told, weights, begun = told_in_turn(turns, same, counts, side["since"], self._node.empty, seen)
        side["n"][turns.slots] = counts[known:]  # of a repeated slot, numpy keeps the last
        self._groups.touch(turns.groups)
        groups, at = pa.array(turns.numbers[which]), pa.array(told)
        keys = tuple(column.take(groups) for column in self._groups.columns_of(turns.groups))
        taken = tuple(column.take(at) for column in rows)
        return Changes(turns.times[which], begun, np.full(len(which), NEVER), weights, keys + taken)

    def save(self, version: int) -> None:
        self._groups.save(version)
        for folded in self._folded.values():
            folded.save(version, len(self._groups))

    def snapshot(self) -> Snapshot:
        partials = {partial.name: folded.snapshot() for partial, folded in self._folded.items()}
        return {"groups": self._groups.snapshot(), "partials": partials}

    def _follow(self, changes: Changes, pairs: Instants) -> dict[Partial, tuple[Fields, Fields]]:
        """Every partial before the batch and after each instant."""
        batch = changes.batch(self._node.child.names)
        weights, times = changes.weights[pairs.order], changes.since[pairs.order]
        order = pa.array(pairs.order)
        followed = {}
        for partial, folded in self._folded.items():
            values = None if partial.argument is None else plain(self._value(partial.argument, batch)).take(order)
            mask = None if partial.filter is None else true_rows(self._value(partial.filter, batch))[pairs.order]
            before, after = folded.follow(pairs, Rows(values, times, mask), weights)
            if isinstance(folded, HeldValues) and self._kernels[partial].rounds:
                after = self._steady(partial, pairs, before, after)
                folded.show(pairs, after)
            followed[partial] = before, after
        return followed

    def _steady(self, partial: Partial, pairs: Instants, before: Fields, after: Fields) -> Fields:
        """The states after each pair, but the one that stood before where no answer differs by more than rounding."""
        kernel, states = self._kernels[partial], concat([before, after])
        answers = list(dict.fromkeys(m.aggregate.answer for m in self._node.measures if m.aggregate.partial == partial))
        lowered = [kernel.lower(states, answer, pa.float64()).values for answer in answers]
        values = np.stack([column.to_numpy(zero_copy_only=False) for column in lowered])
        known = np.stack([column.is_valid().to_numpy(zero_copy_only=False) for column in lowered])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            noise = np.stack([kernel.rounding(states, answer) for answer in answers])
        return take(states, _shown(pairs.begins, values, known, noise))

    def _value(self, text: str, batch: pa.RecordBatch) -> pa.Array:
        return batch.column(self._places[text]) if text in self._places else self._evaluate(text, batch)

    def _rows(self, states: dict[Partial, Fields], known: int) -> list[pa.Array]:
        """The measures of all states, the first of which are `known` from before the batch."""
        columns = []
        for measure in self._node.measures:
            aggregate = measure.aggregate
            kernel, own = self._kernels[aggregate.partial], states[aggregate.partial]
            lowered = kernel.lower(own, aggregate.answer, aggregate.type)
            if lowered.overflows:
                told = kernel.lower(take(own, np.arange(known)), aggregate.answer, aggregate.type).overflows
                self.overflows += lowered.overflows - told
            columns.append(lowered.values)
        return columns

    def _differences(
        self, pairs: Instants, had: np.ndarray, has: np.ndarray, rows: list[pa.Array], seen: bool
    ) -> Changes:
        """`-` and `+` of every pair whose row is not what it was; `seen`: there was a group before these changes."""
        groups = len(had)
        counts = np.concatenate([had, has])
        after = groups + np.arange(len(pairs))
        before = np.where(pairs.begins, np.cumsum(pairs.begins) - 1, after - 1)
        same = same_rows(rows, before, after)
        was, is_ = counts[before] > 0, counts[after] > 0
        if self._node.empty:  # there is one group, and once it has come it does not go
            was, is_ = np.where(pairs.begins, seen, True), np.ones(len(pairs), bool)
        leaves, comes = was & ~(same & is_), is_ & ~(same & was)
        since = self._groups.side["since"]
        started = _started(pairs.slots, pairs.times, comes, since)
        minus, plus = np.flatnonzero(leaves), np.flatnonzero(comes)
        which = np.concatenate([minus, plus])
        states = np.concatenate([before[minus], after[plus]])
        weights = np.repeat([-1, 1], [len(minus), len(plus)])
        order = stable_order(2 * pairs.times[which] + (weights > 0))
        which, states, weights = which[order], states[order], weights[order]
        keys = self._groups.columns_of(pairs.slots[which])
        times = pairs.times[which]
        taken = tuple(column.take(pa.array(states)) for column in rows)
        begun = np.where(weights > 0, times, started[which])
        return Changes(times, begun, np.full(len(which), NEVER), weights, keys + taken)

    def _sweep(self) -> None:
        if self._groups.crowded:
            kept = self._groups.sweep(self._groups.side["n"] != 0)
            if kept is not None:
                for folded in self._folded.values():
                    folded.sweep(kept)


@njit(cache=True, nogil=True)
def _shown(begins: np.ndarray, values: np.ndarray, known: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """The state that each pair shows, of those before the batch, one for each group, and those after each pair."""
    groups = begins.sum()
    shown = np.empty(begins.size, np.int64)
    group, last = -1, 0
    for i in range(begins.size):
        if begins[i]:
            group += 1
            last = group
        state = groups + i
        for answer in range(len(values)):
            old, new = values[answer, last], values[answer, state]
            both = known[answer, last] and known[answer, state]
            if known[answer, last] != known[answer, state] or (both and not abs(old - new) <= noise[answer, state]):
                last = state
                break
        shown[i] = last
    return shown


@njit(cache=True, nogil=True)
def _started(slots: np.ndarray, times: np.ndarray, comes: np.ndarray, since: np.ndarray) -> np.ndarray:
    """When the row that stood before each pair came; `since` is when each group's last one did, and is brought on."""
    started = np.empty(slots.size, np.int64)
    for i in range(slots.size):
        started[i] = since[slots[i]]
        if comes[i]:
            since[slots[i]] = times[i]
    return started
