"""Expressions over the sources of a SELECT, as expressions over columns of a plan."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pyarrow as pa
from sqlglot import exp

from windrow.language import expression_sql
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.calls import calls_in, is_call
from windrow.plan.bind.change_sources import Base, Derived, Source, Static, plan_column
from windrow.plan.bind.names import both, has_variables, placed_as, substituted, with_parts
from windrow.plan.bind.source_names import SourceNames
from windrow.plan.bind.typing import checked_type
from windrow.plan.nodes.changes import Column, WindowEdge


class Sources(SourceNames):
    """The sources of one SELECT, of which only what is asked for is read.

    A piece that reads one stream only is computed where the stream is read, by the engine; columns are named by what
    they hold, so that equal plans of different queries are equal. Pieces that read an `outer` source are computed above
    the join. `edges` are the edges of windows that are read of each source, and `edges_above` those that are read of
    its groups.
    """

    def __init__(
        self,
        named: Sequence[tuple[str, Source]],
        outer: set[int],
        scope: Scope,
        coalesced: Mapping[str, exp.Expr] = MappingProxyType({}),
    ) -> None:
        super().__init__(named, outer, scope, coalesced)
        self.edges: dict[int, set[WindowEdge]] = {}
        self.edges_above: set[WindowEdge] = set()
        self._keys: set[tuple[int, str]] = set()

    def lowered(self, node: exp.Expr, below: int | None = None, *, of_groups: bool = False) -> exp.Expr:
        """`node` over the columns of plans; what reads source `below` only is computed where it is read.

        With `of_groups`, edges of windows outside of aggregates are those that groups have, whatever they are by.
        """
        outer = {number for number in self.outer if number != below}
        return self._lowered(node.copy(), outer, self._keys, of_groups)

    def group_by(self, keys: Sequence[exp.Expr]) -> None:
        """From now on what is computed of keys is computed of groups: only they themselves are read of a stream."""
        for key in keys:
            numbers = self.of(key)
            if len(numbers) == 1 and not self.reads_edges(key):
                self._keys.add((number := next(iter(numbers)), self._text(number, key)))

    def type_of(self, column: str) -> pa.DataType | None:
        """The type of a column of a plan; None if it is that of a table."""
        for _, source in self.named:
            known = source.plan.columns if isinstance(source, Derived) else source.reads.values()
            for read in known if not isinstance(source, Static) else ():
                if read.name == column:
                    return read.type
        return None

    def read_something(self) -> None:
        """Read a column of the first source though none is asked for: rows without columns are no rows."""
        first = self.named[0][1]
        if isinstance(first, Base) and not first.reads:
            self._read(0, first, exp.true())

    def _lowered(self, node: exp.Expr, outer: set[int], keys: set[tuple[int, str]], of_groups: bool) -> exp.Expr:
        columns = list(node.find_all(exp.Column))
        if not columns:
            return node
        numbers = {self.found(column)[0] for column in columns}
        edges = self.reads_edges(node)
        alone = len(numbers) == 1 and _is_value(node) and not has_variables(node) and not _has_over(node)
        if alone and not edges and not calls_in(node, self.scope):
            (number,) = numbers
            source = self.named[number][1]
            whole = number not in outer and not self._is_of_keys(number, node, keys)
            if isinstance(source, Base) and (whole or isinstance(node, exp.Column)):
                return placed_as(plan_column(self._read(number, source, node)), node)
        if isinstance(node, exp.Column):
            return placed_as(plan_column(self._edge(node, of_groups) if edges else self._column(node)), node)
        if is_call(node, self.scope):
            keys, of_groups = set(), False
        return with_parts(node, lambda part: self._lowered(part, outer, keys, of_groups))

    def _edge(self, column: exp.Column, of_groups: bool) -> str:
        number, name = self.found(column)
        of_groups = of_groups and number not in self.outer
        windows = self.named[number][1].windows
        assert windows is not None
        edge = windows.edge(name, f"{'g' if of_groups else 'w'}{number}_{name}")
        (self.edges_above if of_groups else self.edges.setdefault(number, set())).add(edge)
        return edge.name

    def _is_of_keys(self, number: int, node: exp.Expr, keys: set[tuple[int, str]]) -> bool:
        """Whether `node`, over source `number`, is no key, but something in it is."""
        if not keys or not isinstance(self.named[number][1], Base) or (number, self._text(number, node)) in keys:
            return False
        inner = (part for part in node.walk() if part is not node and _is_value(part) and self.of(part) == {number})
        return any((number, self._text(number, part)) in keys for part in inner)

    def _text(self, number: int, node: exp.Expr) -> str:
        source = self.named[number][1]
        return expression_sql(self._meant(source, node) if isinstance(source, Base) else node)

    def restrict(self, number: int, condition: exp.Expr) -> None:
        """Let only those events of a stream through for which `condition` is true."""
        source = self.named[number][1]
        assert isinstance(source, Base)
        source.where = both(source.where, self._meant(source, condition))

    def _read(self, number: int, source: Base, node: exp.Expr) -> str:
        """The column of the scan that holds `node`."""
        meant = self._meant(source, node)
        text = expression_sql(meant)
        if text not in source.reads:
            type = checked_type(meant, source.stream.schema, self.scope)
            source.reads[text] = Column(f"c{number}_{hashlib.sha256(text.encode()).hexdigest()[:8]}", type)
        return source.reads[text].name

    def _meant(self, source: Base, node: exp.Expr) -> exp.Expr:
        return substituted(_unqualified(node, [alias for alias, _ in self.named]), source.columns, self.scope.text)

    def _column(self, column: exp.Column) -> str:
        number, name = self.found(column)
        source = self.named[number][1]
        if isinstance(source, Static):
            held = source.columns[name]
            source.reads.setdefault(held, Column(f"t{number}_{held}", source.schema.field(held).type))
            return source.reads[held].name
        assert isinstance(source, Derived)
        return source.columns[name]


def _is_value(node: exp.Expr) -> bool:
    """Whether `node` has a value of its own, and is no part of a call, of CASE or of STRUCT."""
    in_case = isinstance(node, exp.If) and isinstance(node.parent, exp.Case)
    return isinstance(node, exp.Condition) and not isinstance(node, exp.PropertyEQ) and not in_case


def _has_over(node: exp.Expr) -> bool:
    """Whether something in `node` is of many rows, so that it cannot be computed where a stream is read."""
    return any(type(part).__name__ in ("OverResult", "ClusterResult") for part in node.walk())


def _unqualified(node: exp.Expr, aliases: Sequence[str]) -> exp.Expr:
    """The same expression without the names of sources."""
    known = {alias.lower() for alias in aliases}

    def bare(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column) and part.table.lower() in known:
            return placed_as(exp.Column(this=part.this.copy()), part)
        return part

    return node.copy().transform(bare)
