"""The figures of a job as text: one line a stream for a log, named rows for a screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from windrow.plan.nodes.run_names import streams_in
from windrow.spark.job.progress import absent_told

Figures = Mapping[str, Any]
NONE_YET = "-"
ROWS = (
    *("events", "clock", "windows", "rejected", "shed", "overflows", "absent", "dropped", "delay", "state"),
    *("time", "dearest"),
)
"""The order in which a screen shows figures; some streams have not all of them."""

MOST_DEAR = 2
"""So many of the dearest queries and sinks fit into a line."""


def shown_name(run: str) -> str:
    """What a Spark query is called on a screen: by its streams, in the names that people gave them.

    >>> shown_name("ticks"), shown_name("changes-2-a+b")
    ('ticks', 'a, b')
    """
    return ", ".join(streams_in(run))


def rows_of(figures: Figures) -> dict[str, str]:
    """What a screen shows of a stream, by name."""
    return {
        "events": f"{figures['events']:,}   {rate(figures)}{'   waiting for input' if figures['waiting'] else ''}",
        "clock": clock(figures),
        "windows": f"{figures['windows']:,} answered",
        "rejected": rejected(figures),
        **({"shed": shed(figures)} if figures.get("shed") else {}),
        "overflows": overflows(figures),
        **({"absent": absent(figures)} if figures.get("absent") else {}),
        "dropped": dropped(figures),
        "delay": delay(figures),
        "state": f"{state(figures)}   {groups(figures)}",
        "time": shares(figures),
        "dearest": dearest(figures),
    }


def line_of(stream: str, figures: Figures) -> str:
    """What a log says of a stream."""
    parts = [
        f"{figures['events']:,} events",
        rate(figures),
        f"clock {clock(figures)}",
        f"{figures['windows']:,} windows",
        f"rejected: {rejected(figures)}",
        *([f"shed: {shed(figures)}"] if figures.get("shed") else []),
        f"overflows: {overflows(figures)}",
        *([f"absent: {absent(figures)}"] if figures.get("absent") else []),
        *([f"dropped: {dropped(figures)}"] if figures["dropped"] else []),
        f"delay: {delay(figures)}",
        f"state: {state(figures)}, {groups(figures)}",
        f"time: {shares(figures)}",
        f"dearest: {dearest(figures)}",
    ]
    return f"{stream}: {'; '.join(parts)}"


def rate(figures: Figures) -> str:
    return f"{figures['events_per_second']:,.0f}/s"


def clock(figures: Figures) -> str:
    """How far the stream has come."""
    now = figures["clock"]
    return NONE_YET if now is None else now.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + " UTC"


def rejected(figures: Figures) -> str:
    """How many events no window took, by cause, how many only some did, and how many files of them were gone.

    >>> rejected({"rejected": {"late": 3, "no time": 0, "unreadable": 1}}), rejected({"rejected": {"late": 0}})
    ('3 late, 1 unreadable', 'none')
    """
    counted = [f"{count:,} {cause}" for cause, count in figures["rejected"].items() if count]
    if figures.get("late_in_part"):
        counted.append(f"{figures['late_in_part']:,} late in part")
    if figures.get("corrected"):
        counted.append(f"{figures['corrected']:,} corrected")
    if figures.get("duplicates"):
        counted.append(f"{figures['duplicates']:,} duplicates")
    if figures.get("seam"):
        counted.append(f"{figures['seam']:,} at the seam of history and stream")
    if figures.get("missing_files"):
        counted.append(f"{figures['missing_files']:,} files missing")
    return ", ".join(counted) or "none"


def shed(figures: Figures) -> str:
    """How many rows were left out since the stream was delayed, and which share is taken now: no fault of theirs.

    >>> shed({"shed": 1087, "share": 0.0625}), rejected({"rejected": {"late": 0}, "shed": 1087, "share": 0.0625})
    ('1,087 rows left out, takes 6.25% now', 'none')
    """
    return f"{figures['shed']:,} rows left out, takes {figures.get('share', 1.0):.2%} now"


def overflows(figures: Figures) -> str:
    """How many values are NULL since their type could not hold them, or since nothing sensible was to be had."""
    return f"{figures['failed']:,} values made NULL" if figures["failed"] else "none"


def absent(figures: Figures) -> str:
    """Columns that are NULL since files, or all events of a batch, lack them.

    >>> absent({"absent": {"v": {"files": 2, "rows": 12}}})
    "column 'v' absent in 12 rows of 2 files"
    """
    return ", ".join(absent_told(name, counted) for name, counted in figures["absent"].items())


def dropped(figures: Figures) -> str:
    """What went because the clock was set back."""
    return f"{figures['dropped']:,} panes and rows, by setting the clock back" if figures["dropped"] else "none"


def delay(figures: Figures) -> str:
    """How long events waited for their results."""
    known = figures["delay"]
    return NONE_YET if known is None else "  ".join(f"{name} {value:.2f} s" for name, value in known.items())


def state(figures: Figures) -> str:
    """How much there is on disk, and how much of it workers have in memory."""
    return f"{size(figures['state_bytes'])} on disk, {size(figures['memory_bytes'])} in memory"


def groups(figures: Figures) -> str:
    return "1 group" if figures["groups"] == 1 else f"{figures['groups']:,} groups"


def shares(figures: Figures) -> str:
    """Where the time goes.

    >>> shares({"seconds": {"scan": 1.0, "slice": 2.0, "slide": 1.0, "state": 0.0, "sinks": 4.0}})
    'scan 12%  slice 25%  slide 12%  state 0%  sinks 50%'
    """
    total = sum(figures["seconds"].values())
    if not total:
        return NONE_YET
    return "  ".join(f"{name} {seconds / total:.0%}" for name, seconds in figures["seconds"].items())


def dearest(figures: Figures) -> str:
    """The queries and sinks that cost most.

    >>> dearest({"query_seconds": {"vwap": 3.21, "peak": 0.5}, "sink_seconds": {"vwap": 1.0}})
    'query vwap 3.2 s, sink vwap 1.0 s'
    """
    costs = [(seconds, f"query {name}") for name, seconds in figures.get("query_seconds", {}).items()]
    costs += [(seconds, f"sink {name}") for name, seconds in figures.get("sink_seconds", {}).items()]
    most = sorted(costs, reverse=True)[:MOST_DEAR]
    return ", ".join(f"{name} {seconds:.1f} s" for seconds, name in most) or NONE_YET


def size(count: float) -> str:
    """So many bytes, in the unit that gives a short number.

    >>> size(512), size(1_234_567)
    ('512 B', '1.2 MB')
    """
    units = ["B", "kB", "MB", "GB", "TB"]
    while count >= 1000 and len(units) > 1:
        count /= 1000
        units.pop(0)
    return f"{count:.0f} {units[0]}" if units[0] == "B" else f"{count:.1f} {units[0]}"
