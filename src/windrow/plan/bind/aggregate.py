"""SELECT with aggregates: what is grouped by, what is folded, and what is made of both afterwards."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from windrow.language import error_at, expression_sql, parse_expression
from windrow.language.nodes import EMIT
from windrow.plan.bind.bound import BoundAnswers, BoundRows, Scope
from windrow.plan.bind.calls import calls_in
from windrow.plan.bind.clusters import bind_clusters
from windrow.plan.bind.from_clause import needs_window
from windrow.plan.bind.groupings import grouped_by, in_all_groupings
from windrow.plan.bind.lift import Lift
from windrow.plan.bind.names import both, check_new, is_star, output_name, substituted, unaliased
from windrow.plan.bind.order import Term, bind_limit, bind_order, check_order, selected
from windrow.plan.bind.rankings import Numbered, numbering
from windrow.plan.bind.refuse import not_yet
from windrow.plan.bind.typing import checked_condition, checked_type
from windrow.plan.nodes.clusters import cluster_answer
from windrow.plan.nodes.emission import SNAPSHOT, WHEN
from windrow.plan.nodes.groupings import GroupingSets
from windrow.plan.nodes.ordering import with_places
from windrow.plan.nodes.query_plan import UNNAMED, Output, QueryPlan
from windrow.plan.nodes.result_columns import emitted_schema, item_schema, leading_columns, named_columns
from windrow.plan.nodes.seen_partial import seen_only
from windrow.plan.nodes.spaces import Key
from windrow.plan.windows.predicate_window import PredicateWindow
from windrow.plan.windows.session_window import SessionWindow


def bind_aggregate(tree: exp.Select, source: BoundRows, scope: Scope) -> BoundAnswers:
    """The windowed aggregation that `tree` makes of the rows of `source`."""
    if source.window is None:
        raise needs_window(source.stream.name, tree.args["from_"].this, scope.text)
    aliases = {node.alias.lower(): node.this for node in tree.selects if isinstance(node, exp.Alias)}
    keys, sets = _keys(tree, source, aliases, scope)
    _check_sets(tree, source, keys, sets, scope)
    keys |= partition_keys(source, scope)
    if sets is not None:  # each window is of one key, which all of its groups have
        own = tuple(place for place, text in enumerate(keys) if text in source.window.partition)
        sets = GroupingSets.of((*chosen, *own) for chosen in sets.sets)
    clusters = bind_clusters(tree, source, scope)
    leading = leading_columns(source.window, scope.emit, clusters is not None)
    lift = Lift(source, scope, keys, {}, leading, clusters, sets)
    number = numbering(tree, scope, lift)
    outputs = _outputs(tree, lift, number, scope)
    having = tree.args.get("having")
    kept = None if having is None else lift(unaliased(having.this, aliases, source.columns))
    if scope.emit == WHEN and (emit := tree.args.get(EMIT)) is not None:
        kept = both(kept, lift(unaliased(emit.args["when"], aliases, source.columns)))
    if source.chosen is not None:
        kept = both(kept, lift(source.chosen))
    terms = bind_order(tree, aliases, lambda node: number(unaliased(node, aliases, source.columns)), scope.text)
    asked = number.asked(aliases, source.columns)
    if clusters is not None and scope.emit != SNAPSHOT:
        lift.aggregates.setdefault(cluster_answer("CID"), len(lift.aggregates))  # tells which cluster has changed
    query = QueryPlan(
        UNNAMED,
        source.stream.name,
        source.window,
        None if source.where is None else expression_sql(source.where),
        tuple(lift.keys.values()) if sets is None else (*lift.keys.values(), sets),
        tuple(lift.aggregates) if clusters is not None else seen_only(source.window, tuple(lift.aggregates)),
        tuple(Output(name, expression_sql(node)) for name, node in outputs.items()),
        None if kept is None else expression_sql(kept),
        tuple(ordering for ordering, _ in terms),
        bind_limit(tree, scope.text),
        clusters=None if clusters is None else clusters.partial(),
        emit=scope.emit,
        rows=source.rows,
        made_of=source.stream.made_of,
    )
    query = asked.added_to(query)
    check_outputs(query, outputs, kept, terms, scope)
    return BoundAnswers(query, outputs, source.stream)


def check_outputs(
    query: QueryPlan, outputs: dict[str, exp.Expr], having: exp.Expr | None, terms: list[Term], scope: Scope
) -> None:
    """Every output has a type, HAVING is a condition, and what ORDER BY names has an order."""
    schema = emitted_schema(query.window, query.keys, query.aggregates)
    if query.items:
        schema = item_schema(schema, query.items)
    schema = with_places(schema, (ranking.type for ranking in query.rankings))
    for node in outputs.values():
        checked_type(node, schema, scope)
    if having is not None:
        checked_condition(having, schema, scope)
    check_order(terms, schema, scope)


def _outputs(tree: exp.Select, lift: Lift, number: Numbered, scope: Scope) -> dict[str, exp.Expr]:
    outputs: dict[str, exp.Expr] = {}
    for node in tree.selects:
        if is_star(node):
            raise error_at(node, "* beside aggregates", scope.text, "name the columns")
        name = output_name(node)
        own = name.lower() in {column.lower() for column in lift.source.columns}
        if name.lower() in lift.leading and not own and node.unalias().name == name:
            continue  # they lead every result anyway
        check_new(name, (*outputs, *lift.leading), node, scope.text)
        outputs[name] = number(node.unalias())
    return outputs


def partition_keys(source: BoundRows, scope: Scope) -> dict[str, Key]:
    """What the window partitions by: a window holds one key, so that to group by it changes no answer."""
    texts = () if source.window is None else source.window.partition
    parsed = {text: parse_expression(text) for text in texts}
    return {text: Key(text, checked_type(node, source.stream.schema, scope)) for text, node in parsed.items()}


def _keys(
    tree: exp.Select, source: BoundRows, aliases: dict[str, exp.Expr], scope: Scope
) -> tuple[dict[str, Key], GroupingSets | None]:
    """The grouping expressions, by their canonical text, and where there are several groupings, which."""
    keys: dict[str, Key] = {}
    own = {column.lower() for column in source.columns}
    told = set() if source.window is None else set(named_columns(source.window, scope.emit, False)) - own

    def place(node: exp.Expr) -> list[int]:
        if isinstance(node, exp.Literal) and not node.is_string:
            node = selected(tree, node, "group", scope.text)
        else:
            node = unaliased(node, aliases, source.columns).unnest()
        if isinstance(node, exp.Column) and node.name.lower() in told:
            return []  # all rows of an answer are of one window
        for call in calls_in(node, scope):
            raise error_at(call, "an aggregate in GROUP BY", scope.text, "conditions on aggregates go into HAVING")
        meant = substituted(node, source.columns, scope.text)
        type = checked_type(meant, source.stream.schema, scope)
        if pa.types.is_map(type):
            raise error_at(node, "a map cannot be grouped by", scope.text)
        text = expression_sql(meant)
        keys.setdefault(text, Key(text, type))
        return [list(keys).index(text)]

    given, sets = grouped_by(tree, scope)
    for node in given:
        place(node)
    if sets is None:
        return keys, None
    places = [sorted({found for node in chosen for found in place(node)}) for chosen in sets]
    return keys, GroupingSets.of(map(tuple, places))


def _check_sets(
    tree: exp.Select, source: BoundRows, keys: dict[str, Key], sets: GroupingSets | None, scope: Scope
) -> None:
    """Refuse several groupings where rows are numbered by who gets them, or are in clusters."""
    if sets is None:
        return
    if tree.args.get("cluster"):
        raise not_yet(tree.args["cluster"], "CLUSTER BY with several groupings", scope.text, tree=tree)
    window = source.window
    assert window is not None
    if isinstance(window, SessionWindow):
        for text in window.partition:
            if text in keys:
                raise in_all_groupings(tree.args["group"], "session", text.strip("`"), scope)
    elif isinstance(window, PredicateWindow) or window.partition:
        by_row = not isinstance(window, PredicateWindow) and window.slide_us is None
        hint = f"a query for each grouping, or {'ROWS 100 SLIDE 1' if by_row else '[RANGE 1 HOUR SLIDE 1 MINUTE]'}"
        what = "several groupings over windows by key or condition"
        raise not_yet(tree.args["group"], what, scope.text, hint, tree=tree)
