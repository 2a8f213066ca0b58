"""The one door to binding: names resolved, types known, and what cannot run refused.

Whether panes or operators over changes answer a query is decided here, and nobody above asks.
"""

from __future__ import annotations

from windrow.language import Query
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.changes import bind_changes
from windrow.plan.bind.contradictions import refuse_contradictions
from windrow.plan.bind.corrected import refuse_over_changes
from windrow.plan.bind.over_changes import is_over_changes
from windrow.plan.bind.paced import at_the_pace
from windrow.plan.bind.query import bind_folded
from windrow.plan.bind.refuse import not_yet
from windrow.plan.bind.shed import refuse_shed_changes, shed_answers
from windrow.plan.catalog import Catalog
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.stage import AnyQuery


def bind(parsed: Query, catalog: Catalog) -> AnyQuery:
    """What a query asks, of what a catalog knows."""
    refuse_contradictions(parsed.tree, parsed.text, catalog)
    parsed = at_the_pace(parsed)
    if not is_over_changes(parsed.tree, Scope(catalog, parsed.text)):
        return shed_answers(parsed, bind_folded(parsed, catalog), catalog)
    refuse_over_changes(parsed, catalog)
    refuse_shed_changes(parsed, catalog)
    bound = bind_changes(parsed, catalog)
    _refuse_mixed(bound, parsed)
    return bound


def _refuse_mixed(bound: ChangePlan, query: Query) -> None:
    """Refuse a query over rows that come and go which reads events beside answers: they are in other stages."""
    if 0 < len(bound.made_of) < len(bound.streams):
        what = "a join or set operator of a stream of events with one that is made of answers"
        way_out = (
            "the events as answers, too: (SELECT k, x FROM s [RANGE 1 SECOND SLIDE 1 SECOND]) AS s [RANGE 10 MINUTES]"
        )
        raise not_yet(query.tree, what, query.text, way_out)
