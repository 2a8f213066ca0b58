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
