"""Any horizon of a query with levels, whenever it is asked for, from the panes that its windows are made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.errors import StateError
from windrow.plan.windows.horizon import Horizon, StateAt
from windrow.plan.windows.parts import levels_of
from windrow.runtime.answers.rows import answer_rows
from windrow.runtime.answers.windows import Answers
from windrow.runtime.stream_state import StreamState


def state_at(shards: Sequence[StreamState], horizon: Horizon) -> StateAt[list[pa.RecordBatch]]:
    """Continuous reporting (Patroumpas and Sellis, Multi-granular time-based sliding windows, 2010, section III-C).

    `shards` have the query's stream each, and have all come as far; nothing changes in them. The stretch begins later
    than was asked for where the query has not been there for so long. As in the paper's bottommost buffer, what has
    come since the finest level slid last is in it: that is the pane that is still open. An event beyond the lateness is
    in it if some level took it.
    """
    stretches = [_stretch(shard, horizon) for shard in shards]
    start, end = max(start for start, _ in stretches), stretches[0][1]
    return StateAt(start, end, [_rows(shard, horizon, start, end) for shard in shards])


def _stretch(shard: StreamState, horizon: Horizon) -> tuple[int, int]:
    if shard.clock is None:
        raise StateError("the stream has had no event yet, so there is no clock to look back from")
    start, end = horizon.stretch(shard.clock, shard.clock if shard.newest is None else shard.newest)
    known = shard.space_of(horizon.query).known_from(start, horizon.granules, horizon.query)
    return min(known, end), end


def _rows(shard: StreamState, horizon: Horizon, start: int, end: int) -> pa.RecordBatch:
    """The groups that have an event between `start` and `end`, as rows of the query."""
    query, window = horizon.query, horizon.window
    assert window.levels is not None
    space = shard.space_of(query)
    slots, partials = space.folded(levels_of(window, grow=False), range(start, end), query.partials)
    answers = Answers(
        1,
        np.full(len(slots), start),
        np.full(len(slots), end),
        slots,
        partials,
        kept=query.partials,
        window=window.levels.windows[horizon.level],
    )
    rows, _ = answer_rows(query, space.groups, answers, dict(shard.plan.user_code))
    return rows
