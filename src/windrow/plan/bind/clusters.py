"""CLUSTER BY: what is clustered, by which algorithm, and what is asked of each cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from sqlglot import exp

from windrow.errors import ClusteringError
from windrow.language import error_at, expression_sql
from windrow.plan.bind.bound import BoundRows, Scope
from windrow.plan.bind.names import substituted
from windrow.plan.bind.typing import checked_type, type_name
from windrow.plan.nodes.aggregates import ROWS, Aggregate, Partial
from windrow.plan.nodes.clusters import HULL, ClusterPartial, cluster_answer

CALLS = ("CENTER", "RADIUS", "COUNT", "CONVEX_HULL")


@dataclass(frozen=True, slots=True)
class ClusterScope:
    """The clusters that a query names: their alias, and the aggregates that are kept of each so far."""

    clause: exp.Expr
    alias: str
    coordinates: tuple[str, ...]
    scope: Scope
    attached: dict[Partial, None] = field(default_factory=dict)

    def asked(self, node: exp.Expr) -> Aggregate | None:
        """What `node` asks of a cluster: its number, or CENTER(cid) and the like; None where it is about rows."""
        if self.is_alias(node):
            return cluster_answer("CID")
        name = _name(node)
        if name not in CALLS:
            return None
        arguments = list(_arguments(node))
        if len(arguments) != 1 or not self.is_alias(arguments[0]):
            if name == "COUNT":
                return None
            raise error_at(node, f"{name} takes the name of the clusters", self.scope.text, f"{name}({self.alias})")
        if name == "CONVEX_HULL":
            if len(self.coordinates) not in (2, 3):
                message = f"CONVEX_HULL needs two or three columns in CLUSTER BY, and there are {len(self.coordinates)}"
                raise error_at(node, message, self.scope.text)
            return self.drawn(HULL)
        return cluster_answer(name)

    def drawn(self, aggregate: Aggregate) -> Aggregate:
        """An aggregate over the rows of each cluster."""
        if aggregate == ROWS:
            return cluster_answer("COUNT")
        self.attached.setdefault(aggregate.partial)
        return aggregate

    def partial(self) -> ClusterPartial:
        """What a pane keeps, all that is asked of the clusters being known."""
        using = self.clause.args["using"]
        parameters, named = _parameters(using, self.scope)
        known = self.scope.catalog.clusterings
        assert known is not None, "a catalog for CLUSTER BY needs clusterings"
        try:
            described = known.described(using.name, parameters, named, len(self.coordinates), bool(self.attached))
        except ClusteringError as error:
            raise error_at(using, str(error), self.scope.text) from None
        return ClusterPartial(
            "clustering",
            user=described.user,
            algorithm=described.name,
            parameters=described.parameters,
            coordinates=self.coordinates,
            attached=tuple(self.attached),
            differential=described.differential,
            movable=described.movable,
            sharing=described.sharing,
        )

    def is_alias(self, node: exp.Expr) -> bool:
        """Whether `node` is the name of the clusters; `CONVEX_HULL(*)` and the like mean them too."""
        if isinstance(node, exp.Star):
            return isinstance(node.parent, exp.Anonymous)
        return isinstance(node, exp.Column) and not node.table and node.name.lower() == self.alias


def bind_clusters(tree: exp.Select, source: BoundRows, scope: Scope) -> ClusterScope | None:
    """The clusters that CLUSTER BY names, if there is one."""
    clause = tree.args.get("cluster")
    if clause is None:
        return None
    alias = checked_alias(clause, source.columns, scope)
    coordinates = tuple(_coordinate(node, source, scope) for node in clause.expressions)
    refuse_twice(clause, coordinates, scope)
    return ClusterScope(clause, alias, coordinates, scope)


def checked_alias(clause: exp.Expr, columns: Iterable[str], scope: Scope) -> str:
    """The name of the clusters, which no column may have."""
    alias = clause.args["alias"]
    if alias.name.lower() in {name.lower() for name in columns}:
        message = f"there is a column {alias.name!r} already"
        raise error_at(alias, message, scope.text, "give the clusters another name behind AS")
    return str(alias.name.lower())


def refuse_twice(clause: exp.Expr, coordinates: Sequence[str], scope: Scope) -> None:
    """Raise where two of the coordinates are the same."""
    for number, text in enumerate(coordinates):
        if text in coordinates[:number]:
            message = f"{expression_sql(clause.expressions[number])} stands twice in CLUSTER BY"
            raise error_at(clause.expressions[number], message, scope.text, "to let it count for more, multiply it")


def check_number(node: exp.Expr, type: pa.DataType, scope: Scope) -> None:
    """Raise for a coordinate that is no number."""
    if not (pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_decimal(type)):
        text = expression_sql(node)
        message = f"a clustering needs numbers, and {text} is {type_name(type)}"
        raise error_at(node, message, scope.text, f"CAST({text} AS DOUBLE)")


def refuse_cluster_calls(tree: exp.Select, columns: Iterable[str], scope: Scope) -> None:
    """CENTER(cid) and the like, of what is no column, make no sense without CLUSTER BY."""
    if tree.args.get("cluster") is not None:
        return
    known = {name.lower() for name in columns}
    for node in (call for part in tree.selects for call in part.find_all(exp.Anonymous)):
        named = node.expressions[0].name.lower() if len(node.expressions) == 1 else None
        if node.name.upper() in CALLS and named is not None and named not in known:
            way_out = "CLUSTER BY x, y AS cid USING C_BIRCH(50)"
            raise error_at(node, f"{node.name.upper()} needs CLUSTER BY", scope.text, way_out)


def _coordinate(node: exp.Expr, source: BoundRows, scope: Scope) -> str:
    meant = substituted(node, source.columns, scope.text)
    type = checked_type(meant, source.stream.schema, scope)
    check_number(node, type, scope)
    return expression_sql(meant)


def _name(node: exp.Expr) -> str | None:
    if isinstance(node, exp.Anonymous):
        return node.name.upper()
    return "COUNT" if isinstance(node, exp.Count) else None


def _arguments(node: exp.Expr) -> Iterable[exp.Expr]:
    if isinstance(node, exp.Count):
        yield node.this
    yield from node.expressions


def _parameters(using: exp.Expr, scope: Scope) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The parameters of an algorithm: those without names, which come first, and the others."""
    plain: list[Any] = []
    named: dict[str, Any] = {}
    for node in using.expressions:
        if isinstance(node, exp.Kwarg):
            if node.name.lower() in named:
                raise error_at(node, f"{node.name} is given twice", scope.text)
            named[node.name.lower()] = _parameter(node.expression, scope)
        elif named:
            raise error_at(node, "parameters without names come before those with", scope.text)
        else:
            plain.append(_parameter(node, scope))
    return tuple(plain), named


def _parameter(node: exp.Expr, scope: Scope) -> Any:
    """A parameter of an algorithm, which is a constant."""
    if isinstance(node, exp.Neg):
        inner = _parameter(node.this, scope)
        if isinstance(inner, int | float):
            return -inner
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Literal):
        return node.this if node.is_string else node.to_py()
    raise error_at(node, "the parameters of a clustering are constants", scope.text)
