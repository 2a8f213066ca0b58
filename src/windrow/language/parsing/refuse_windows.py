"""Windows that can be written but mean nothing."""

from __future__ import annotations

from itertools import pairwise

from sqlglot import exp

from windrow.errors import QueryError
from windrow.language.durations import UNITS_US, is_zone
from windrow.language.nodes import Duration, Months, RowCount, StreamWindow, Unbounded
from windrow.language.spans import error_at

_NOT_BY_CALENDAR = (
    ("rows", "ROWS", "leave IN out"),
    ("nested", "levels", "a query for each level, or leave IN out"),
    ("about", "ABOUT", "leave ABOUT out"),
    ("cumulate", "CUMULATE", "[RANGE 1 MONTH SLIDE 1 MONTH IN 'Europe/Berlin' EMIT EVERY 1 HOUR]: the month so far"),
)
"""What goes with no calendar, and what to write instead."""


def refuse_window(window: exp.Expr, text: str) -> None:
    """Raise the error of a window whose clauses do not go together."""
    if isinstance(window, StreamWindow):
        error = _calendar_error(window, text) or _cumulate_error(window, text)
        error = error or _slide_error(window, text) or _level_error(window, text) or _partition_error(window, text)
        if error is not None:
            raise error


def _slide_error(window: StreamWindow, text: str) -> QueryError | None:
    slides = window.args.get("slides") or []
    in_time = [slide for slide in slides if isinstance(slide, Duration | Months)]
    offset, emit_every = window.args.get("offset"), window.args.get("emit_every")
    if offset is not None and not in_time:
        return error_at(offset, "OFFSET shifts a slide in time, and this window has none", text, "add SLIDE 1 DAY, say")
    if emit_every is not None and not slides:
        message = "EMIT EVERY answers before a window slides, and this one has no SLIDE: each change is told at once"
        way_out = "add SLIDE, or say EMIT LAST EVERY behind the query"
        if window.args.get("rows"):
            way_out = "add SLIDE 1, or the last rows at each instant: [ROWS 100 SLIDE 10 SECONDS]"
        return error_at(emit_every, message, text, way_out)
    if window.args.get("about") and len(in_time) < len(slides):
        return error_at(slides[0], "ABOUT is for a slide in time", text, "leave ABOUT out")
    return None


def _calendar_error(window: StreamWindow, text: str) -> QueryError | None:
    """Months need a calendar, and a calendar counts days, weeks, months and years."""
    zone, slides = window.args.get("zone"), window.args.get("slides") or []
    lengths = [*window.args["ranges"], *slides]
    if zone is None:
        months = next((length for length in lengths if isinstance(length, Months)), None)
        hint = "add IN and the zone whose calendar counts, such as IN 'UTC', or count in DAYS"
        return None if months is None else error_at(months, "a MONTH has no fixed length", text, hint)
    for clause, name, way_out in _NOT_BY_CALENDAR:
        if window.args.get(clause):
            return error_at(zone, f"IN is for one RANGE and one SLIDE, not with {name}", text, way_out)
    if not is_zone(zone.name):
        return error_at(
            zone, f"there is no time zone {zone.name!r}", text, "names are those of IANA: 'Europe/Berlin', 'UTC'"
        )
    if not slides:
        return error_at(zone, "IN says when windows end, and this one has no SLIDE", text, "add SLIDE 1 DAY, say")
    for length in lengths:
        if isinstance(length, Months) or (isinstance(length, Duration) and length.us % UNITS_US["DAY"] == 0):
            continue
        hint = "what is shorter than a day needs no zone: leave IN out"
        if isinstance(length, Unbounded):
            hint = "leave IN out, and let OFFSET say when days begin"
        return error_at(length, "a calendar counts DAYS, WEEKS, MONTHS and YEARS", text, hint)
    offset = window.args.get("offset")
    if offset is not None and not 0 <= offset.us < UNITS_US["DAY"]:
        return error_at(offset, "with IN, OFFSET is a time of the day", text, "OFFSET 6 HOURS")
    return None


def _cumulate_error(window: StreamWindow, text: str) -> QueryError | None:
    """What grows step by step has steps that fill it."""
    if not window.args.get("cumulate"):
        return None
    slides, ranges = window.args.get("slides") or [], window.args["ranges"]
    lengths = [*ranges, *slides]
    clauses = ("rows", "nested", "about", "emit_every")
    if any(window.args.get(clause) for clause in clauses) or not all(isinstance(one, Duration) for one in lengths):
        return error_at(
            window, "CUMULATE is for one RANGE and one SLIDE in time", text, "[RANGE 1 DAY SLIDE 1 HOUR CUMULATE]"
        )
    if len(lengths) != 2 or ranges[0].us % slides[0].us:
        hint = "[RANGE 1 DAY SLIDE 1 HOUR CUMULATE]"
        return error_at(window, "the range of CUMULATE is a multiple of its slide", text, hint)
    return None


def _level_error(window: StreamWindow, text: str) -> QueryError | None:
    ranges, slides, aging = window.args["ranges"], window.args.get("slides") or [], window.args.get("aging") or []
    if not window.args.get("nested"):
        hint = "[RANGES 1 HOUR, 1 MINUTE SLIDES 1 MINUTE, 1 SECOND AGING (1, 0.5)]"
        return error_at(window, "AGING weighs the levels of a window with RANGES", text, hint) if aging else None
    if len(slides) != len(ranges):
        message = f"{len(ranges)} ranges need {len(ranges)} slides, not {len(slides)}"
        return error_at(window, message, text, "nested levels have a slide each: SLIDES 1 MINUTE, 1 SECOND")
    for coarse, fine in pairwise(ranges):
        if not _longer(coarse, fine):
            hint = "RANGES 1 HOUR, 1 MINUTE: the longest first"
            return error_at(fine, "each range must be shorter than the one before it", text, hint)
    if aging and len(aging) != len(ranges):
        return error_at(
            window, f"{len(ranges)} levels need {len(ranges)} weights, not {len(aging)}", text, "a weight for each"
        )
    return None


def _partition_error(window: StreamWindow, text: str) -> QueryError | None:
    counted = window.args.get("rows") or any(isinstance(slide, RowCount) for slide in window.args.get("slides") or [])
    keys = window.args.get("partition_by")
    if keys and not counted:
        hint = "a window over time is the same for every key: use GROUP BY"
        return error_at(keys[0], "PARTITION BY counts rows by key, and this window counts none", text, hint)
    return None


def _longer(coarse: exp.Expr, fine: exp.Expr) -> bool:
    if isinstance(fine, Unbounded):
        return False
    return isinstance(coarse, Unbounded) or bool(coarse.args["this"] > fine.args["this"])
