"""Where in the text a node was written, so that an error can underline it."""

from __future__ import annotations

from typing import TypeVar

from sqlglot import exp

from windrow.errors import QueryError

Node = TypeVar("Node", bound=exp.Expr)
Span = tuple[int, int]

_SPAN = "span"


def remember_span(node: Node, start: int, end: int) -> Node:
    """Note that `node` was written at [start, end); kept in the node's meta, which copies carry along."""
    node.meta.setdefault(_SPAN, (start, end))
    return node


def span_of(node: exp.Expr) -> Span | None:
    """The offsets [start, end) of `node`, from its own note or else from all that it holds; None for a made-up node.

    >>> from windrow.language import parse_query
    >>> query = parse_query("SELECT SUM(price) / 2 AS x FROM ticks [RANGE 1 HOUR SLIDE 1 SECOND]")
    >>> start, end = span_of(query.tree.selects[0].this.copy())
    >>> query.text[start:end]
    'SUM(price) / 2'
    """
    found = [span for part in node.walk(prune=_has_span) if (span := _own_span(part)) is not None]
    return (min(start for start, _ in found), max(end for _, end in found)) if found else None


def as_written(node: exp.Expr, text: str) -> str | None:
    """What `text` has for `node`, whatever it has been made into since; None for a made-up node."""
    span = span_of(node)
    return None if span is None else text[slice(*span)]


def error_at(node: exp.Expr, message: str, text: str, hint: str | None = None) -> QueryError:
    """An error that underlines `node` in `text`."""
    start, end = span_of(node) or (None, None)
    return QueryError(message, text=text, at=start, end=end, hint=hint)


def _has_span(node: exp.Expr) -> bool:
    return _SPAN in node.meta


def _own_span(node: exp.Expr) -> Span | None:
    if _SPAN in node.meta:
        start, end = node.meta[_SPAN]
        return start, end
    start, last = node.meta.get("start"), node.meta.get("end")
    return (start, last + 1) if start is not None and last is not None else None
