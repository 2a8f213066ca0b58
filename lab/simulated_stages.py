"""The stages of a simulated pipeline: one operator each, with a queue for every input."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import pyarrow as pa

from windrow.operators.changes import Changes, nothing
from windrow.operators.expire import ExpireRows
from windrow.operators.operator import Operator
from windrow.operators.operator_for import OperatorNeeds, operator_for, space_of
from windrow.operators.scan import ScanRows
from windrow.plan.nodes.changes import Distinct, Expire, Node, Scan
from windrow.storage.blocks import MemoryBlocks


class Stage:
    """An operator as a node of the pipeline: FIFO queues of single changes in, and a LocalClock (section 3.1).

    Expiry that is an operator's own work is done here, before the operator sees its input; a scan that sends negative
    tuples has its W-Expire here, too.
    """

    def __init__(self, node: Node, around: OperatorNeeds) -> None:
        self.node = node
        children = node.children
        self.stream: str | None = None
        self._operator: Operator | None = None
        self._expiring: list[ExpireRows | None] = [None]
        inputs: tuple[Node, ...]
        match node:
            case Scan(stream=stream):
                self.stream, inputs = stream, (node,)
            case Expire(child=Scan(stream=stream), place="scan"):
                self.stream, inputs = stream, children
                self._expiring = [_expiring(node, around, False)]
            case Expire():
                inputs = children
                self._expiring = [_expiring(node, around, False)]
            case _:
                inputs = tuple(_own_input(child) for child in children)
                self._operator = operator_for(node, space_of(node), around)
                renewing = isinstance(node, Distinct) and node.renewing
                self._expiring = [_expiring(child, around, renewing) if _is_own(child) else None for child in children]
        self.inputs: tuple[Node, ...] = () if self.stream is not None else inputs
        self._types = [given.types for given in inputs]
        self.queues: list[deque[Changes]] = [deque() for _ in inputs]
        self.clock = -1
        self.released: Changes | None = None
        self.next_clock = -1
        self.busy_until = 0

    @property
    def next_due(self) -> int | None:
        """The next instant at which a row that it holds expires."""
        dues = [expiring.next_due for expiring in self._expiring if expiring is not None]
        return min((due for due in dues if due is not None), default=None)

    @property
    def waits(self) -> bool:
        return any(self.queues)

    def run(self, given: Mapping[int, Changes], clock: int) -> Changes:
        """Work off at most one change on each input and let expire what ended by `clock`."""
        parts = [given.get(i, nothing(types)) for i, types in enumerate(self._types)]
        for i, expiring in enumerate(self._expiring):
            if expiring is not None:
                parts[i] = expiring.process([parts[i]], clock)
        return parts[0] if self._operator is None else self._operator.process(parts, clock)


def stages_of(plan: Node, around: OperatorNeeds) -> dict[Node, Stage]:
    """The stages of a plan, children before their parents; equal sub-plans have one."""
    stages: dict[Node, Stage] = {}

    def build(node: Node) -> None:
        if node not in stages:
            stage = Stage(node, around)
            for child in stage.inputs:
                build(child)
            stages[node] = stage

    build(plan)
    return stages


def single_changes(changes: Changes) -> Sequence[Changes]:
    """Each change by itself."""
    return [changes.part(slice(i, i + 1)) for i in range(len(changes))]


def arrivals_of(node: Node, times: Sequence[int], rows: pa.RecordBatch) -> Changes:
    """Events as a scan has them."""
    scan = node if isinstance(node, Scan) else node.children[0]
    assert isinstance(scan, Scan)
    source = ScanRows(scan, "", MemoryBlocks())
    source.add(pa.array(times, pa.int64()).to_numpy(), [rows.column(name) for name in scan.names])
    return source.process([], max(times, default=0))


def _is_own(node: Node) -> bool:
    return isinstance(node, Expire) and node.place == "operator"


def _own_input(node: Node) -> Node:
    return node.children[0] if _is_own(node) else node


def _expiring(node: Node, around: OperatorNeeds, tells: bool) -> ExpireRows:
    operator = operator_for(node, space_of(node, tells), around, None, tells)
    assert isinstance(operator, ExpireRows)
    return operator
