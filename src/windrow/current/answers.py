"""All answers that a job keeps, by query, and those who are told when a batch has brought something."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from threading import Lock
from typing import Any

import pyarrow as pa

from windrow.current.answer import Answer, Update
from windrow.current.kept import Home, KeptAnswer, Listener
from windrow.current.limits import Limits
from windrow.current.shape import Shape
from windrow.current.subscription import Subscription
from windrow.errors import AskError


class Answers:
    """Answers by query. They change when a batch is committed, and at no other time.

    With `keep_all`, those of queries that did not ask for it are kept too, from the next batch on: somebody watches.
    `epoch` names the run of numbers that batches have: those of another job begin anew. `refused` says why none is kept
    here, whoever asks.
    """

    def __init__(self, epoch: str = "", *, keep_all: bool = False, refused: str | None = None) -> None:
        self.epoch, self.keep_all, self._refused = epoch, keep_all, refused
        self._kept: dict[str, KeptAnswer] = {}
        self._asked: set[str] = set()
        self._listeners: dict[str, list[Listener]] = {}
        self._lock = Lock()

    def declare(
        self, name: str, shape: Shape, schema: pa.Schema, limits: Limits, *, asked: bool, home: Home | None = None
    ) -> None:
        """A query runs; where it is the one that ran before under its name, its answer stays."""
        with self._lock:
            known = self._kept.get(name)
            if known is None or (known.shape, known.schema, known.limits) != (shape, schema, limits):
                self._kept[name] = KeptAnswer(name, shape, schema, limits, home)
            (self._asked.add if asked else self._asked.discard)(name)

    def forget(self, name: str) -> None:
        """A query runs no more."""
        with self._lock:
            self._kept.pop(name, None)
            self._asked.discard(name)

    def wants(self, name: str) -> bool:
        """Whether the answers of a query are kept."""
        return name in self._kept and (self.keep_all or name in self._asked)

    def limits(self, name: str) -> Limits:
        return self._kept[name].limits

    def take(self, name: str, rows: pa.Table, batch: int) -> None:
        """Put aside what a batch brings, until it is committed."""
        self._kept[name].take(rows, batch)

    def commit(self, names: Iterable[str], batch: int, clock_us: int | None) -> None:
        """Show what a batch has brought to these queries, all at once, then tell those who listen."""
        with self._lock:
            updates = [self._kept[name].commit(batch, clock_us) for name in names if name in self._kept]
            told = [(listener, update) for update in updates if update for listener in self._listening(update.query)]
        for listener, update in told:
            with suppress(Exception):  # whoever listens, and however badly: the batch goes on
                listener(update)

    @property
    def names(self) -> list[str]:
        """The queries whose answers are kept."""
        return [name for name in self._kept if self.wants(name)]

    def kept(self, name: str) -> KeptAnswer:
        """The answer of a query, with its updates."""
        if self._refused is not None:
            raise AskError(self._refused)
        if not self.wants(name):
            known = ", ".join(self.names) or "none"
            if name in self._kept:
                way_out = "keep it with CREATE SINK ... USING answers, or OPTIONS (keep 'answer')"
                raise AskError(f"the answer of {name!r} is not kept\nhint: {way_out}; kept are: {known}")
            raise AskError(f"there is no query {name!r}\nhint: answers are kept of: {known}", missing=True)
        return self._kept[name]

    def answer(self, name: str, keys: Mapping[str, Any] | None = None) -> Answer:
        """The answer as of the last committed batch, or those rows of it that have these values."""
        kept = self.kept(name)
        answer = kept.answer or Answer(name, kept.schema.empty_table(), -1, None, 0)
        return answer.where(keys) if keys else answer

    def current(self) -> dict[str, Answer]:
        """All answers, as of one moment between two commits."""
        with self._lock:
            return {name: self.answer(name) for name in self.names}

    def subscribe(self, name: str, since: int | None = None) -> Subscription:
        """The updates after batch `since`, and those to come, one by one."""
        return Subscription(lambda listener: self.listen(name, listener, since), self.limits(self.kept(name).name))

    def since(self, name: str, batch: int | None) -> list[Update]:
        """The updates that there are after a batch; where they do not reach back to it, the whole answer."""
        with self._lock:
            return self.kept(name).since(batch)

    def listen(
        self, name: str, listener: Listener, since: int | None = None
    ) -> tuple[list[Update], Callable[[], None]]:
        """The updates that there are after batch `since`, and what ends that `listener` is told the next ones."""
        with self._lock:
            found = self.kept(name).since(since)
            self._listeners.setdefault(name, []).append(listener)

        def end() -> None:
            with self._lock, suppress(ValueError):
                self._listeners.get(name, []).remove(listener)

        return found, end

    def _listening(self, name: str) -> list[Listener]:
        return self._listeners.get(name, [])
