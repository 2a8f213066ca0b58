"""The state of a space, by the kind of its windows."""

from __future__ import annotations

from windrow.compile.choose_maintenance import NAMES
from windrow.plan.nodes.emission import SNAPSHOT
from windrow.plan.nodes.row_panes import RowPanes
from windrow.plan.nodes.spaces import AnySpace, RowSpace, Space
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.plan.windows.predicate_window import PredicateWindow
from windrow.plan.windows.session_window import SessionWindow
from windrow.runtime.contracts import KeptSpace
from windrow.runtime.rows.partition_space import PartitionSpaceState
from windrow.runtime.rows.passed import Passing
from windrow.runtime.rows.predicate_space import PredicateSpaceState
from windrow.runtime.rows.row_panes import RowPanesState
from windrow.runtime.rows.row_space import RowSpaceState
from windrow.runtime.rows.session_space import SessionSpaceState
from windrow.runtime.time.space import SpaceState
from windrow.storage.blocks import Blocks, Snapshot


def state_of(
    space: AnySpace,
    plan: StreamPlan,
    blocks: Blocks,
    user: dict[str, type],
    snapshot: Snapshot | None,
    since: int | None,
    rows: int,
) -> KeptSpace:
    """The state of a space as `snapshot` has it, or as it begins after `rows` events, all of them before `since`."""
    schedule = plan.wanted.get("schedule")
    state: KeptSpace
    if isinstance(space, Space):
        state = SpaceState(space, plan.queries_of(space), blocks, user, snapshot, since, schedule, plan.correct_us)
    elif isinstance(space, RowPanes):
        queries = plan.queries_of(space)
        state = RowPanesState(space, queries, blocks, user, snapshot, since, rows, schedule, _asked(space, plan))
    elif isinstance(space.window, PredicateWindow):
        state = PredicateSpaceState(space, blocks, user, snapshot, since)
    elif isinstance(space.window, SessionWindow):
        state = SessionSpaceState(space, blocks, user, snapshot, since, plan.correct_us)
    elif space.partition:
        state = PartitionSpaceState(space, blocks, user, snapshot, since)
    else:
        state = RowSpaceState(space, blocks, user, snapshot, since, rows, schedule, _asked(space, plan))
    if isinstance(state, Passing) and any(query.emit != SNAPSHOT for query in plan.queries_of(space)):
        state.passed = []
    return state


def _asked(space: RowSpace, plan: StreamPlan) -> bool:
    """Whether the way that its windows are folded was asked for by name."""
    wishes = {query.choose.over(plan.wanted).get("maintenance") for query in plan.queries_of(space)}
    return any(NAMES.get(way, way) in wishes for way in space.ways)
