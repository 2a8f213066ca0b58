"""Updates as server-sent events: each as soon as its batch is committed, from where a reader left off."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from windrow.current.answer import Update
from windrow.current.answers import Answers
from windrow.errors import AskError
from windrow.serve.values import json_bytes, json_rows

Put = Callable[[Update], None]
MOST_WAITING = 64
"""So many updates wait for a reader; one that lets more wait has stopped reading, and is dropped."""

MOST_READERS = 256
QUIET_SECONDS = 10.0


class Readers:
    """All who read events, each with a queue of its own: none holds up a batch, or another reader."""

    def __init__(self, answers: Answers) -> None:
        self._answers, self.count = answers, 0
        self._rooms: dict[str, tuple[list[Put], Callable[[], None]]] = {}
        self._encoded: OrderedDict[int, tuple[Update, bytes]] = OrderedDict()

    def open(self, name: str, last_id: str | None) -> EventStream:
        """The events of one query, after the one with `last_id`; raises at once what cannot be told."""
        self._answers.kept(name)
        if self.count >= MOST_READERS:
            raise AskError(f"{MOST_READERS} readers are the most that there may be\nhint: close some")
        return EventStream(self, name, batch_of(last_id, self._answers.epoch))

    async def send(self, name: str, since: int | None, send: Send) -> None:
        """Send events until the reader is gone, or has let too many wait."""
        waiting, more, behind = deque[Update](), asyncio.Event(), asyncio.Event()

        def put(update: Update) -> None:
            if len(waiting) < MOST_WAITING:
                waiting.append(update)
                more.set()
            else:
                behind.set()

        self._join(name, put)
        self.count += 1
        found = self._answers.since(name, since)
        sending = asyncio.create_task(self._sending(send, found, waiting, more))
        dropping = asyncio.create_task(behind.wait())
        try:
            await asyncio.wait({sending, dropping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.count -= 1
            self._leave(name, put)
            for task in (sending, dropping):
                task.cancel()
            await asyncio.gather(sending, dropping, return_exceptions=True)

    def _join(self, name: str, put: Put) -> None:
        """Have a reader told of updates. A batch wakes the loop of the server once, however many read."""
        if name not in self._rooms:
            loop, puts = asyncio.get_running_loop(), list[Put]()

            def tell(update: Update) -> None:
                for own in list(puts):
                    own(update)

            _, end = self._answers.listen(name, lambda update: _call(loop, tell, update))
            self._rooms[name] = (puts, end)
        self._rooms[name][0].append(put)

    def _leave(self, name: str, put: Put) -> None:
        puts, end = self._rooms[name]
        puts.remove(put)
        if not puts:
            del self._rooms[name]
            end()

    async def _sending(self, send: Send, found: list[Update], waiting: deque[Update], more: asyncio.Event) -> None:
        await _body(send, b"retry: 1000\n\n")
        sent = -1
        for update in found:
            await _body(send, self._event(update))
            sent = update.batch
        while True:
            try:
                await asyncio.wait_for(more.wait(), QUIET_SECONDS)
            except TimeoutError:
                await _body(send, b": quiet\n\n")
            more.clear()
            while waiting:
                update = waiting.popleft()
                if update.batch > sent:  # what came while the first were looked up is among them
                    await _body(send, self._event(update))

    def _event(self, update: Update) -> bytes:
        """An update as it is sent, made once for all readers that are about as far."""
        known = self._encoded.get(id(update))
        if known is None:
            known = self._encoded[id(update)] = (update, event_bytes(update, self._answers.epoch))
            if len(self._encoded) > MOST_WAITING:
                self._encoded.popitem(last=False)
        return known[1]


class EventStream(Response):
    """Events to one reader, until it leaves or is dropped."""

    media_type = "text/event-stream"

    def __init__(self, readers: Readers, name: str, since: int | None) -> None:
        super().__init__(headers={"cache-control": "no-store"})
        del self.headers["content-length"]
        self._readers, self._name, self._since = readers, name, since

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        sending = asyncio.create_task(self._readers.send(self._name, self._since, send))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _body(send: Send, content: bytes) -> None:
    await send({"type": "http.response.body", "body": content, "more_body": True})


def _call(loop: asyncio.AbstractEventLoop, put: Any, update: Update) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(put, update)


def event_bytes(update: Update, epoch: str) -> bytes:
    """An update as an event. The name `answer` says that it is whole, `change` that it comes after the one before."""
    told = {
        "query": update.query,
        "batch": update.batch,
        "clock": None if update.clock is None else update.clock.isoformat(),
        "cut": update.cut,
        "rows": json_rows(update.table),
    }
    name = b"answer" if update.whole else b"change"
    number = f"{epoch}-{update.batch}".encode()
    return b"id: " + number + b"\nevent: " + name + b"\ndata: " + json_bytes(told) + b"\n\n"


def batch_of(last_id: str | None, epoch: str) -> int | None:
    """The batch that an id names; None where it is of another job, or none.

    >>> batch_of("ab-12", "ab"), batch_of("cd-12", "ab"), batch_of("x", "ab")
    (12, None, None)
    """
    own, _, number = (last_id or "").rpartition("-")
    digits = number.isdecimal() and len(number) < 18
    return int(number) if own == epoch and digits else None
