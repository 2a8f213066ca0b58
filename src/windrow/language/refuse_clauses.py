"""Clauses that Spark's grammar reads and the language has no meaning for: refused, so that none is silently dropped."""

from __future__ import annotations

from sqlglot import exp

from windrow.errors import QueryError
from windrow.language.nodes import CLUSTER, EMIT, QUERY_WINDOW, STREAM_WINDOW
from windrow.language.spans import Span, error_at, span_of

_OF_ANY_QUERY = {"with_", "order", "limit", "offset", EMIT, QUERY_WINDOW}
_KNOWN: dict[type[exp.Expr], set[str]] = {
    exp.Select: {
        *_OF_ANY_QUERY,
        *("expressions", "distinct", "from_", "joins", "where", "group", "having", CLUSTER),
    },
    exp.SetOperation: {*_OF_ANY_QUERY, "this", "expression", "distinct"},
    exp.Subquery: {*_OF_ANY_QUERY, "this", "alias", "joins"},
    exp.Table: {"this", "db", "catalog", "alias", "joins", STREAM_WINDOW},
    exp.Join: {"this", "on", "using", "method", "side", "kind"},
    exp.Distinct: {"expressions"},
    exp.Star: set(),
}
_NAMES = {
    "distribute": "DISTRIBUTE BY",
    "sort": "SORT BY",
    "laterals": "LATERAL VIEW",
    "sample": "TABLESAMPLE",
    "pivots": "PIVOT",
    "locks": "FOR UPDATE",
    "connect": "CONNECT BY",
    "match": "MATCH_RECOGNIZE",
    "version": "TIME TRAVEL",
    "when": "TIME TRAVEL",
}
_HINTS = {"except_": "name the columns", "sort": "use ORDER BY", "distribute": "leave it out", "hint": "leave it out"}


def refuse_clauses(tree: exp.Expr, text: str) -> None:
    """Raise the error of the first clause of `tree` that is not part of the language."""
    for node in tree.walk():
        if isinstance(node, exp.Command):
            raise error_at(node, "this is not part of the language", text)
        if node.args.get(EMIT) is not None and node is not tree:
            raise error_at(node.args[EMIT], "EMIT stands at the end of the whole query", text)
        for kind, known in _KNOWN.items():
            if isinstance(node, kind):
                _refuse_unknown(node, known, text)


def _refuse_unknown(node: exp.Expr, known: set[str], text: str) -> None:
    for key, value in node.args.items():
        if key in known or not value:
            continue
        name = _NAMES.get(key, key.strip("_").upper().replace("_", " "))
        at, end = _place(value, text) or span_of(node) or (None, None)
        raise QueryError(f"{name} is not part of the language", text=text, at=at, end=end, hint=_HINTS.get(key))


def _place(value: object, text: str) -> Span | None:
    if isinstance(value, exp.Hint):  # read by itself, so that its places are not those of the text
        return text.find("/*+"), text.find("*/", text.find("/*+")) + 2
    parts = value if isinstance(value, list) else [value]
    return next((span for part in parts if isinstance(part, exp.Expr) and (span := span_of(part))), None)
