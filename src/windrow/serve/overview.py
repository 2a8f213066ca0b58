"""Streams and queries with their figures, as a page shows them, whatever runs them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from windrow.current.answers import Answers
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.windows.row_window import CountWindow
from windrow.serve.history import COLUMNS, History
from windrow.serve.values import epoch, json_value


def overview_of(
    history: History,
    plans: Mapping[str, AnyQuery],
    lateness: Mapping[str, int],
    answers: Answers,
    sinks: Mapping[str, str],
    since: float,
    running: bool,
) -> dict[str, Any]:
    """What runs now; `sinks` says of each query where its rows go."""
    now = epoch()
    streams = [_stream(name, figures, lateness, now) for name, figures in history.latest.items()]
    if streams:
        slowest = max(streams, key=lambda stream: (stream["delay"] or {}).get("p99", 0.0))
        slowest["bottleneck"] = bool((slowest["delay"] or {}).get("p99", 0.0)) or len(streams) == 1
    stopped = {name: why for figures in history.latest.values() for name, why in figures["stopped"].items()}
    rows = {name: n for figures in history.latest.values() for name, n in figures["rows"].items()}
    rates = {name: n for figures in history.latest.values() for name, n in figures["rows_per_second"].items()}
    queries = [
        {
            "name": name,
            "stream": ", ".join(plan.sources),
            "run": plan.run,
            "rows": rows.get(name),
            "rows_per_second": rates.get(name),
            "window": window_of(plan),
            "sink": sinks.get(name, ""),
            "kept": answers.wants(name),
            "newest": _newest(answers, name),
            "stopped": None,
        }
        for name, plan in plans.items()
    ]
    queries += [{"name": name, "stopped": why, "stream": "", "kept": False} for name, why in stopped.items()]
    return {
        "now": now,
        "running": running,
        "epoch": answers.epoch,
        "streams": streams,
        "queries": queries,
        "columns": COLUMNS,
        "history": history.since(since),
    }


def _stream(name: str, figures: Mapping[str, Any], lateness: Mapping[str, int], now: float) -> dict[str, Any]:
    told = {key: json_value(value) for key, value in figures.items() if key not in ("rows", "rows_per_second")}
    clock = figures["clock"]
    late = max((lateness.get(part, 0) for part in name.removeprefix("changes-").split("+")), default=0)
    return told | {
        "name": name,
        "lateness": late / 1e6,
        "behind": None if clock is None else now - clock.timestamp(),
        "bottleneck": False,
    }


def _newest(answers: Answers, name: str) -> dict[str, Any] | None:
    if not answers.wants(name):
        return None
    kept = answers.kept(name)
    answer = kept.answer
    if answer is None:
        return None
    ends = answer.table["window_end"] if "window_end" in answer.table.column_names else None
    newest = ends[len(ends) - 1].as_py() if ends is not None and len(ends) else answer.clock
    return {"batch": answer.batch, "rows": len(answer), "cut": answer.cut, "at": json_value(newest)}


def window_of(plan: AnyQuery) -> dict[str, Any]:
    """A window in numbers to draw: seconds, or rows."""
    if isinstance(plan, ChangePlan) and plan.within is None:
        return {
            "kind": "changes",
            "range": plan.range_us / 1e6 or None,
            "slide": None if plan.slide_us is None else plan.slide_us / 1e6,
            "offset": plan.offset_us / 1e6,
            "emit": plan.emit,
        }
    window = plan.window if isinstance(plan, QueryPlan) else plan.within
    assert window is not None
    if isinstance(window, CountWindow):
        slide = window.slide_rows if window.slide_us is None else window.slide_us / 1e6
        return {"kind": "rows", "range": window.rows, "slide": slide, "offset": 0, "emit": plan.emit}
    return {
        "kind": "time",
        "range": None if window.range_us is None else window.range_us / 1e6,
        "slide": window.slide_us / 1e6,
        "offset": window.offset_us / 1e6,
        "emit": plan.emit,
    }
