"""The updates of a query one by one, as an iterator: who reads too slowly is told so, and holds up nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from queue import Empty, Queue
from threading import Event
from types import TracebackType
from typing import Self

from windrow.current.answer import Update
from windrow.current.kept import Listener
from windrow.current.limits import Limits
from windrow.errors import AskError

BEHIND = "the subscription has been ended: {} updates were not read, and more are not kept"


class Subscription:
    """Updates as batches bring them: `for update in job.subscribe("vwap")`. `close`, or leaving `with`, ends it."""

    def __init__(self, listen: Callable[[Listener], tuple[list[Update], Callable[[], None]]], limits: Limits) -> None:
        self._waiting: Queue[Update | None] = Queue()
        self._most, self._behind, self._closed = limits.batches, False, Event()
        found, self._end = listen(self._told)
        for update in found:
            self._waiting.put(update)

    def _told(self, update: Update) -> None:
        if self._waiting.qsize() >= self._most:
            self._behind = True
            self.close()
        else:
            self._waiting.put(update)

    def next(self, timeout: float | None = None) -> Update | None:
        """The next update; None if `timeout` seconds pass before, or after `close`."""
        if self._closed.is_set() and self._waiting.empty():
            return None
        try:
            update = self._waiting.get(timeout=timeout)
        except Empty:
            return None
        if update is None and self._behind:
            raise AskError(BEHIND.format(self._most) + "\nhint: read faster, or subscribe again")
        return update

    def __iter__(self) -> Iterator[Update]:
        while (update := self.next()) is not None:
            yield update

    def close(self) -> None:
        """End it: what has come can still be read."""
        self._end()
        if not self._closed.is_set():
            self._closed.set()
            self._waiting.put(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: TracebackType | None) -> None:
        self.close()
