"""At which instants a query over several windows is answered."""

from __future__ import annotations

from sqlglot import exp

from windrow.language import TimeWindow, error_at, query_window_of, window_of


def common_slide(tree: exp.Expr, text: str) -> tuple[int | None, int]:
    """The slide of a query, and its offset; without one it is answered at every change.

    Where windows have slides of their own, the longest is the query's: at its ends all of them end, if each is a
    multiple of the others. A window without a slide is looked at when the others end.
    """
    found: dict[tuple[int, int], exp.Expr] = {}
    for node in tree.find_all(exp.Table, exp.Subquery, exp.Query):
        window = window_of(node) if isinstance(node, exp.Table | exp.Subquery) else query_window_of(node)
        if isinstance(window, TimeWindow) and window.slide_us is not None and window.emit_every_us is None:
            found.setdefault((window.slide_us, window.offset_us % window.slide_us), node)
    if not found:
        return None, 0
    slide, offset = max(found)
    for (other, shift), node in found.items():
        if slide % other or (offset - shift) % other:
            message = "the windows of one query end together, and these slides are no multiples of each other"
            raise error_at(node, message, text, "SLIDE 10 SECONDS and SLIDE 5 SECONDS go together, 10 and 4 do not")
    return slide, offset
