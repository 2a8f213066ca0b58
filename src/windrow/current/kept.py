"""The answer of one query: what a batch brings is put aside, and shown when the batch is committed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

import pyarrow as pa

from windrow.current.add_up import AddedUp
from windrow.current.answer import Answer, Update
from windrow.current.limits import Limits
from windrow.current.shape import ADDED_UP, NEWEST_WINDOW, Shape

MOST_TIMES = 20
"""What changes add up to is kept whole, to be added to; an answer so many times as large as its limit is given up."""


class Home(Protocol):
    """Where the answer that changes add up to outlives its process: a batch may run again, from the one before."""

    def before(self, batch: int) -> pa.Table | None:
        """The answer after the newest batch before this one, if it was kept."""

    def keep(self, answer: pa.Table, batch: int) -> None:
        """Keep the answer after `batch`."""


class KeptAnswer:
    """The current answer of one query, and the updates of the last batches. One thread writes, whoever will reads."""

    def __init__(self, name: str, shape: Shape, schema: pa.Schema, limits: Limits, home: Home | None = None) -> None:
        self.name, self.shape, self.schema, self.limits, self._home = name, shape, schema, limits, home
        self.answer: Answer | None = None
        self.updates: deque[Update] = deque()
        self.counted = 0
        self._bytes = 0
        self._staged: tuple[int, pa.Table] | None = None
        self._added: AddedUp | None = None
        self._since: int | None = None
        self._too_large = False
        self._reach: int | None = None
        """The updates of all batches after this one are there."""

    def take(self, rows: pa.Table, batch: int) -> None:
        """Put aside what a batch brings, until it is committed."""
        self._staged = (batch, rows)

    def commit(self, batch: int, clock_us: int | None) -> Update | None:
        """Show what the batch has brought; gives it, if it is anything."""
        staged, self._staged = self._staged, None
        self._reach = batch - 1 if self._reach is None else self._reach
        rows = staged[1] if staged is not None and staged[0] == batch else self.schema.empty_table()
        self.counted += rows.num_rows
        if self.shape.kind == ADDED_UP:
            answer = self._add(rows, batch, clock_us)
        else:
            answer = self._replaced(rows, batch, clock_us)
        self.answer = answer
        if rows.num_rows == 0:
            return None
        sent = self.shape.trimmed(rows, self.limits) if self.shape.kind == NEWEST_WINDOW else rows
        sent = sent.slice(max(0, sent.num_rows - self.limits.rows))
        update = Update(self.name, sent, batch, clock_us, rows.num_rows - sent.num_rows)
        self._remember(update)
        return update

    def since(self, batch: int | None) -> list[Update]:
        """The updates after a batch; where they do not reach back to it, the whole answer instead."""
        kept = list(self.updates)
        answer = self.answer
        if batch is not None and self._reach is not None and batch >= self._reach:
            return [update for update in kept if update.batch > batch]
        if answer is None or answer.version == 0:
            return []
        return [Update(self.name, answer.table, answer.batch, answer.clock_us, answer.cut, whole=True)]

    def _replaced(self, rows: pa.Table, batch: int, clock_us: int | None) -> Answer:
        before = self.answer
        if rows.num_rows == 0:
            held, version, cut = self._held()
            return Answer(self.name, held, batch, clock_us, version, cut)
        if self.shape.kind == NEWEST_WINDOW:
            known = [rows] if before is None or not self.shape.goes_on else [before.table, rows]
            newest = self.shape.newest(pa.concat_tables(known))
        else:
            newest = rows if before is None else pa.concat_tables([before.table, rows])
            newest = newest.slice(max(0, newest.num_rows - self.limits.rows))
        kept = within(newest, self.limits)
        version = 1 if before is None else before.version + 1
        return Answer(self.name, kept, batch, clock_us, version, newest.num_rows - kept.num_rows)

    def _add(self, rows: pa.Table, batch: int, clock_us: int | None) -> Answer:
        leading = len(self.shape.leading)
        schema = pa.schema(list(self.schema)[leading:])
        if self._added is None:
            self._added = AddedUp(schema)
            before = None if self._home is None else self._home.before(batch)
            if before is not None:
                self._added.change(["+"] * before.num_rows, before)
            elif batch > 0:
                self._since = batch
        if rows.num_rows == 0 and self.answer is not None:
            held, version, cut = self._held()
            return Answer(self.name, held, batch, clock_us, version, cut, self._since)
        self._added.change(rows["op"].to_pylist(), pa.table(rows.columns[leading:], schema=schema))
        self._too_large = self._too_large or self._added.count > MOST_TIMES * self.limits.rows
        if self._too_large:
            count, self._added = self._added.count, AddedUp(schema)
            version = (0 if self.answer is None else self.answer.version) + 1
            return Answer(self.name, schema.empty_table(), batch, clock_us, version, count, batch)
        whole = self._added.table()
        if self._home is not None and rows.num_rows:
            self._home.keep(whole, batch)
        kept = within(whole, self.limits)
        version = (0 if self.answer is None else self.answer.version) + 1
        return Answer(self.name, kept, batch, clock_us, version, whole.num_rows - kept.num_rows, self._since)

    def _held(self) -> tuple[pa.Table, int, int]:
        if self.answer is None:
            return self.schema.empty_table(), 0, 0
        return self.answer.table, self.answer.version, self.answer.cut

    def _remember(self, update: Update) -> None:
        self.updates.append(update)
        self._bytes += update.table.nbytes
        while len(self.updates) > 1 and (len(self.updates) > self.limits.batches or self._bytes > self.limits.bytes):
            gone = self.updates.popleft()
            self._bytes, self._reach = self._bytes - gone.table.nbytes, gone.batch


def within(rows: pa.Table, limits: Limits) -> pa.Table:
    """The first rows, as many as the limits allow."""
    kept = rows.slice(0, limits.rows)
    while kept.num_rows > 1 and kept.nbytes > limits.bytes:
        kept = kept.slice(0, kept.num_rows // 2)
    return kept


Listener = Callable[[Update], None]
"""Is told each update as soon as its batch is committed, in the thread that commits: it must not wait."""
