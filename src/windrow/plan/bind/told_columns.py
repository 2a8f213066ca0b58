"""WHERE over `window_end`, `level` and the like, of windows that are folded: a condition on whole windows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from sqlglot import exp

from windrow.language import error_at
from windrow.plan.bind.bound import BoundRows, Scope
from windrow.plan.bind.names import both, placed_as
from windrow.plan.nodes.result_columns import named_columns


def told_columns(source: BoundRows, scope: Scope) -> set[str]:
    """The columns that say of which window an answer is, where the stream has none of that name."""
    if source.window is None:
        return set()
    return set(named_columns(source.window, scope.emit, False)) - {column.lower() for column in source.columns}


def names_told(node: exp.Expr, told: Collection[str], columns: Collection[str]) -> bool:
    """Whether an expression names one of these columns, by itself or as one of the stream: `a.window_end`."""
    return any(is_told(column, told, columns) for column in node.find_all(exp.Column))


def split_where(
    tree: exp.Select, told: Collection[str], columns: Collection[str]
) -> tuple[exp.Expr | None, exp.Expr | None]:
    """The parts of WHERE that ask for windows, as `level = 0`, and those that ask for rows."""
    where = tree.args.get("where")
    if where is None:
        return None, None
    of_windows: exp.Expr | None = None
    of_rows: exp.Expr | None = None
    condition = where.this.unnest()
    for part in list(condition.flatten()) if isinstance(condition, exp.And) else [condition]:
        if names_told(part, told, columns):
            of_windows = both(of_windows, unqualified(part, told, columns))
        else:
            of_rows = both(of_rows, part)
    return of_windows, of_rows


def unqualified(node: exp.Expr, told: Collection[str], columns: Collection[str]) -> exp.Expr:
    """The same expression, in which `a.window_end` is `window_end`."""

    def bare(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column) and part.table and is_told(part, told, columns):
            return placed_as(exp.column(part.name.lower()), part)
        return part

    return node.copy().transform(bare)


def windows_chosen(tree: exp.Select, source: BoundRows, scope: Scope) -> tuple[exp.Select, BoundRows]:
    """The SELECT without what its WHERE says of windows, which `source` knows then.

    All rows of a window are in it or none, so that the condition is one of answers. One that asks for a row and for its
    window at once would need each window to have rows of its own.
    """
    told = told_columns(source, scope)
    of_windows, of_rows = split_where(tree, told, source.columns)
    if of_windows is None:
        return tree, source
    for part in list(of_windows.flatten()) if isinstance(of_windows, exp.And) else [of_windows]:
        for column in part.find_all(exp.Column):
            if not is_told(column, told, source.columns):
                message = "a condition on a row and on its window at once is not one of an aggregate over windows"
                hint = "join both with AND; of the rows of windows, without an aggregate, any condition may be asked"
                raise error_at(column, message, scope.text, hint)
    kept = tree.copy()
    kept.set("where", of_rows and exp.Where(this=of_rows))
    return kept, replace(source, chosen=both(source.chosen, of_windows))


def is_told(column: exp.Column, told: Collection[str], columns: Collection[str]) -> bool:
    """Whether a column is one of those that say of which window an answer is; in `a.b`, a is no column with fields."""
    fields = {name.lower() for name in columns}
    return column.name.lower() in told and column.table.lower() not in fields
