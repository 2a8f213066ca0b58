"""From syntax to a bound query."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.language import (
    Query,
    RowWindow,
    deep,
    emit_of,
    error_at,
    expression_sql,
    parse_expression,
    query_window_of,
    window_of,
)
from windrow.plan.bind.aggregate import bind_aggregate, check_outputs
from windrow.plan.bind.bound import Bound, BoundAnswers, BoundRows, Scope
from windrow.plan.bind.clusters import refuse_cluster_calls
from windrow.plan.bind.column_aliases import renamed
from windrow.plan.bind.corrected import correcting_in, refuse_uncorrected
from windrow.plan.bind.emitted import when_of
from windrow.plan.bind.from_clause import (
    Named,
    bind_stream,
    bind_window,
    named_by_with,
    needs_window,
    read_from,
)
from windrow.plan.bind.is_table import is_table
from windrow.plan.bind.join_tables import join_tables, needs_engine
from windrow.plan.bind.names import check_new, check_qualifiers, is_star, output_name, substituted
from windrow.plan.bind.order import bind_limit, bind_order
from windrow.plan.bind.over_changes import aggregates
from windrow.plan.bind.project_rows import filtered, projected
from windrow.plan.bind.rankings import chosen_of, distinct_as_groups, numbering, ranked_once, refuse_numbers_of_events
from windrow.plan.bind.refuse import not_yet, refuse_around, refuse_changes, refuse_unsupported, window_over_sub_query
from windrow.plan.bind.stream_first import stream_first
from windrow.plan.bind.told_columns import windows_chosen
from windrow.plan.bind.window_rows import bind_window_rows
from windrow.plan.catalog import Catalog
from windrow.plan.nodes.emission import CHANGES, CORRECTED, FINAL, SNAPSHOT, WHEN
from windrow.plan.nodes.query_plan import Output, QueryPlan
from windrow.plan.nodes.result_columns import leading_columns, named_columns


@deep
def bind_folded(query: Query, catalog: Catalog) -> QueryPlan:
    """Resolve the names of `query`, find its types, and tell its keys and aggregates apart."""
    emit = CORRECTED if correcting_in(query.tree, catalog) is not None else _emitted(query)
    scope = Scope(catalog, query.text, emit)
    if when_of(query, scope) is not None and query.tree.args.get("cluster"):
        raise not_yet(
            query.tree.args["emit"], "EMIT WHEN of clusters of this kind of window", query.text, tree=query.tree
        )
    folds = any(aggregates(select, scope) for select in query.tree.find_all(exp.Select))
    scope = replace(scope, folds=folds)
    bound = _bind(query.tree, {}, scope)
    if isinstance(bound, BoundAnswers):
        if emit == CORRECTED:
            refuse_uncorrected(query, bound.query, catalog)
        elif emit != SNAPSHOT:
            refuse_changes(query.tree, bound.query, query.text)
        return replace(bound.query, by_engine=needs_engine(bound, scope))
    raise needs_window(bound.stream.name, query.tree.args["from_"], query.text)


def _emitted(query: Query) -> str:
    """What is sent: whole answers, or, where every row makes another one, what changes."""
    emit = emit_of(query.tree)
    if query.tree.args.get("emit") is not None and query.tree.args["emit"].args.get("when"):
        return WHEN
    windows = [window_of(table) for table in query.tree.find_all(exp.Table, exp.Subquery)]
    if any(isinstance(window, RowWindow) and window.slide_rows is None for window in windows):
        if emit in (SNAPSHOT, FINAL):
            message = f"without SLIDE each row changes the answer, and the changes are sent, not {emit}"
            raise error_at(query.tree.args["emit"], message, query.text, "add SLIDE 1, or leave EMIT out")
        return emit or CHANGES
    return SNAPSHOT if emit in (None, FINAL) else emit  # the answer of a window that has ended is final


def _bind(tree: exp.Expr, named: Named, scope: Scope) -> Bound:
    if isinstance(tree, exp.Subquery):
        refuse_around(tree, scope.text)
        return _bind(tree.this, named, scope)
    if not isinstance(tree, exp.Select):
        raise not_yet(tree, type(tree).__name__.upper(), scope.text)
    refuse_unsupported(tree, scope.text)
    named = named_by_with(tree, named)
    tree, source = _bind_from(tree, named, scope)
    check_qualifiers(tree, source.columns, scope.text)
    refuse_cluster_calls(tree, source.columns, scope)
    if isinstance(source, BoundAnswers):
        return _refined(tree, source, scope)
    if source.window is None:
        refuse_numbers_of_events(tree, scope)
    elif not aggregates(tree, scope):
        tree = distinct_as_groups(tree, source, scope)
    if source.window is not None and not scope.folds and not aggregates(tree, scope):
        return bind_window_rows(tree, source, scope)
    tree, source = windows_chosen(tree, source, scope)
    source = filtered(tree, source, scope)
    return bind_aggregate(tree, source, scope) if aggregates(tree, scope) else projected(tree, source, scope)


def _bind_from(tree: exp.Select, named: Named, scope: Scope) -> tuple[exp.Select, Bound]:
    """What FROM names, and the SELECT as one over it alone, whatever tables it joins."""
    read_from(tree, scope.text)
    if not tree.args.get("joins"):
        return tree, _bind_first(tree, named, scope)
    turned = stream_first(tree, lambda table: is_table(table, named, scope), scope.text)
    source = _bind_first(turned, named, scope)
    if isinstance(source, BoundAnswers) or any(not is_table(join.this, named, scope) for join in turned.args["joins"]):
        raise not_yet(tree.args["joins"][0], "JOIN", scope.text, tree=tree)
    return join_tables(turned, tree, source, scope)


def _bind_first(tree: exp.Select, named: Named, scope: Scope) -> Bound:
    table = read_from(tree, scope.text)
    if isinstance(table, exp.Subquery):
        source = _bind(table.this, named, scope)
        written = window_of(table)
        if written is not None and isinstance(source, BoundRows):
            source = replace(source, window=bind_window(written, table, source, scope))
        return _renamed(source, table, scope)
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise not_yet(table, "this in FROM", scope.text, "FROM s [RANGE 1 HOUR SLIDE 1 MINUTE]", tree=tree)
    written = window_of(table) or query_window_of(tree)
    name = table.name.lower()
    if name in named:
        others = {other: query for other, query in named.items() if other != name}
        source = _renamed(_bind(named[name].this, others, scope), named[name], scope)
    else:
        source = bind_stream(table, list(named), scope)
    if written is not None:
        if isinstance(source, BoundAnswers) or source.window is not None:
            raise window_over_sub_query(table, scope.text)
        source = replace(source, window=bind_window(written, table, source, scope))
    return _renamed(source, table, scope)  # a window stands before the alias, and has the old names


def _renamed(source: Bound, place: exp.Expr, scope: Scope) -> Bound:
    return replace(source, columns=renamed(source.columns, place, scope.text))


def _refined(tree: exp.Select, source: BoundAnswers, scope: Scope) -> BoundAnswers:
    """A SELECT around a windowed sub-query: other columns of the same answers, fewer of them, or in order."""
    if source.query.limit is not None and any(tree.args.get(clause) for clause in ("where", "order", "limit")):
        raise not_yet(tree.selects[0], "a query that chooses among the rows of a sub-query with LIMIT", scope.text)
    leading = leading_columns(source.query.window, scope.emit, source.query.clusters is not None)
    named = named_columns(source.query.window, scope.emit, source.query.clusters is not None)
    visible = source.columns | {name: exp.column(name) for name in named}
    number = numbering(tree, scope, lambda node: substituted(node, visible, scope.text))
    outputs: dict[str, exp.Expr] = {}
    for node in tree.selects:
        found = source.columns
        if not is_star(node):
            if node.unalias().name.lower() == output_name(node).lower() in leading:
                continue  # they lead every result anyway
            found = {output_name(node): number(node.unalias())}
        for name, meant in found.items():
            check_new(name, (*outputs, *leading), node, scope.text)
            outputs[name] = meant
    having = None if source.query.having is None else parse_expression(source.query.having)
    qualify = source.query.qualify
    if tree.args.get("where") is not None:
        chosen = substituted(tree.args["where"].this, visible, scope.text)
        having, qualify = chosen_of(source.query, chosen, having)
    aliases = {node.alias.lower(): node.this for node in tree.selects if isinstance(node, exp.Alias)}
    terms = bind_order(tree, aliases, number, scope.text)
    asked = number.asked(aliases, source.columns)
    query = replace(
        source.query,
        qualify=qualify,
        outputs=tuple(Output(name, expression_sql(node)) for name, node in outputs.items()),
        having=None if having is None else expression_sql(having),
        order=tuple(ordering for ordering, _ in terms) or source.query.order,
        limit=source.query.limit if tree.args.get("limit") is None else bind_limit(tree, scope.text),
    )
    query = ranked_once(asked, query, source.query, tree, scope)
    check_outputs(query, outputs, having, terms, scope)
    return BoundAnswers(query, outputs, source.stream)
