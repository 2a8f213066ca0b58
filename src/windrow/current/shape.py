"""What the current answer of a query is, by what the query sends: windows, changes to one answer, or rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.current.add_up import AddedUp
from windrow.current.limits import Limits
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.emission import CHANGES, CORRECTED, SNAPSHOT
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.windows.time_window import TimeWindow

NEWEST_WINDOW, ADDED_UP, LATEST_ROWS = "newest window", "added up", "latest rows"
_END, _LEVEL, _TIME = "window_end", "level", "time"


@dataclass(frozen=True, slots=True)
class Shape:
    """Which rows are the answer: those of the newest window, of each level where there are some; those that changes
    add up to; or, where each key has windows of its own or only some changes are sent, the rows that came last.
    """

    kind: str
    leading: tuple[str, ...]

    @classmethod
    def of(cls, query: QueryPlan | ChangePlan) -> Shape:
        if query.emit == CHANGES:
            return cls(ADDED_UP, query.leading)
        windows = isinstance(query, ChangePlan)
        if isinstance(query, QueryPlan) and isinstance(query.window, TimeWindow):
            windows = query.window.every_us is None
        whole = query.emit in (SNAPSHOT, CORRECTED) and windows
        return cls(NEWEST_WINDOW if whole else LATEST_ROWS, query.leading)

    def trimmed(self, rows: pa.Table, limits: Limits) -> pa.Table:
        """What is worth sending of the rows of a batch, or of a shard: nothing is left out that an answer needs.

        Of windows, those that came last, as many as have no more than `limits.rows` together, and one at least.
        """
        if self.kind == ADDED_UP or rows.num_rows <= limits.rows:
            return rows
        if self.kind == LATEST_ROWS:
            return rows.slice(rows.num_rows - limits.rows)
        ends = rows[_END].cast(pa.int64()).combine_chunks().to_numpy(zero_copy_only=False)
        newest, counts = np.unique(ends, return_counts=True)
        kept = max(1, int(np.searchsorted(np.cumsum(counts[::-1]), limits.rows, side="right")))
        late = ends >= newest[-kept]
        if _LEVEL in rows.column_names and _LEVEL in self.leading:
            late |= self._is_newest(rows)
        return rows.filter(pa.array(late))

    @property
    def goes_on(self) -> bool:
        """Whether the newest window may be one that was told before: of a level, or corrected since."""
        return _LEVEL in self.leading or "op" in self.leading

    def newest(self, rows: pa.Table) -> pa.Table:
        """The rows of the newest window, as corrected; of levels, of the newest window of each."""
        found = self._of_newest(rows)
        if "op" not in self.leading:
            return found
        added = AddedUp(pa.schema([field for field in found.schema if field.name != "op"]))
        added.change(found["op"].to_pylist(), found.drop_columns(["op"]))
        whole = added.table()
        return whole.add_column(0, found.schema.field("op"), pa.array(["+"] * whole.num_rows, pa.string()))

    def _of_newest(self, rows: pa.Table) -> pa.Table:
        if rows.num_rows == 0:
            return rows
        if _LEVEL not in self.leading:
            return rows.filter(pc.equal(rows[_END], pc.max(rows[_END])))
        return rows.filter(pa.array(self._is_newest(rows)))

    def _is_newest(self, rows: pa.Table) -> np.ndarray:
        """Which rows are of the newest window of their level."""
        newest = rows.group_by(_LEVEL).aggregate([(_END, "max")])
        tops = dict(zip(newest[_LEVEL].to_pylist(), newest[f"{_END}_max"].cast(pa.int64()).to_pylist()))
        ends = rows[_END].cast(pa.int64()).to_pylist()
        return np.array([tops[level] == end for level, end in zip(rows[_LEVEL].to_pylist(), ends)])

    @property
    def time(self) -> str:
        """The column that says when: the end of a window, or the instant of a change."""
        return _END if _END in self.leading else _TIME
