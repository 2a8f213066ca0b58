"""Windows that count rows as text: what they keep, and why."""

from __future__ import annotations

from dataclasses import replace

from windrow.language import duration_sql
from windrow.plan.nodes.row_panes import RowPanes
from windrow.plan.nodes.spaces import RowSpace
from windrow.plan.windows.cuts import Cuts
from windrow.plan.windows.early_rows import EarlyRows
from windrow.plan.windows.predicate_window import PredicateWindow
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.session_window import SessionWindow


def row_space_lines(space: RowSpace, shards: int) -> list[str]:
    """The window of a space, and how its rows get their numbers."""
    window = space.window
    lines = [f"    window {count_window_text(window)}", f"      panes: {_panes(window)}"]
    if isinstance(window, PredicateWindow):
        where = "in the key's shard" if window.partition else "all in one shard, since any may open or close"
        lines.append(f"      rows: in order of time, {where}, once the clock has passed them")
        return [*lines, *_counted(window)]
    lines += _counted(window)
    if isinstance(window, SessionWindow):
        where = "in the key's shard" if window.partition else "all in one shard, since any may join two sessions"
        lines.append(f"      rows: folded where they are read as far as they follow closely, then {where}")
        return lines
    if window.partition:
        lines.append("      numbers: by key, in the key's shard, once the clock has passed a row's time")
    else:
        homes = f"all {shards} shards" if shards > 1 and space.keys else "the shard"
        lines.append(f"      numbers: {homes} get the times of all rows, and number them once the clock has passed")
    return lines


def row_panes_lines(space: RowPanes, shards: int) -> list[str]:
    """How rows are numbered, and cut into panes, for all windows that count them."""
    lines = [f"    panes: {_shared_panes(space)}"]
    lines += [line[2:] for line in _counted(space.window)]
    homes = f"all {shards} shards" if shards > 1 and space.keys else "the shard"
    return [*lines, f"    numbers: {homes} get the times of all rows, and number them once the clock has passed"]


def _shared_panes(space: RowPanes) -> str:
    if len(space.windows) == 1:
        return _panes(space.counts_as(space.windows[0]))
    slides = sorted({comb.slide_us for comb in space.cuts.combs})
    shown = ", ".join(map(str, slides[:4])) + (", ..." if len(slides) > 4 else "")
    return f"cut at the edges of {len(space.windows)} windows, which lie every {shown} rows, not at a common divisor"


def row_panes_state_line(space: RowPanes) -> str:
    """What is in the blocks of windows that share panes, each once for all of them."""
    times = "the times of the rows that panes begin with"
    held = f"rows that wait for the clock, panes, and {times}, in blocks of RocksDB"
    return f"{held}; a batch touches the newest and the leaving"


def _counted(window: CountWindow) -> list[str]:
    return [] if window.counted is None else [f"      counts the rows where {window.counted}"]


def row_state_line(space: RowSpace) -> str:
    """What is in the blocks, and what a batch touches of it."""
    window = space.window
    waiting = "rows that wait for the clock"
    if isinstance(window, PredicateWindow):
        return f"{waiting}, and one partial a group of each open window, in blocks of RocksDB"
    if isinstance(window, SessionWindow):
        return "one partial a group of each open session, in blocks of RocksDB; a batch touches its keys'"
    if window.partition and not window.bounded:
        return f"{waiting}, one partial a group and a count a key, in blocks of RocksDB; a batch touches its keys'"
    if window.partition:
        return f"{waiting}, the rows in the windows and a count a key, in blocks of RocksDB; a batch writes its rows"
    if not window.bounded:
        return f"{waiting}, and one partial a group, in blocks of RocksDB"
    times = "the times of the rows that windows begin with" if window.axis is not None else "the times of all rows"
    return f"{waiting}, panes, and {times}, in blocks of RocksDB; a batch touches the newest and the leaving"


def count_window_text(window: CountWindow) -> str:
    """A window as it is written.

    >>> count_window_text(CountWindow(range_us=60_000_000, slide_rows=50, partition=("k",)))
    '[PARTITION BY k RANGE 1 MINUTE SLIDE 50 ROWS]'
    """
    keys = f"PARTITION BY {', '.join(window.partition)} " if window.partition else ""
    every = "" if window.every_us is None else f" EMIT EVERY {duration_sql(window.every_us)}"
    if isinstance(window, EarlyRows):
        whole = replace(window.closes, every_us=window.slide_us)
        return f"{count_window_text(whole)}, the early answers"
    if isinstance(window, PredicateWindow):
        return f"[{keys}FROM {window.opens} UNTIL {window.closes}{every}]"
    if isinstance(window, SessionWindow):
        return f"[{keys}SESSION {duration_sql(window.gap_us)}{every}]"
    reach = (
        f"RANGE {duration_sql(window.range_us)}"
        if window.range_us is not None
        else f"ROWS {window.rows or 'UNBOUNDED'}"
    )
    if window.slide_us is None:
        rows = " ROWS" if window.range_us is not None else ""
        return f"[{keys}{reach} SLIDE {window.slide_rows}{rows}{every}]"
    offset = f" OFFSET {duration_sql(window.offset_us)}" if window.offset_us else ""
    return f"[{keys}{reach} SLIDE {duration_sql(window.slide_us)}{offset}{every}]"


def _panes(window: CountWindow) -> str:
    if isinstance(window, PredicateWindow):
        return "none: rows are folded into the window that is open, and let go"
    if isinstance(window, SessionWindow):
        return "none: rows are folded into sessions, which are joined where a row closes the gap"
    if window.partition or (window.axis is None and window.bounded):
        return "every row is one, since only times or keys tell where windows begin"
    axis = window.axis
    if axis is None or axis.range_us is None:
        return "rows are folded once and let go"
    count, rest = Cuts.of([axis]).panes_in(axis.range_us), axis.range_us % axis.slide_us
    if rest == 0:
        return f"{count} a window, {axis.slide_us} rows each"
    return f"{count} a window, by turns {axis.slide_us - rest} and {rest} rows"
