"""All rules of the compiler, in the order in which they are applied. A rule is a file, which says why it is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa

from windrow.compile.ask_in_where import ask_in_where
from windrow.compile.check_wishes import refuse_wishes
from windrow.compile.count_distinct import count_distinct
from windrow.compile.count_stages import count_stages
from windrow.compile.expire_rows import expire_rows
from windrow.compile.index_clusters import index_clusters
from windrow.compile.inline_views import inline_views
from windrow.compile.join_indexes import join_indexes
from windrow.compile.look_up_tables import look_up_tables
from windrow.compile.number_rows import number_rows
from windrow.compile.over_events import over_events
from windrow.compile.over_partitions import over_partitions
from windrow.compile.push_distinct import push_distinct
from windrow.compile.push_windows import push_windows
from windrow.compile.round_slide import round_slide
from windrow.compile.rule import Rule, WrittenRule, over_changes, over_folds
from windrow.compile.share_clusters import join_clusters, share_clusters
from windrow.compile.share_panes import share_panes
from windrow.compile.spell_names import spell_names
from windrow.plan.bind.others_functions import read_others_functions
from windrow.plan.bind.others_windows import read_others_windows
from windrow.plan.bind.refuse_time_functions import refuse_chance
from windrow.plan.catalog import Engine
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.spaces import AnySpace
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.nodes.wanted import Wanted


class Rules(NamedTuple):
    """A tuple for each form that queries have on their way from text to spaces of state."""

    written: tuple[WrittenRule, ...]
    """The text of a query, before it is bound: it is said in the words that are bound."""

    bound: tuple[Rule, ...]
    """Each bound query as it comes, beside those that came before it."""

    together: tuple[Callable[[Mapping[str, AnyQuery]], dict[str, AnyQuery]], ...]
    """All queries of a session, before any runs."""

    scanned: tuple[Callable[[AnyQuery, Mapping[str, pa.Table], Engine], AnyQuery], ...]
    """The queries of one scan, with the tables that they join, before they are cut into stages."""

    spaces: tuple[Callable[[Sequence[QueryPlan], Wanted], tuple[AnySpace, ...]], ...]
    """The queries over one stream of a stage: the spaces of state that answer them, each with its maintenances."""


RULES = Rules(
    written=(
        spell_names,
        join_indexes,
        inline_views,
        spell_names,
        read_others_functions,
        read_others_windows,
        push_windows,
        over_partitions,
        ask_in_where,
        refuse_chance,
        over_events,
    ),
    bound=(
        over_changes(count_distinct),
        over_changes(push_distinct),
        index_clusters,
        expire_rows,
        count_stages,
        over_folds(round_slide),
        over_folds(join_clusters),
        refuse_wishes,
    ),
    together=(share_clusters,),
    scanned=(look_up_tables,),
    spaces=(share_panes, number_rows),
)
