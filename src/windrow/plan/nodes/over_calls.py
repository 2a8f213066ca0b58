"""What OVER makes of the rows beside a row: functions of the rows of a window, and the frames that they are of."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from windrow.plan.nodes.ordering import Ordering


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows of a partition that count for one of them: from `start` to `end`, before it negative, None for ever.

    In rows they are counted; in a range, 0 is all rows that are equal in the order, and other numbers are differences
    of the value that is ordered by, in microseconds for times.
    """

    in_rows: bool = False
    start: int | None = None
    end: int | None = None

    @property
    def text(self) -> str:
        """How it is written.

        >>> Frame(True, -2, 0).text, Frame(False, None, 0).text
        ('rows between 2 preceding and current row', 'range between unbounded preceding and current row')
        """
        start, end = _edge(self.start, "preceding"), _edge(self.end, "following")
        return f"{'rows' if self.in_rows else 'range'} between {start} and {end}"


def _edge(number: int | None, side: str) -> str:
    if number is None:
        return f"unbounded {side}"
    return "current row" if number == 0 else f"{abs(number)} {'preceding' if number < 0 else 'following'}"


@dataclass(frozen=True, slots=True)
class OverCall:
    """A value for each row of a window, drawn by `function` from the rows of its partition that are in the frame.

    `arguments` are expressions over the columns that slide emits; `number` is how far LAG goes back, which value
    NTH_VALUE takes, or into how many parts NTILE divides.
    """

    function: str
    arguments: tuple[str, ...]
    type: pa.DataType
    partition: tuple[str, ...]
    order: tuple[Ordering, ...]
    frame: Frame
    number: int = 1
    ignore_nulls: bool = False

    @property
    def texts(self) -> tuple[str, ...]:
        return (*self.arguments, *self.partition, *(term.sql for term in self.order))

    @property
    def text(self) -> str:
        """What it is, in words."""
        parts = [f"partition by {', '.join(self.partition)}"] if self.partition else []
        parts += [f"order by {', '.join(term.text for term in self.order)}"] if self.order else []
        called = ", ".join((*self.arguments, str(self.number)))
        nulls = " ignore nulls" if self.ignore_nulls else ""
        return f"{self.function}({called}){nulls} over ({' '.join((*parts, self.frame.text))})"
