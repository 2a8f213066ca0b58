"""What a value can be whatever the events are: the number of a row is 1 or more, a level is one that there is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from windrow.language.nodes import EMIT, STREAM_WINDOW, StreamWindow
from windrow.plan.catalog import Catalog

_NUMBERS = {"row_number", "rank", "dense_rank"}


@dataclass(frozen=True, slots=True)
class Bound:
    """The least and the greatest value, and both in words."""

    low: int
    high: int | None
    said: str


class NaturalBounds:
    """The bounds of what the conditions of one SELECT name; `tree` is None where they are not those of a SELECT."""

    def __init__(self, tree: exp.Expr | None, catalog: Catalog | None, *, aliases: bool = True) -> None:
        self._select = tree if isinstance(tree, exp.Select) else None
        self._catalog = catalog
        self._aliases = aliases

    def of(self, node: exp.Expr) -> Bound | None:
        """The bounds of a column, an aggregate, or what OVER makes; None where there are none, or none are known."""
        node = node.unnest()
        if isinstance(node, exp.Window):
            function = node.this
            name = function.name if isinstance(function, exp.Anonymous) else getattr(function, "sql_name", str)()
            return Bound(1, None, "1 or more") if name.lower() in _NUMBERS else None
        if isinstance(node, exp.Count | exp.CountIf | exp.ApproxDistinct):
            every = isinstance(node, exp.Count) and isinstance(node.this, exp.Star) and self._is_of_groups()
            return Bound(1, None, "1 or more of a group that is there") if every else Bound(0, None, "0 or more")
        if isinstance(node, exp.Column) and self._select is not None:
            return self._of_column(node)
        return None

    def _is_of_groups(self) -> bool:
        """Whether groups are asked for, each of which has a row; of all rows there may be none."""
        group = None if self._select is None else self._select.args.get("group")
        emit = None if self._select is None else self._select.args.get(EMIT)
        return group is not None and not (emit is not None and emit.args.get("empty"))

    def _of_column(self, column: exp.Column) -> Bound | None:
        assert self._select is not None
        name, sources = column.name.lower(), list(self._sources())
        if any(name in self._columns(source) for source in sources):
            return None
        if self._aliases and not column.table:
            for item in self._select.selects:
                if isinstance(item, exp.Alias) and item.alias.lower() == name:
                    return self.of(item.this) if not isinstance(item.this, exp.Column) else None
        for source in sources:
            if column.table and column.table.lower() != source.alias_or_name.lower():
                continue
            found = _of_window(name, source.args.get(STREAM_WINDOW)) or self._of_answers(name, source)
            if found is not None:
                return found
        return None

    def _of_answers(self, name: str, source: exp.Expr) -> Bound | None:
        """What a sub-query says of a column of its select list."""
        inner = source.this.unnest() if isinstance(source, exp.Subquery) else None
        if not isinstance(inner, exp.Select):
            return None
        within = NaturalBounds(inner, self._catalog)
        for item in inner.selects:
            if item.alias_or_name.lower() == name and not isinstance(item.unalias(), exp.Column):
                return within.of(item.unalias())
        return None

    def _sources(self) -> Iterable[exp.Expr]:
        assert self._select is not None
        clause = self._select.args.get("from_")
        if clause is not None:
            yield clause.this
        for join in self._select.args.get("joins") or []:
            yield join.this

    def _columns(self, source: exp.Expr) -> set[str]:
        """The columns of a stream or a table, whose names come before all others."""
        if self._catalog is None or not isinstance(source, exp.Table):
            return set()
        stream, table = self._catalog.streams.get(source.name), self._catalog.tables.get(source.name)
        names = stream.schema.names if stream is not None else table.names if table is not None else []
        return {name.lower() for name in names}


def _of_window(name: str, window: exp.Expr | None) -> Bound | None:
    """The bounds of the columns that lead the answers of a window."""
    if not isinstance(window, StreamWindow):
        return None
    if name == "level" and window.args.get("nested"):
        most = len(window.args["ranges"]) - 1
        return Bound(0, most, f"from 0, the finest level, to {most}")
    if name == "window_row" and window.args.get("rows"):
        return Bound(1, None, "1 or more")
    return None


def is_backwards(condition: exp.Expr) -> bool:
    """Whether a condition wants a window to end before it begins."""
    sides = [condition.args.get(side) for side in ("this", "expression")]
    names = [side.name.lower() if isinstance(side, exp.Column) else "" for side in sides]
    if isinstance(condition, exp.GT):
        names.reverse()
    return isinstance(condition, exp.LT | exp.GT) and names == ["window_end", "window_start"]
