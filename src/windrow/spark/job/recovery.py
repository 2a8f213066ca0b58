"""What has died in a job and comes back: after which pause, how often, and when it is given up."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from windrow.errors import QueryError, SettingsError
from windrow.language import parse_duration
from windrow.spark.job.hangs import TASK_TIMEOUT, Hangs

ISOLATE, STOP = "isolate", "stop"
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
RESTARTS = 10
"""So often a Spark query is started again without a batch done in between, unless the user says otherwise."""


@dataclass(slots=True)
class Recovery:
    """Which Spark queries of a job wait to be started again, by stream, and which are given up.

    The pause doubles each time. A batch that is done in between shows that the trouble has passed: it begins anew.
    """

    on_error: str = ISOLATE
    limit: int = RESTARTS
    task_timeout: str = TASK_TIMEOUT
    now: Callable[[], float] = time.monotonic
    given_up: dict[str, str] = field(default_factory=dict)
    hung: Hangs = field(init=False)
    _due: dict[str, float] = field(default_factory=dict)
    _tries: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.on_error not in (ISOLATE, STOP):
            raise SettingsError(f"on_error={self.on_error!r} is neither {ISOLATE!r} nor {STOP!r}")
        if not isinstance(self.limit, int) or self.limit < 0:
            raise SettingsError(f"restarts={self.limit!r} is not a whole number from 0")
        try:
            seconds = parse_duration(self.task_timeout) / 1e6
        except QueryError as error:
            raise SettingsError(f"task_timeout={self.task_timeout!r}: {error.message}\nhint: {error.hint}") from None
        if seconds <= 0:
            raise SettingsError(f"task_timeout={self.task_timeout!r} is no time")
        self.hung = Hangs(seconds, self.now)

    def waits(self, stream: str) -> bool:
        """Whether a Spark query has died and is to be started again."""
        return stream in self._due

    @property
    def waiting(self) -> bool:
        return bool(self._due)

    def is_due(self, stream: str) -> bool:
        return self.now() >= self._due[stream]

    def pause(self, stream: str, *, progressed: bool) -> bool:
        """Have a Spark query started again after a while; False if it was too often without a batch done."""
        tries = 0 if progressed else self._tries.get(stream, 0)
        if tries >= self.limit:
            return False
        self._tries[stream] = tries + 1
        self._due[stream] = self.now() + min(LONGEST_PAUSE, FIRST_PAUSE * 2**tries)
        return True

    def begin(self, stream: str) -> None:
        """It has been started."""
        self.hung.forget(stream)
        self._due.pop(stream, None)
        self.given_up.pop(stream, None)

    def give_up(self, stream: str, why: str) -> None:
        tries = self._tries.get(stream, 0)
        often = f" (started again {tries} times, with no batch done since)" if tries >= self.limit > 0 else ""
        self.given_up[stream] = why + often
