"""Names of columns where FROM has several: a stream and the tables that it is joined with."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from sqlglot import exp

from windrow.language import error_at
from windrow.plan.bind.edges import EDGES
from windrow.plan.bind.names import is_star, output_name, placed_as, unknown_name

CLAUSES = ("where", "group", "having", "order", "cluster")


class Qualified:
    """The columns of several sources, by alias, each under a name that no other has.

    A column that one source alone has keeps its name, and any other is called `alias.name`. So expressions over
    several sources become expressions over one.
    """

    def __init__(self, named: Sequence[tuple[str, Mapping[str, exp.Expr]]], text: str) -> None:
        self._named, self._text = named, text
        self._merged: set[tuple[int, str]] = set()

    def merge(self, name: str, number: int) -> None:
        """Let the column `name` of source `number` be the one before it, as USING has it."""
        self._merged.add((number, name.lower()))

    @property
    def aliases(self) -> list[str]:
        return [alias for alias, _ in self._named]

    @property
    def columns(self) -> dict[str, exp.Expr]:
        """What each name stands for."""
        return {self._key(i, name): meant for i, (_, own) in enumerate(self._named) for name, meant in own.items()}

    def of(self, node: exp.Expr) -> set[int]:
        """The numbers of the sources that `node` reads, all of whose columns there must be."""
        found = set()
        for column in node.find_all(exp.Column):
            place = self._found(column)
            if place is None:
                known = [name for _, own in self._named for name in own]
                raise unknown_name("column", column.name, known, column, self._text)
            found.add(place[0])
        return found

    def before(self, name: str, number: int) -> int | None:
        """The first source before `number` that has a column `name`."""
        return next((i for i in range(number) if self.has(i, name)), None)

    def has(self, number: int, name: str) -> bool:
        """Whether source `number` has a column `name`."""
        return name.lower() in map(str.lower, self._named[number][1])

    def names_in(self, *numbers: int) -> list[str]:
        """The columns of some sources."""
        return [name for number in numbers for name in self._named[number][1]]

    def resolved(self, node: exp.Expr, aliases: Container[str] = ()) -> exp.Expr:
        """`node` over the names of all columns; one of `aliases` may stand for what the select list has."""

        def replaced(part: exp.Expr) -> exp.Expr:
            if not isinstance(part, exp.Column) or is_star(part):
                return part
            found = self._found(part, aliases)
            if found is None:
                return part
            number, name, fields = found
            if not name:  # an edge of the window
                return placed_as(exp.Column(this=part.this.copy()), part)
            meant: exp.Expr = exp.column(exp.to_identifier(self._key(number, name), quoted=True))
            for field in fields:
                meant = exp.Dot(this=meant, expression=exp.to_identifier(field))
            return placed_as(meant, part)

        return node.copy().transform(replaced)

    def over_one(self, tree: exp.Select) -> exp.Select:
        """The SELECT as one over a single source with all the columns."""
        selects: list[exp.Expr] = []
        for node in tree.selects:
            selects += self._expanded(node) if is_star(node) else [self._output(node)]
        given = {node.alias.lower() for node in tree.selects if isinstance(node, exp.Alias)}
        shown = {output_name(node).lower() for node in tree.selects if not is_star(node)}
        aliases = {"group": given, "cluster": given, "having": shown, "order": shown}
        turned = tree.copy()
        turned.set("joins", None)
        turned.set("expressions", selects)
        for clause in CLAUSES:
            part = tree.args.get(clause)
            if part is not None:
                turned.set(clause, self.resolved(part, aliases.get(clause, ())))
        return turned

    def _output(self, node: exp.Expr) -> exp.Expr:
        resolved = self.resolved(node)
        if isinstance(node, exp.Alias) or (isinstance(node, exp.Column) and resolved == node):
            return resolved
        if isinstance(resolved, exp.Column) and not resolved.this.args.get("quoted"):
            return resolved  # an edge of the window, which leads every result
        return placed_as(exp.alias_(resolved, output_name(node), quoted=True, copy=False), node)

    def _expanded(self, star: exp.Expr) -> list[exp.Expr]:
        """What * stands for, or a.* where `star` is a column of that name."""
        written = star.table if isinstance(star, exp.Column) else ""
        if written and written.lower() not in self._aliases():
            raise unknown_name("stream", written, self.aliases, star, self._text)
        found: dict[str, exp.Expr] = {}
        for number, (alias, own) in enumerate(self._named):
            if written.lower() not in ("", alias.lower()):
                continue
            for name in own:
                if not written and (number, name.lower()) in self._merged:
                    continue
                if name in found:
                    way_out = "name the columns, and give one of them another name with AS"
                    raise error_at(star, f"two columns are named {name!r}", self._text, way_out)
                key = exp.column(exp.to_identifier(self._key(number, name), quoted=True))
                found[name] = placed_as(exp.alias_(placed_as(key, star), name, quoted=True), star)
        return list(found.values())

    def _found(self, column: exp.Column, aliases: Container[str] = ()) -> tuple[int, str, list[str]] | None:
        """Which source a column is of, its name there, and what fields of it are meant; None if none has it.

        An edge of the window has no name.
        """
        parts = [piece.name for piece in column.parts]
        known = self._aliases()
        if len(parts) > 1 and parts[0].lower() in known:
            number = known.index(parts[0].lower())
            own = {name.lower(): name for name in self._named[number][1]}
            if parts[1].lower() in own:
                return number, own[parts[1].lower()], parts[2:]
            if parts[1].lower() in EDGES and number == 0:
                return 0, "", []
            raise unknown_name("column", parts[1], own.values(), column, self._text)
        found = [
            (number, name)
            for number, (_, own) in enumerate(self._named)
            for name in own
            if name.lower() == parts[0].lower() and (number, name.lower()) not in self._merged
        ]
        if not found and len(parts) > 1:
            raise unknown_name("stream", parts[0], self.aliases, column.args["table"], self._text)
        if not found or (len(found) > 1 and len(parts) == 1 and parts[0].lower() in aliases):
            return None
        if len(found) > 1:
            names = " and ".join(self._named[number][0] for number, _ in found)
            way_out = f"{self._named[found[0][0]][0]}.{parts[0]}"
            raise error_at(column, f"both {names} have a column {parts[0]!r}", self._text, way_out)
        return *found[0], parts[1:]

    def _key(self, number: int, name: str) -> str:
        sharing = [
            i
            for i, (_, own) in enumerate(self._named)
            if name.lower() in map(str.lower, own) and (i, name.lower()) not in self._merged
        ]
        return name if sharing == [number] else f"{self._named[number][0]}.{name}"

    def _aliases(self) -> list[str]:
        return [alias.lower() for alias, _ in self._named]
