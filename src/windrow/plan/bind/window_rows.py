"""SELECT without aggregates over windows that are folded: the rows that each window holds, as its answer."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from windrow.language import error_at, expression_sql, parse_expression
from windrow.plan.bind.aggregate import check_outputs, partition_keys
from windrow.plan.bind.bound import BoundAnswers, BoundRows, Scope
from windrow.plan.bind.calls import calls_in
from windrow.plan.bind.names import check_new, is_star, output_name, placed_as, substituted, with_parts
from windrow.plan.bind.order import bind_limit, bind_order
from windrow.plan.bind.over import OverResult
from windrow.plan.bind.project_rows import filtered
from windrow.plan.bind.rankings import numbering
from windrow.plan.bind.told_columns import names_told, split_where, told_columns
from windrow.plan.bind.typing import checked_type
from windrow.plan.nodes.aggregates import Aggregate, Partial
from windrow.plan.nodes.query_plan import UNNAMED, Output, QueryPlan
from windrow.plan.nodes.result_columns import leading_columns
from windrow.plan.nodes.spaces import Key


def bind_window_rows(tree: exp.Select, source: BoundRows, scope: Scope) -> BoundAnswers:
    """The rows of each window of `source`, with the columns that `tree` selects.

    Panes and rows are folded as for COLLECT_LIST, of one struct a row; an answer is then told row by row. So what is
    selected is computed once a row, whatever the number of windows that hold it.
    """
    window = source.window
    assert window is not None
    leading = leading_columns(window, scope.emit, False)
    told = told_columns(source, scope)
    of_windows, rest = split_where(tree, told, source.columns)
    kept = tree.copy()
    kept.set("where", rest and exp.Where(this=rest))
    source = filtered(kept, source, scope)
    items = _Items(source, scope, told)
    number = numbering(tree, scope, items)
    outputs: dict[str, exp.Expr] = {}
    for node in tree.selects:
        found = {output_name(node): node.unalias()} if not is_star(node) else _all_columns(source)
        for name, asked in found.items():
            if name.lower() in told and asked.name.lower() == name.lower():
                continue  # they lead every result anyway
            check_new(name, (*outputs, *leading), node, scope.text)
            outputs[name] = number(asked)
    having = None if of_windows is None else items(of_windows)
    aliases = {node.alias.lower(): node.this for node in tree.selects if isinstance(node, exp.Alias)}
    terms = bind_order(tree, aliases, number, scope.text)
    ranked = number.asked(aliases, source.columns)
    query = QueryPlan(
        UNNAMED,
        source.stream.name,
        window,
        None if source.where is None else expression_sql(source.where),
        tuple(partition_keys(source, scope).values()),
        (items.collected(),),
        tuple(Output(name, expression_sql(node)) for name, node in outputs.items()),
        None if having is None else expression_sql(having),
        tuple(ordering for ordering, _ in terms),
        bind_limit(tree, scope.text),
        emit=scope.emit,
        rows=source.rows,
        made_of=source.stream.made_of,
        items=tuple(items.found.values()),
    )
    query = ranked.added_to(query)
    check_outputs(query, outputs, having, terms, scope)
    return BoundAnswers(query, outputs, source.stream)


class _Items:
    """Rewrites expressions over the columns that slide emits: what is of a row becomes `item_0`, ..."""

    def __init__(self, source: BoundRows, scope: Scope, told: set[str]) -> None:
        self._source, self._scope, self._told = source, scope, told
        self.found: dict[str, Key] = {}

    def __call__(self, node: exp.Expr) -> exp.Expr:
        for call in calls_in(node, self._scope):
            raise error_at(call, "an aggregate in a query for the rows of windows", self._scope.text)
        return self._lifted(node.copy())

    def _lifted(self, node: exp.Expr) -> exp.Expr:
        if node.find(OverResult) is not None:
            return node if isinstance(node, OverResult) else with_parts(node, self._beside_numbers)
        if not names_told(node, self._told, self._source.columns):
            if not _is_value(node):
                return with_parts(node, self._lifted) if node.find(exp.Column) else node
            meant = substituted(node, self._source.columns, self._scope.text)
            text = expression_sql(meant)
            if text not in self.found:
                self.found[text] = Key(text, checked_type(meant, self._source.stream.schema, self._scope))
            return placed_as(exp.column(f"item_{list(self.found).index(text)}"), node)
        if isinstance(node, exp.Column):
            return placed_as(exp.column(node.name.lower()), node)
        return with_parts(node, self._lifted)

    def _beside_numbers(self, node: exp.Expr) -> exp.Expr:
        """A part of an expression with OVER: what is constant is of no row."""
        return self._lifted(node) if node.find(exp.Column, OverResult) else node

    def collected(self) -> Aggregate:
        """What is folded: the items of each row, in the order of the rows."""
        if not self.found:
            self.found["TRUE"] = Key("TRUE", pa.bool_())
        parts = ", ".join(f"'item_{i}', {text}" for i, text in enumerate(self.found))
        struct = parse_expression(f"NAMED_STRUCT({parts})")
        type = checked_type(struct, self._source.stream.schema, self._scope)
        return Aggregate("COLLECT_LIST", Partial("collect_nulls", expression_sql(struct), type), pa.list_(type))


def _is_value(node: exp.Expr) -> bool:
    """Whether `node` has a value of its own: a part of CASE has none, nor have a type, an interval, and NULL of IS."""
    if isinstance(node.parent, exp.Is) and isinstance(node, exp.Null | exp.Boolean):
        return False
    in_case = isinstance(node, exp.If) and isinstance(node.parent, exp.Case)
    return isinstance(node, exp.Condition) and not isinstance(node, exp.Interval | exp.DataType) and not in_case


def _all_columns(source: BoundRows) -> dict[str, exp.Expr]:
    return {name: exp.column(exp.to_identifier(name, quoted=True)) for name in source.columns}
