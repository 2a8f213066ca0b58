"""Rows that open and close windows, in order of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.kernels import Field, Fields, Lowered, Rows
from windrow.kernels.kernel import Irreversible, integer
from windrow.windows.entries import Entries


class Owner(Irreversible):
    """The slot of the key that a group's window is of, as a column beside its partials."""

    fields: tuple[Field, ...] = (integer("owner"),)

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        raise TypeError("an owner is no value of a row")

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        into["owner"][slots] = newer["owner"]

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        return Lowered(pa.array(partials["owner"].copy()).cast(type))


@dataclass(frozen=True, slots=True)
class FollowedRows:
    """Rows in order of time: of which key, whether they open or close, and what they hold of their groups.

    `members` are the rows that WHERE lets through; `entries` are theirs, with the row's place for a pane.
    """

    times: np.ndarray
    owners: np.ndarray
    opens: np.ndarray
    closes: np.ndarray
    members: np.ndarray
    entries: Entries

    def until(self, instant: int, since: int) -> tuple[FollowedRows, int]:
        """The rows from place `since` on and before `instant`, and the place behind them."""
        stop = int(np.searchsorted(self.times, instant))
        low, high = np.searchsorted(self.members, (since, stop))
        part = slice(since, stop)
        times, owners, opens, closes = self.times[part], self.owners[part], self.opens[part], self.closes[part]
        entries = self.entries.part(slice(int(low), int(high)))
        return FollowedRows(times, owners, opens, closes, self.members[low:high] - since, entries), stop
