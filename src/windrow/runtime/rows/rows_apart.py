"""State of windows that count rows as it was before they shared panes."""

from __future__ import annotations

from collections.abc import Collection

from windrow.errors import StateError
from windrow.plan.nodes.row_panes import RowPanes
from windrow.plan.nodes.spaces import RowSpace
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.plan.windows.row_levels import row_parts
from windrow.plan.windows.row_window import CountWindow


def refuse_rows_apart(plan: StreamPlan, held: Collection[str]) -> None:
    """Raises where a checkpoint has a space for a window alone that shares panes by now.

    The panes of one window cannot be cut at the edges of another; without them, a query that goes on would leave out
    windows, and nobody would be told.
    """
    for space in plan.row_spaces:
        if not held or not isinstance(space, RowPanes) or space.name in held:
            continue
        for query in plan.queries_of(space):
            assert isinstance(query.window, CountWindow)
            for part in row_parts(query.window):
                own = RowSpace(space.stream, part, space.where, space.keys, query.partials, (), space.rows)
                if own.name in held:
                    raise StateError(
                        f"the checkpoint holds state of query {query.name!r} as an older version kept it, with rows of"
                        " its own for each window that counts rows, and this version keeps them once for all: start it"
                        " with the version that wrote it, or with a new checkpoint"
                    )
