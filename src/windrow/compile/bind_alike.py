"""Queries that differ only in how long a window is and how far it slides are bound once: thousands are asked so."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from typing import Any

from sqlglot import exp

from windrow.language import Query, RowWindow, span_of, window_of
from windrow.language import TimeWindow as WrittenWindow
from windrow.language.nodes import STREAM_WINDOW
from windrow.plan.catalog import Catalog, Stream
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.time_window import TimeWindow

MOST = 64
"""So many kinds of queries are known at a time."""

_Plain = RowWindow | WrittenWindow
_Known = tuple[Stream, QueryPlan]


class BoundAlike:
    """Queries that were bound, by all that they say but the lengths of their window.

    Nothing but the window itself depends on these, as long as it is a plain one over a stream from outside. A query
    that was refused is not known, so that another like it is refused for its own text.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, _Known] = {}

    def bound(self, query: Query, catalog: Catalog, bind: Callable[[Query], AnyQuery]) -> AnyQuery:
        """What `bind` makes of a query, or what it has made of one like it, with the window of this one."""
        found = _plain(query, catalog)
        if found is None:
            return bind(query)
        place, written, stream = found
        asked = (_kind(written), *_sizes(catalog), *_texts(query, place), *_parts(query.tree, place))
        known, like = self._known.get(asked, (None, None))
        window = _with_lengths(like.window, written) if like is not None and known is stream else None
        if like is not None and window is not None:
            return replace(like, window=window)
        made = bind(query)
        if isinstance(made, QueryPlan) and _is_plain(made) and _with_lengths(made.window, written) == made.window:
            if len(self._known) >= MOST:
                self._known.clear()
            self._known[asked] = (stream, made)
        return made


def _plain(query: Query, catalog: Catalog) -> tuple[exp.Expr, _Plain, Stream] | None:
    """The window of a query over one stream from outside, as a node and as it is written, and that stream."""
    tree = query.tree
    if not isinstance(tree, exp.Select) or tree.args.get("joins") or tree.args.get("with_") or tree.args.get("cluster"):
        return None
    table = tree.args["from_"].this if tree.args.get("from_") else None
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier) or table.name in catalog.views:
        return None
    stream, place, written = catalog.streams.get(table.name), table.args.get(STREAM_WINDOW), window_of(table)
    if stream is None or stream.made_of is not None or stream.unique is not None or place is None:
        return None
    if not isinstance(written, RowWindow | WrittenWindow) or written.emit_every_us is not None:
        return None
    if isinstance(written, RowWindow):
        return None if written.partition_by else (place, written, stream)
    return None if written.about else (place, written, stream)


def _is_plain(plan: QueryPlan) -> bool:
    """Whether users' code, which may be registered anew, has no part in it, and no other stream."""
    users = any(partial.users for partial in plan.partials)
    return not users and plan.rows is None and plan.made_of is None and plan.clusters is None


def _kind(written: _Plain) -> Hashable:
    """What of a window is more than a length."""
    if isinstance(written, RowWindow):
        return "rows", written.rows is None, written.slide_rows is None
    return "time", written.range_us is None, written.slide_us is None


def _with_lengths(window: TimeWindow | CountWindow, written: _Plain) -> TimeWindow | CountWindow | None:
    """A window with the lengths that are `written`; None where it has more than lengths."""
    if isinstance(written, RowWindow) and type(window) is CountWindow:
        return replace(window, rows=written.rows, slide_rows=written.slide_rows or 1)
    if isinstance(written, WrittenWindow) and type(window) is TimeWindow and written.slide_us is not None:
        offset_us = written.offset_us % written.slide_us
        return replace(window, range_us=written.range_us, slide_us=written.slide_us, offset_us=offset_us)
    return None


def _sizes(catalog: Catalog) -> Iterator[int]:
    """How much is declared: what comes later may be what a name means."""
    for known in (catalog.streams, catalog.tables, catalog.aggregates, catalog.views, catalog.indexes):
        yield len(known)
    yield len(catalog.functions)


def _texts(query: Query, place: exp.Expr) -> tuple[str, ...]:
    """The text before and behind the window: names of columns and messages may be as it is written."""
    begin, end = span_of(place) or query.span
    return query.text[query.span[0] : begin], query.text[end : query.span[1]]


def _parts(tree: exp.Expr, without: exp.Expr) -> Iterator[Hashable]:
    """All parts of a tree but one, in an order that tells them apart."""
    waiting: list[Any] = [tree]
    while waiting:
        part = waiting.pop()
        if part is without:
            yield STREAM_WINDOW
        elif isinstance(part, exp.Expr):
            yield type(part), tuple(part.args)
            waiting += part.args.values()
        elif isinstance(part, list):
            yield len(part)
            waiting += part
        else:
            yield type(part), part
