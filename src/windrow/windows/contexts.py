"""Contexts: summaries that are valid for an interval, shared by all who hold them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from windrow.kernels import Fields, Kernel, concat, grow, identity
from windrow.kernels.kernel import OBJECT, every

_NO_SLOTS = np.empty(0, np.int64)


class GroupSummaries:
    """What a context says of its groups: for slot `slots[i]`, element i of each kernel's fields; slots ascend."""

    __slots__ = ("_fetch", "_partials", "_slots", "contexts", "fixed", "owner")

    def __init__(self, slots: np.ndarray, partials: tuple[Fields, ...], fixed: bool, owner: object) -> None:
        """`fixed` is what others may look at that hold no context: a log, a block, a reader of answers.

        `owner` marks the objects in it that no other payload shares, for kernels that change objects in place.
        """
        self._slots, self._partials, self.fixed, self.owner = slots, partials, fixed, owner
        self._fetch: Callable[[], None] | None = None
        self.contexts = 0

    @property
    def in_memory(self) -> bool:
        return self._fetch is None

    @property
    def slots(self) -> np.ndarray:
        if self._fetch is not None:
            self._fetch()
        return self._slots

    @property
    def partials(self) -> tuple[Fields, ...]:
        if self._fetch is not None:
            self._fetch()
        return self._partials

    def leave(self, fetch: Callable[[], None]) -> None:
        """Be in a block only, until somebody looks: then `fetch` is to `fill` it. It is the same afterwards, so that
        whatever is merged is merged in the same order, wherever it was meanwhile."""
        self._slots, self._partials, self._fetch = _NO_SLOTS, (), fetch

    def fill(self, slots: np.ndarray, partials: tuple[Fields, ...]) -> None:
        self._slots, self._partials, self._fetch = slots, partials, None


class Context:
    """A summary of all groups, valid for [begin, end). It never changes; who needs it holds it."""

    __slots__ = ("_payload", "begin", "end", "holders")

    def __init__(self, begin: int, end: int, payload: GroupSummaries) -> None:
        self.begin, self.end, self.holders = begin, end, 1
        self._payload: GroupSummaries | None = payload
        payload.contexts += 1

    @property
    def payload(self) -> GroupSummaries:
        assert self._payload is not None, f"{self} was freed"
        return self._payload

    @property
    def slots(self) -> np.ndarray:
        return self.payload.slots

    @property
    def partials(self) -> tuple[Fields, ...]:
        return self.payload.partials

    def __repr__(self) -> str:
        return f"[{self.begin}, {self.end})"


