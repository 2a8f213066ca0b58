"""The columns of USING in a RIGHT or FULL JOIN: the value of the side that has a row."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from windrow.language import error_at
from windrow.plan.bind.names import placed_as


def coalesced_columns(
    joins: Sequence[exp.Join], aliases: Sequence[str], columns: Sequence[Sequence[str]]
) -> dict[str, exp.Expr]:
    """What each column of USING is, by its name in lower case, where one side of the join may have no row."""
    found: dict[str, exp.Expr] = {}
    for number, join in enumerate(joins, start=1):
        for named in join.args.get("using") or []:
            name = named.name.lower()
            before = [alias for alias, known in zip(aliases[:number], columns) if name in {c.lower() for c in known}]
            if before and (join.side in ("RIGHT", "FULL") or name in found):
                left = found.get(name) or exp.column(named.name, table=before[0])
                right = exp.column(named.name, table=aliases[number])
                found[name] = exp.Coalesce(this=left.copy(), expressions=[right])
    return found


def named_naturally(tree: exp.Select, columns: Sequence[Sequence[str]], text: str) -> exp.Select:
    """The query with the columns of NATURAL JOIN, which are those that both sides have, in a USING."""
    if not any(join.method.upper() == "NATURAL" for join in tree.args.get("joins") or []):
        return tree
    tree = tree.copy()
    for number, join in enumerate(tree.args["joins"], start=1):
        if join.method.upper() != "NATURAL":
            continue
        before = {name.lower() for names in columns[:number] for name in names}
        shared = [name for name in columns[number] if name.lower() in before]
        if not shared:
            hint = "JOIN ... ON, or CROSS JOIN"
            raise error_at(join, "NATURAL JOIN of two sides that have no column in common", text, hint)
        join.set("method", None)
        join.set("using", [placed_as(exp.to_identifier(name, quoted=True), join) for name in shared])
    return tree


def with_coalesced(tree: exp.Select, found: dict[str, exp.Expr]) -> exp.Select:
    """The query with these in place of the names that stand for them, outside of FROM."""
    if not found:
        return tree
    tree = tree.copy()

    def meant(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and not node.table and node.name.lower() in found:
            return placed_as(found[node.name.lower()].copy(), node)
        return node

    outputs = []
    for node in tree.selects:
        made = node.transform(meant)
        bare = isinstance(node, exp.Column) and made != node
        outputs.append(placed_as(exp.alias_(made, node.name, quoted=True), node) if bare else made)
    tree.set("expressions", outputs)
    for clause in ("where", "group", "having", "order"):
        part = tree.args.get(clause)
        if part is not None:
            tree.set(clause, part.transform(meant))
    return tree
