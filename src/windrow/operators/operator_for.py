"""Which operator runs which step of a plan over changes, and what it needs beside the step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from windrow.operators.cluster_groups import ClusterGroupRows
from windrow.operators.expire import ExpireRows
from windrow.operators.final_join import FinalJoinRows
from windrow.operators.first_of_panes import FirstOfPanes
from windrow.operators.group import GroupRows
from windrow.operators.join import JoinRows
from windrow.operators.operator import Evaluate, Operator
from windrow.operators.outer_join import OuterJoinRows
from windrow.operators.ranked import RankRows
from windrow.operators.regrouped import PartRows, RegroupedRows
from windrow.operators.repository import SharedWindow
from windrow.operators.row_wise import GroupingRows, ProjectRows, SelectRows, UnionAll
from windrow.operators.scan import ScanRows
from windrow.operators.sets import SetRows, rule_of
from windrow.operators.single import SingleRows
from windrow.operators.stamp import StampRows
from windrow.operators.stream_function import FunctionRows
from windrow.operators.table_join import TableJoinRows
from windrow.plan.change_names import node_name
from windrow.plan.nodes.changes import (
    Apply,
    ClusterGroup,
    Distinct,
    Expire,
    Group,
    Node,
    Project,
    Ranked,
    Scan,
    Select,
    SetNode,
    Single,
    Stamp,
    Union,
)
from windrow.plan.nodes.each_grouping import EachGrouping
from windrow.plan.nodes.joins import Join, TableJoin
from windrow.plan.nodes.regrouped import Regrouped, StageEnd
from windrow.plan.windows.slide_ends import SlideEnds
from windrow.storage.blocks import Blocks, Snapshot


@dataclass(frozen=True, slots=True)
class OperatorNeeds:
    """What operators need beside their plan: row expressions, tables, users' code, and where state lives.

    `ends`: those of windows, between which nobody asks; None where every instant is asked for.
    """

    evaluate: Evaluate
    blocks: Blocks
    tables: Mapping[str, pa.Table]
    user: Mapping[str, type]
    ends: SlideEnds | None = None


def space_of(node: Node, tells: bool = False) -> str:
    """The name of a node's state; a W-Expire that tells a renewing DISTINCT holds other rows."""
    return node_name(node, "told-" if tells else "")


def operator_for(
    node: Node,
    space: str,
    around: OperatorNeeds,
    snapshot: Snapshot | None = None,
    tells: bool = False,
    shared: SharedWindow | None = None,
    first: FirstOfPanes | None = None,
    older: Operator | None = None,
) -> Operator:
    """The operator of `node`, whose state is called `space`. `tells`: an Expire whose parent is a renewing DISTINCT.

    `shared`: the rows of an Expire that windows of other ranges have, too. `first`: those that its reader may tell.
    `older`: the same operator as it was some saves ago, which may give what it has in memory.
    """
    place = (space, around.blocks, snapshot)
    match node:
        case Scan():
            return ScanRows(node, *place, around.ends is not None)
        case Regrouped():
            return RegroupedRows(node, *place)
        case StageEnd():
            return PartRows()
        case Expire():
            return ExpireRows(node, *place, tells, shared, first)
        case Select():
            return SelectRows(node, around.evaluate)
        case Project():
            return ProjectRows(node, around.evaluate)
        case EachGrouping():
            return GroupingRows(node)
        case Apply(function=function):
            return FunctionRows(node, around.user[function], *place)
        case ClusterGroup():
            return ClusterGroupRows(node, around.evaluate, around.user, *place)
        case Group():
            return GroupRows(node, around.evaluate, around.user, *place)
        case Stamp():
            return StampRows(node, *place)
        case Union(all=True):
            return UnionAll()
        case Distinct(renewing=renewing):
            return SetRows(rule_of(node), node.types, *place, renewing)
        case SetNode():
            return SetRows(rule_of(node), node.types, *place)
        case Join(kind="inner"):
            known = older if isinstance(older, JoinRows) else None
            return JoinRows(node, around.evaluate, *place, around.ends is None, known)
        case Join(final=True):
            return FinalJoinRows(node, around.evaluate, *place)
        case Join():
            outer = older if isinstance(older, OuterJoinRows) else None
            return OuterJoinRows(node, around.evaluate, *place, around.ends is None, outer)
        case Ranked():
            return RankRows(node, *place, around.ends)
        case Single():
            return SingleRows(node)
        case TableJoin(table=table):
            rows = around.tables[table]
            hashed = isinstance(older, TableJoinRows) and older.is_of(node, rows)
            return older if hashed and older is not None else TableJoinRows(node, around.evaluate, rows)
    raise TypeError(f"no operator runs {type(node).__name__}")
