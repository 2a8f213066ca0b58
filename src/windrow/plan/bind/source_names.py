"""Which source of a SELECT a name means: columns, edges of windows, and what * stands for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType

from sqlglot import exp

from windrow.language import error_at
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.change_sources import Base, Derived, Source, apart
from windrow.plan.bind.edges import EDGES, END, longest
from windrow.plan.bind.names import unknown_name

OWN = "__q"
"""What the names of sub-queries begin with that stand outside FROM."""


class SourceNames:
    """The sources of one SELECT, by alias, and what may be named of them.

    A stream that is joined by LEFT JOIN has rows of NULLs above the join: it is one of the `outer`. What is joined by
    SEMI or ANTI is `hidden`: only its own ON sees it.
    """

    def __init__(
        self,
        named: Sequence[tuple[str, Source]],
        outer: set[int],
        scope: Scope,
        coalesced: Mapping[str, exp.Expr] = MappingProxyType({}),
    ) -> None:
        self.named, self.outer, self.scope = list(named), outer, scope
        self.windows = longest(source.windows for _, source in self.named)
        self.hidden: set[int] = set()
        self.coalesced = coalesced
        """What USING makes of a column of which either side may be missing."""
        self._merged: dict[str, set[int]] = {}
        if len(self.named) > 1:
            for number, (alias, source) in enumerate(self.named):
                if isinstance(source, Derived):
                    self.named[number] = alias, apart(source, number)

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
        return {self.found(column)[0] for column in node.find_all(exp.Column)}

    def merge(self, name: str, number: int) -> None:
        """Let the column `name` of source `number` be the one before it, as USING has it."""
        self._merged.setdefault(name.lower(), set()).add(number)

    def edge_of(self, node: exp.Expr) -> tuple[int, str] | None:
        """The source, and the edge of its windows, that `node` names, if it does."""
        if not isinstance(node, exp.Column):
            return None
        number, name = self.found(node)
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

    def expanded(self, star: exp.Expr) -> dict[str, exp.Expr]:
        """What * stands for, or a.* where `star` is a column of that name."""
        written = star.table if isinstance(star, exp.Column) else ""
        qualifier = written.lower()
        if qualifier and qualifier not in {alias.lower() for alias, _ in self.named}:
            raise unknown_name("stream", written, self._aliases(), star, self.scope.text)
        found: dict[str, exp.Expr] = {}
        for number, (alias, source) in enumerate(self.named):
            if qualifier not in ("", alias.lower()) or self._is_apart(number):
                continue
            for name in source.columns:
                if not qualifier and number in self._merged.get(name.lower(), ()):
                    continue
                if name in _unstarred(source):
                    continue
                if name in found:
                    way_out = "name the columns, and give one of them another name with AS"
                    raise error_at(star, f"two columns are named {name!r}", self.scope.text, way_out)
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

    def found(self, column: exp.Column) -> tuple[int, str]:
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
            raise unknown_name("stream", column.table, self._aliases(), column.args["table"], self.scope.text)
        if not found:
            raise unknown_name("column", column.name, self.visible(), column, self.scope.text)
        if len({i for i, _ in found}) > 1:
            same = [(i, name) for i, name in found if i not in self.outer and name in _unstarred(self.named[i][1])]
            if len(same) == len(found):
                return same[0]  # which window a row is of: that of all others in it
            aliases = " and ".join(self.named[i][0] for i, _ in found)
            way_out = f"{self.named[found[0][0]][0]}.{column.name}"
            raise error_at(column, f"both {aliases} have a column {column.name!r}", self.scope.text, way_out)
        return found[0]


def _unstarred(source: Source) -> tuple[str, ...]:
    """The columns that `*` does not stand for."""
    return source.stream.unstarred if isinstance(source, Base) else ()
