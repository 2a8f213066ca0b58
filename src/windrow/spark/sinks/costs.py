"""What queries and sinks cost: the time that tasks tell of, and that of the driver where it writes by itself."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock


@dataclass(frozen=True, slots=True)
class Costs:
    """Microseconds by query, to slide and to finish its rows, and by sink, to write them.

    >>> costs = Costs()
    >>> costs.query("vwap", 30), costs.sink("vwap", 5), costs.sink("vwap", 5)
    (None, None, None)
    >>> costs.queries, costs.sinks
    (Counter({'vwap': 30}), Counter({'vwap': 10}))
    """

    queries: Counter[str] = field(default_factory=Counter)
    sinks: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def query(self, name: str, took_us: int) -> None:
        """Add what tasks took for a query."""
        self.queries[name] += took_us

    def sink(self, name: str, took_us: int) -> None:
        """Add what it took to write into a sink; several may be written at once."""
        with self._lock:
            self.sinks[name] += took_us

    @contextmanager
    def writing(self, sink: str) -> Iterator[None]:
        """Time what the driver does for a sink."""
        began = time.perf_counter_ns()
        yield
        self.sink(sink, (time.perf_counter_ns() - began) // 1000)