class Contexts:
    """Makes contexts, merges them, and frees those that nobody holds (Badiozamany 2016, Paper IV, section 3.1).

    `merged` and `excluded` give a new context. Whoever says that the older one is `spent` gives up its own hold; where
    it was the last, the summary itself is changed and goes on under the new name. In all other cases a copy precedes.

    >>> from windrow.kernels import kernel_for
    >>> from windrow.plan.nodes.aggregates import Partial
    >>> contexts = Contexts([kernel_for(Partial("count"))])
    >>> older = contexts.made(0, 5, np.array([0, 1]), ({"n": np.array([2, 3])},))
    >>> newer = contexts.made(5, 7, np.array([1, 4]), ({"n": np.array([10, 20])},))
    >>> both = contexts.merged(older, newer, 0, 7)
    >>> both, both.slots.tolist(), both.partials[0]["n"].tolist(), contexts.live
    ([0, 7), [0, 1, 4], [2, 13, 20], 3)
    >>> contexts.release(older)
    >>> contexts.live, contexts.merges, contexts.copies
    (2, 1, 1)
    """

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        self.kernels = tuple(kernels)
        self.holds_objects = any(field.dtype == OBJECT for kernel in kernels for field in kernel.fields)
        self.live = self.merges = self.copies = 0

    def made(
        self, begin: int, end: int, slots: np.ndarray, partials: tuple[Fields, ...], fixed: bool = False
    ) -> Context:
        """A new context, held once."""
        return self.named(begin, end, GroupSummaries(slots, partials, fixed, object()))

    def hold(self, context: Context) -> Context:
        context.holders += 1
        return context

    def release(self, context: Context) -> None:
        """Give up a hold; after the last, the context is freed."""
        context.holders -= 1
        if context.holders == 0:
            context.payload.contexts -= 1
            context._payload = None
            self.live -= 1

    def merged(
        self, older: Context | None, newer: Context | None, begin: int, end: int, spent: bool = False
    ) -> Context | None:
        """The fold of `older` and then `newer`, as [begin, end). Nothing is merged where one of them is empty."""
        if older is None:
            return None if newer is None else self.named(begin, end, newer.payload)
        if newer is None:
            return self.folded(older, (), begin, end, spent)
        if spent and self._owned(older) and newer.payload.slots is older.payload.slots:
            self.merges += 1
            payload = older.payload
            self._combine(payload.partials, None, newer.payload.partials, payload.owner)
            older.begin, older.end = begin, end
            return older
        return self.folded(older, (newer,), begin, end, spent)

    def folded(self, older: Context, newer: Sequence[Context], begin: int, end: int, spent: bool = False) -> Context:
        """The fold of `older` and then all of `newer`, as [begin, end)."""
        self.merges += len(newer)
        payload = self._changed(older, newer, spent, exclude=False) if newer else older.payload
        context = self.named(begin, end, payload)
        if spent:
            self.release(older)
        return context

    def excluded(self, whole: Context, gone: Context, begin: int, end: int, spent: bool = False) -> Context:
        """What is left of `whole` without `gone`, which it began with."""
        self.merges += 1
        context = self.named(begin, end, self._changed(whole, (gone,), spent, exclude=True))
        if spent:
            self.release(whole)
        return context

    def named(self, begin: int, end: int, payload: GroupSummaries) -> Context:
        """A context with a payload that others may have too."""
        self.live += 1
        return Context(begin, end, payload)

    def _changed(self, older: Context, others: Sequence[Context], spent: bool, exclude: bool) -> GroupSummaries:
        """The payload of `older` with those of `others` merged in, one after the other, or taken out."""
        payload, own = older.payload, spent and self._owned(older)
        owner = payload.owner
        if not own:
            self.copies += 1
            owner, payload.owner = object(), object()  # groups that do not change are shared from now on
        change = self._remove if exclude else self._combine
        if all(other.slots is payload.slots for other in others):
            fields = payload.partials if own else _copied(payload.partials)
            for other in others:
                change(fields, None, other.partials, owner)
            return GroupSummaries(payload.slots, fields, False, owner)
        places, slots = _places(payload.slots, [other.slots for other in others])
        partials = others[0].partials
        if len(others) > 1:
            partials = tuple(concat([other.partials[i] for other in others]) for i in range(len(self.kernels)))
        if len(slots) > len(payload.slots):
            at = slots.searchsorted(payload.slots)
            fields = tuple(
                _spread(kernel, part, at, len(slots)) for kernel, part in zip(self.kernels, payload.partials)
            )
        else:
            fields = payload.partials if own else _copied(payload.partials)
        change(fields, places, partials, owner)
        return GroupSummaries(slots, fields, False, owner)

    def _combine(
        self, fields: Sequence[Fields], places: np.ndarray | None, newer: Sequence[Fields], owner: object
    ) -> None:
        """Combine into the `places` of `fields`; None: element by element."""
        for kernel, into, part in zip(self.kernels, fields, newer):
            if places is None:
                kernel.combine_aligned(into, part, owner)
            else:
                kernel.combine_owned(into, places, part, owner)

    def _remove(
        self, fields: Sequence[Fields], places: np.ndarray | None, older: Sequence[Fields], owner: object
    ) -> None:
        for kernel, into, part in zip(self.kernels, fields, older):
            kernel.remove_owned(into, every(part) if places is None else places, part, owner)

    def _owned(self, context: Context) -> bool:
        """Whether the one who holds `context` is the only one to see its payload."""
        payload = context.payload
        return context.holders == 1 and payload.contexts == 1 and not payload.fixed


def wide(kernels: Sequence[Kernel], context: Context | None, width: int) -> list[Fields]:
    """The fields of `context` with an element for each of `width` slots."""
    if context is not None and len(context.slots) == width:
        return [{name: column.copy() for name, column in part.items()} for part in context.partials]
    fields = [identity(kernel, width) for kernel in kernels]
    if context is not None:
        for into, part in zip(fields, context.partials):
            for name, column in part.items():
                into[name][context.slots] = column
    return fields


def _copied(partials: Sequence[Fields]) -> tuple[Fields, ...]:
    return tuple({name: column.copy() for name, column in part.items()} for part in partials)


def _places(older: np.ndarray, newer: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Where each of the `newer` slots stands in the union, and the union."""
    added = newer[0] if len(newer) == 1 else np.concatenate(newer)
    slots = np.union1d(older, added)
    if len(slots) == len(older):
        slots = older
    return slots.searchsorted(added), slots


def _spread(kernel: Kernel, fields: Fields, at: np.ndarray, width: int) -> Fields:
    """The same partials, moved to places among `width`."""
    if len(at) == 0 or at[-1] == len(at) - 1:
        return grow(kernel, fields, width)
    spread = identity(kernel, width)
    for name, column in fields.items():
        spread[name][at] = column
    return spread
