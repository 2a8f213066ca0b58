"""Clauses that the language has and this version does not run: refused where they stand, never dropped."""

from __future__ import annotations

from sqlglot import exp

from windrow.errors import NotSupportedYet
from windrow.language import emit_of, span_of
from windrow.plan.refuse_time_functions import refuse_spark_windows

_CLAUSES = {
    "joins": "JOIN",
    "distinct": "DISTINCT",
    "laterals": "LATERAL VIEW",
    "qualify": "QUALIFY",
    "offset": "OFFSET",
    "pivots": "PIVOT",
    "hint": "a hint",
    "sort": "SORT BY",
    "distribute": "DISTRIBUTE BY",
    "windows": "WINDOW",
}


def refuse_unsupported(tree: exp.Select, text: str) -> None:
    """Raise for the first clause of `tree` that cannot be run."""
    for clause, name in _CLAUSES.items():
        found = tree.args.get(clause)
        if found:
            raise not_yet(found[0] if isinstance(found, list) else found, name, text, tree=tree)
    if emit_of(tree) not in (None, "SNAPSHOT"):
        raise not_yet(tree.args["emit"], f"EMIT {emit_of(tree)}", text)
    for part in [*tree.selects, *(tree.args.get(clause) for clause in ("where", "having", "order", "group"))]:
        if part is not None:
            refuse_spark_windows(part, text)
            for node in part.find_all(exp.Window, exp.Query):
                raise not_yet(node, "OVER" if isinstance(node, exp.Window) else "a sub-query outside FROM", text)


def not_yet(
    node: exp.Expr, what: str, text: str, hint: str | None = None, *, tree: exp.Expr | None = None
) -> NotSupportedYet:
    """The error for `what`, underlining `node`, or `tree` where the node has no place of its own."""
    start, end = span_of(node) or (span_of(tree) if tree is not None else None) or (None, None)
    return NotSupportedYet(f"{what} is not supported yet", text=text, at=start, end=end, hint=hint)
