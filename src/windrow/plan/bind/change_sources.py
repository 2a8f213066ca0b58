"""What FROM names in a query over changes, and its columns: streams through windows, tables, sub-queries."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType

import pyarrow as pa
from sqlglot import exp

from windrow.language import error_at, expression_sql
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.calls import calls_in, is_call
from windrow.plan.bind.edges import EDGES, END, Windows, longest
from windrow.plan.bind.names import both, has_variables, placed_as, substituted, unknown_name, with_parts
from windrow.plan.bind.typing import checked_condition, checked_type
from windrow.plan.catalog import Stream
from windrow.plan.nodes.changes import Column, Computed, Node, Project, Scan, WindowEdge

OWN = "__q"
"""What the names of sub-queries begin with that stand outside FROM."""


@dataclass(slots=True)
class Base:
    """A stream, perhaps filtered and with computed columns, of which only what is asked for is read."""

    stream: Stream
    columns: Mapping[str, exp.Expr]
    where: exp.Expr | None
    range_us: int | None
    windows: Windows | None = None
    reads: dict[str, Column] = field(default_factory=dict)

    def node(self, scope: Scope) -> Node:
        reads = dict(sorted(self.reads.items()))
        where = None if self.where is None else checked_condition(self.where, self.stream.schema, scope)
        return Scan(self.stream.name, tuple(reads.values()), self.range_us, tuple(reads), where)


@dataclass(slots=True)
class Derived:
    """The answers of a sub-query: its plan, and the column of it that each name stands for.

    `led` are the edges of its windows that its select list names, by place: they lead every result, and are columns of
    the answers without being columns of the plan.
    """

    plan: Node
    columns: Mapping[str, str]
    windows: Windows | None = None
    led: Mapping[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Static:
    """A table, which does not change."""

    name: str
    schema: pa.Schema
    columns: Mapping[str, str]
    windows: None = None
    reads: dict[str, Column] = field(default_factory=dict)


Source = Base | Derived | Static


class Sources:
    """The sources of one SELECT, by alias. Expressions over them become expressions over columns of a plan.

    A piece that reads one stream only is computed where the stream is read, by the engine; columns are named by what
    they hold, so that equal plans of different queries are equal. A stream that is joined by LEFT JOIN has rows of
    NULLs above the join: pieces that read such a one, the `outer`, are computed there. `edges` are the edges of windows
    that are read of each source, and `edges_above` those that are read of its groups. What is joined by SEMI or ANTI is
    `hidden`: only its own ON sees it.
    """

    def __init__(
        self,
        named: Sequence[tuple[str, Source]],
        outer: set[int],
        scope: Scope,
        coalesced: Mapping[str, exp.Expr] = MappingProxyType({}),
    ) -> None:
        self.named, self.outer, self._scope = list(named), outer, scope
        self.windows = longest(source.windows for _, source in self.named)
        self.edges: dict[int, set[WindowEdge]] = {}
        self.edges_above: set[WindowEdge] = set()
        self.hidden: set[int] = set()
        self.coalesced = coalesced
        """What USING makes of a column of which either side may be missing."""
        self._merged: dict[str, set[int]] = {}
        self._keys: set[tuple[int, str]] = set()
        if len(self.named) > 1:
            for number, (alias, source) in enumerate(self.named):
                if isinstance(source, Derived):
                    self.named[number] = alias, _apart(source, number)

    def visible(self) -> list[str]:
        return [name for i, (_, source) in enumerate(self.named) if not self._is_apart(i) for name in source.columns]

    def _is_apart(self, number: int) -> bool:
        """Whether names that do not say so cannot mean a source: it is hidden, or a sub-query outside FROM."""
        return number in self.hidden or self.named[number][0].startswith(OWN)

    @contextmanager
    def seen(self, number: int) -> Iterator[None]:
        """Within it, source `number` is not hidden."""
        hidden = self.hidden
        self.hidden = hidden - {number}
        yield
        self.hidden = hidden

    def of(self, node: exp.Expr) -> set[int]:
        """The numbers of the sources that `node` reads."""
        return {self._found(column)[0] for column in node.find_all(exp.Column)}

    def merge(self, name: str, number: int) -> None:
        """Let the column `name` of source `number` be the one before it, as USING has it."""
        self._merged.setdefault(name.lower(), set()).add(number)

    def edge_of(self, node: exp.Expr) -> tuple[int, str] | None:
        """The source, and the edge of its windows, that `node` names, if it does."""
        if not isinstance(node, exp.Column):
            return None
        number, name = self._found(node)
        return None if name in self.named[number][1].columns else (number, name)

    def is_led(self, node: exp.Expr) -> bool:
        """Whether `node` names an edge of the windows of all sources together, which leads every result."""
        found = self.edge_of(node)
        if found is None or found[0] in self.outer:
            return False
        return found[1] == END or self.named[found[0]][1].windows == self.windows

    def reads_edges(self, node: exp.Expr) -> bool:
        return any(self.edge_of(column) is not None for column in node.find_all(exp.Column))

    def are_same(self, one: exp.Expr, other: exp.Expr) -> bool:
        """Whether both name edges of windows that are always the same instant."""
        mine, theirs = self.edge_of(one), self.edge_of(other)
        if mine is None or theirs is None or mine[1] != theirs[1]:
            return False
        left, right = (self.named[number][1].windows for number, _ in (mine, theirs))
        return left is not None and right is not None and left.same(mine[1], right)

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
        numbers = {self._found(column)[0] for column in columns}
        edges = self.reads_edges(node)
        alone = len(numbers) == 1 and _is_value(node) and not has_variables(node) and not _has_over(node)
        if alone and not edges and not calls_in(node, self._scope):
            (number,) = numbers
            source = self.named[number][1]
            whole = number not in outer and not self._is_of_keys(number, node, keys)
            if isinstance(source, Base) and (whole or isinstance(node, exp.Column)):
                return placed_as(plan_column(self._read(number, source, node)), node)
        if isinstance(node, exp.Column):
            return placed_as(plan_column(self._edge(node, of_groups) if edges else self._column(node)), node)
        if is_call(node, self._scope):
            keys, of_groups = set(), False
        return with_parts(node, lambda part: self._lowered(part, outer, keys, of_groups))

    def _edge(self, column: exp.Column, of_groups: bool) -> str:
        number, name = self._found(column)
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

    def expanded(self, star: exp.Expr) -> dict[str, exp.Expr]:
        """What * stands for, or a.* where `star` is a column of that name."""
        written = star.table if isinstance(star, exp.Column) else ""
        qualifier = written.lower()
        if qualifier and qualifier not in {alias.lower() for alias, _ in self.named}:
            raise unknown_name("stream", written, self._aliases(), star, self._scope.text)
        found: dict[str, exp.Expr] = {}
        for number, (alias, source) in enumerate(self.named):
            if qualifier not in ("", alias.lower()) or self._is_apart(number):
                continue
            for name in source.columns:
                if not qualifier and number in self._merged.get(name.lower(), ()):
                    continue
                if name in found:
                    way_out = "name the columns, and give one of them another name with AS"
                    raise error_at(star, f"two columns are named {name!r}", self._scope.text, way_out)
                found[name] = exp.column(exp.to_identifier(name, quoted=True), table=alias)
        for name, merged in self.coalesced.items():
            own = next((held for held in found if held.lower() == name and not qualifier), None)
            if own is not None:
                found[own] = merged.copy()
        return found

    def _edges_named(self, column: exp.Column, wanted: Sequence[int]) -> list[tuple[int, str]]:
        """The sources whose windows have an edge of that name; of several that are the same instant, the first."""
        name = column.name.lower()
        known = [(i, windows) for i in wanted if (windows := self.named[i][1].windows) is not None]
        if name not in EDGES or not known:
            return []
        first, windows = known[0]
        if all(name == END or other == windows for _, other in known):
            return [(first, name)]
        return [(i, name) for i, _ in known]

    def _aliases(self) -> list[str]:
        return [alias for i, (alias, _) in enumerate(self.named) if alias and not self._is_apart(i)]

    def _read(self, number: int, source: Base, node: exp.Expr) -> str:
        """The column of the scan that holds `node`."""
        meant = self._meant(source, node)
        text = expression_sql(meant)
        if text not in source.reads:
            type = checked_type(meant, source.stream.schema, self._scope)
            source.reads[text] = Column(f"c{number}_{hashlib.sha256(text.encode()).hexdigest()[:8]}", type)
        return source.reads[text].name

    def _meant(self, source: Base, node: exp.Expr) -> exp.Expr:
        return substituted(_unqualified(node, [alias for alias, _ in self.named]), source.columns, self._scope.text)

    def _column(self, column: exp.Column) -> str:
        number, name = self._found(column)
        source = self.named[number][1]
        if isinstance(source, Static):
            held = source.columns[name]
            source.reads.setdefault(held, Column(f"t{number}_{held}", source.schema.field(held).type))
            return source.reads[held].name
        assert isinstance(source, Derived)
        return source.columns[name]

    def _found(self, column: exp.Column) -> tuple[int, str]:
        """Which source a column is of, and its name there."""
        qualifier = column.table.lower()
        known = {alias.lower() for i, (alias, _) in enumerate(self.named) if i not in self.hidden}
        if qualifier and qualifier in known:
            wanted = [i for i, (alias, _) in enumerate(self.named) if alias.lower() == qualifier]
        else:
            wanted = [i for i in range(len(self.named)) if not self._is_apart(i)]
        first = qualifier if qualifier and qualifier not in known else column.name.lower()  # a.b may be a field
        merged = self._merged.get(first, set()) if qualifier not in known else set()
        found = [(i, name) for i in wanted for name in self.named[i][1].columns if name.lower() == first]
        found = [(i, name) for i, name in found if i not in merged]
        found = found or self._edges_named(column, [] if qualifier and qualifier not in known else wanted)
        if not found and qualifier and qualifier not in known:
            raise unknown_name("stream", column.table, self._aliases(), column.args["table"], self._scope.text)
        if not found:
            raise unknown_name("column", column.name, self.visible(), column, self._scope.text)
        if len({i for i, _ in found}) > 1:
            aliases = " and ".join(self.named[i][0] for i, _ in found)
            way_out = f"{self.named[found[0][0]][0]}.{column.name}"
            raise error_at(column, f"both {aliases} have a column {column.name!r}", self._scope.text, way_out)
        return found[0]


def _is_value(node: exp.Expr) -> bool:
    """Whether `node` has a value of its own, and is no part of a call, of CASE or of STRUCT."""
    in_case = isinstance(node, exp.If) and isinstance(node.parent, exp.Case)
    return isinstance(node, exp.Condition) and not isinstance(node, exp.PropertyEQ) and not in_case


def _has_over(node: exp.Expr) -> bool:
    """Whether something in `node` is of many rows, so that it cannot be computed where a stream is read."""
    return any(type(part).__name__ == "OverResult" for part in node.walk())


def plan_column(name: str) -> exp.Column:
    """A column of a plan, which may have any name."""
    return exp.column(exp.to_identifier(name, quoted=True))


def _unqualified(node: exp.Expr, aliases: Sequence[str]) -> exp.Expr:
    """The same expression without the names of sources."""
    known = {alias.lower() for alias in aliases}

    def bare(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column) and part.table.lower() in known:
            return placed_as(exp.Column(this=part.this.copy()), part)
        return part

    return node.copy().transform(bare)


def _apart(source: Derived, number: int) -> Derived:
    """The same answers under names that no other source has."""
    names = {column.name: f"d{number}_{column.name}" for column in source.plan.columns}
    outputs = tuple(
        Computed(names[column.name], expression_sql(plan_column(column.name)), column.type)
        for column in source.plan.columns
    )
    columns = {name: names[held] for name, held in source.columns.items()}
    return Derived(Project(source.plan, outputs), columns, source.windows)
