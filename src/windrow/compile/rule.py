"""What a rule is: it gives a query as it runs beside others, and leaves alone what it is not for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from windrow.language import Query
from windrow.plan.catalog import Catalog
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.changes import Node
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.nodes.wanted import NOTHING, Wanted


@dataclass(frozen=True, slots=True)
class Arriving:
    """What a query comes to: the queries `beside` it, what was asked for it alone, and what was asked of all."""

    beside: Collection[AnyQuery] = ()
    choose: Wanted = NOTHING
    wanted: Wanted = NOTHING

    @property
    def folded(self) -> list[QueryPlan]:
        """Those beside it that are answered from panes or rows."""
        return [query for query in self.beside if isinstance(query, QueryPlan)]


Rule = Callable[[AnyQuery, Arriving], AnyQuery]

WrittenRule = Callable[[Query, Catalog], Query]
"""Gives the same query in other words."""


def over_changes(rewrite: Callable[[Node], Node]) -> Rule:
    """The rule that rewrites the operators of a query over changes."""

    def rule(query: AnyQuery, arriving: Arriving) -> AnyQuery:
        return replace(query, root=rewrite(query.root)) if isinstance(query, ChangePlan) else query

    return rule


def over_folds(change: Callable[[QueryPlan, Iterable[QueryPlan]], QueryPlan]) -> Rule:
    """The rule that changes a query which is answered from panes or rows, by others of its kind.

    These are looked through only where the rule asks for them: thousands of queries arrive one after the other.
    """

    def rule(query: AnyQuery, arriving: Arriving) -> AnyQuery:
        if not isinstance(query, QueryPlan):
            return query
        return change(query, (other for other in arriving.beside if isinstance(other, QueryPlan)))

    return rule
