"""The state of a space, by the kind of its windows."""

from __future__ import annotations

from windrow.compile.choose_maintenance import NAMES
from windrow.plan.nodes.emission import SNAPSHOT
from windrow.plan.nodes.pipeline import StreamPlan
from windrow.plan.nodes.spaces import RowSpace, Space
from windrow.plan.windows.predicate_window import PredicateWindow
from windrow.plan.windows.session_window import SessionWindow
from windrow.runtime.contracts import KeptSpace
from windrow.runtime.rows.partition_space import PartitionSpaceState
from windrow.runtime.rows.passed import Passing
from windrow.runtime.rows.predicate_space import PredicateSpaceState
from windrow.runtime.rows.row_space import RowSpaceState
from windrow.runtime.rows.session_space import SessionSpaceState
from windrow.runtime.time.space import SpaceState
from windrow.storage.blocks import Blocks, Snapshot


def state_of(
    space: Space | RowSpace,
    plan: StreamPlan,
    blocks: Blocks,
    user: dict[str, type],
    snapshot: Snapshot | None,
    since: int | None,
    rows: int,
) -> KeptSpace:
    """The state of a space as `snapshot` has it, or as it begins after `rows` events, all of them before `since`."""
    state = _opened(space, plan, blocks, user, snapshot, since, rows)
    if isinstance(state, Passing) and any(query.emit != SNAPSHOT for query in plan.queries_of(space)):
        state.passed = []
    return state


def _opened(
    space: Space | RowSpace,
    plan: StreamPlan,
    blocks: Blocks,
    user: dict[str, type],
    snapshot: Snapshot | None,
    since: int | None,
    rows: int,
) -> KeptSpace:
    schedule = plan.wanted.get("schedule")
    if isinstance(space, Space):
        return SpaceState(space, plan.queries_of(space), blocks, user, snapshot, since, schedule)
    if isinstance(space.window, PredicateWindow):
        return PredicateSpaceState(space, blocks, user, snapshot, since)
    if isinstance(space.window, SessionWindow):
        return SessionSpaceState(space, blocks, user, snapshot, since)
    if space.partition:
        return PartitionSpaceState(space, blocks, user, snapshot, since)
    wishes = {query.choose.over(plan.wanted).get("maintenance") for query in plan.queries_of(space)}
    asked = any(NAMES.get(way, way) in wishes for way in space.maintenance)
    return RowSpaceState(space, blocks, user, snapshot, since, rows, schedule, asked)
