"""Tables that are read again while a job runs: their rows are in the checkpoint before a batch is joined with them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from threading import Event, Thread
from typing import Protocol

from windrow.errors import ChangeError, WindrowError
from windrow.plan.nodes.stage import StagePlan
from windrow.spark.job.look_after import LOGGER
from windrow.spark.sources.tables import Tables


class Refreshed(Protocol):
    """What is asked of a job whose tables are read again."""

    @property
    def is_active(self) -> bool: ...

    def join_refreshed(self, table: str) -> None:
        """Have streams joined, from the next batch on, with what a table held when it was last read."""

    def tell_table(self, table: str, *, failed: str | None = None) -> None:
        """Have progress tell how a table was read, or why it was not."""


class Refresher:
    """Reads tables when they are due, in a thread of its own, until `end` or until the job has ended.

    A table that holds what it held changes nothing. One that cannot be read stays as it was: that is told, and it is
    tried again when it is due next.
    """

    def __init__(self, job: Refreshed, tables: Tables) -> None:
        self._job, self._tables, self._ended = job, tables, Event()
        self._due = {name: time.monotonic() + own.every_us / 1e6 for name, own in tables.refreshes.items()}
        for name in self._due:
            job.tell_table(name, failed=tables.unread.get(name))
        self._thread = Thread(target=self._keep, name="windrow refresh", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Read no more; one that is being read is read to its end."""
        self._ended.set()

    def _keep(self) -> None:
        while not self._ended.wait(max(0.0, min(self._due.values()) - time.monotonic())):
            table = min(self._due, key=lambda name: self._due[name])
            try:
                if not self._job.is_active:
                    return
            except Exception:  # Spark is gone, and the job with it: whoever waits for the job is told
                return
            self.refresh(table)
            self._due[table] = time.monotonic() + self._tables.refreshes[table].every_us / 1e6

    def refresh(self, table: str) -> None:
        """Read one table, now, and have what it holds joined if it has changed."""
        try:
            if self._tables.read_again(table):
                self._job.join_refreshed(table)
            self._job.tell_table(table)
        except ChangeError as error:
            if not self._ended.is_set() and self._job.is_active:
                LOGGER.warning("table %r is not joined anew: %s", table, error)
        except Exception as error:
            if self._ended.is_set():
                return
            LOGGER.warning("table %r is not read again, and stays as it was: %s", table, error)
            why = error.message if isinstance(error, WindrowError) and hasattr(error, "message") else str(error)
            self._job.tell_table(table, failed=str(why).splitlines()[0])


def check_refreshable(table: str, plans: Iterable[StagePlan], kind: type[WindrowError]) -> None:
    """Raise an error of a `kind` where queries join a table that cannot be joined anew while they run."""
    for plan in plans:
        if any(table in dict(stage.static) for stage in plan.stages):
            names = ", ".join(query.name for stage in plan.stages for query in stage.changing)
            raise kind(
                f"{table!r} is joined by queries over rows that come and go ({names}), which would be taken"
                " back otherwise than they came\nhint: drop them first"
            )
