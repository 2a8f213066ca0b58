"""Windows that open at a row with one condition and close at a row with another."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.plan.windows.row_window import CountWindow


@dataclass(frozen=True, slots=True)
class PredicateWindow(CountWindow):
    """From a row that `opens` to the next row that `closes`, both in it; conditions are texts of expressions.

    Rows are looked at in order of time, with `partition` those of each key by themselves. A row lies in at most one
    window: what opens does nothing while one is open, and a row with both conditions closes an open window, else opens
    one. With `every_us` a window that is open is answered at each multiple of it.

        opens     x     x        x     x
        closes             x        x
        windows   [--------]     [--]  [------ ...
    """

    opens: str = ""
    closes: str = ""
    every_us: int | None = None

    @property
    def beat_us(self) -> int | None:
        return self.every_us

    def instants(self, after: int, until: int) -> range:
        """When an open window is answered early, after one instant and up to another.

        >>> list(PredicateWindow(every_us=5).instants(5, 20)), list(PredicateWindow().instants(5, 20))
        ([10, 15, 20], [])
        """
        if self.every_us is None:
            return range(0)
        return range((after // self.every_us + 1) * self.every_us, until + 1, self.every_us)
