"""Joins, set operators and sub-queries within one window that is none over time with a slide: over its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from sqlglot import exp

from windrow.compile.derive_streams import drop_unused, name_of_made, stream_of
from windrow.compile.groupings_of_keys import add_keys, has_groupings_of_keys
from windrow.compile.joined_answers import named_around
from windrow.compile.one_window import has_one_window, leaves_of, of_streams, refuse_other_answers, sources_of
from windrow.language import Query, parse_query, window_of
from windrow.language.nodes import CLUSTER, EMIT, STREAM_WINDOW
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.is_table import is_table
from windrow.plan.bind.names import is_star, output_name, placed_as
from windrow.plan.bind.over_changes import aggregates, is_over_changes
from windrow.plan.bind.refuse import not_yet
from windrow.plan.bind.within_window import APART
from windrow.plan.catalog import Catalog, Stream
from windrow.plan.nodes.query_plan import Output, QueryPlan
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.windows.row_window import CountWindow

PlanOf = Callable[[Query], AnyQuery]

_MORE = ("distinct", "order", "limit", "qualify", "with_", EMIT, CLUSTER)
"""Clauses of a sub-query that answers of panes cannot have, or not where others read them."""


def within_windows(query: Query, catalog: Catalog, plan_of: PlanOf, *, of_rows: bool = False) -> tuple[Query, Catalog]:
    """The query over the answers of its window, and who knows these, where rows that come and go have no such window.

    The rows of a window, or its groups where a sub-query makes some, are events of a stream that happen as it ends. A
    window of one microsecond over them holds what ends at one instant, and answers as any window with a slide does;
    binding keeps windows apart that end at the same instant (`plan/bind/within_window.py`). What panes answer by
    themselves is left to them, unless it is wanted `of_rows`.
    """
    scope = Scope(catalog, query.text)
    if not has_one_window(query.tree, scope, of_rows=of_rows):
        return query, catalog
    refuse_other_answers(query)
    tree, made = query.tree.copy(), dict[str, Stream]()

    def take(leaf: exp.Expr, inner: exp.Expr) -> exp.Table:
        stream = _stream(_with_named(inner, named_around(leaf)), leaf, query, plan_of)
        made[stream.name] = stream
        table = exp.Table(this=exp.to_identifier(stream.name, quoted=True))
        table.set(STREAM_WINDOW, _INSTANT.copy())
        return placed_as(table, leaf)  # type: ignore[return-value]

    for select in [node for node in _around_windows(tree) if has_groupings_of_keys(node, scope)]:
        add_keys(select)
    if of_rows and isinstance(tree, exp.Select) and aggregates(tree, scope):
        add_keys(tree)
    for select in [node for node in tree.find_all(exp.Select) if _is_folded_below(node, tree, scope)]:
        select.replace(exp.select("*").from_(take(select, select.copy())))
    named = _named(tree)
    for leaf in leaves_of(tree):
        if leaf.name in made:
            continue
        alias = leaf.args.get("alias")
        inner = leaf.copy()
        inner.set("alias", None)
        taken = take(leaf, exp.select(*_columns(leaf, named, catalog)).from_(inner))
        own = exp.TableAlias(this=exp.to_identifier(leaf.name or "answers", quoted=True))
        taken.set("alias", own if alias is None else alias.copy())
        leaf.replace(taken)
    drop_unused(tree)
    _drop_led(tree, {name for stream in made.values() for name in stream.unstarred})
    return replace(query, tree=tree), replace(catalog, streams={**catalog.streams, **made})


_INSTANT = (
    parse_query("SELECT 1 FROM s [RANGE 1 MICROSECOND SLIDE 1 MICROSECOND]").tree.args["from_"].this.args[STREAM_WINDOW]
)
"""A window that holds what happens at one instant."""


def _around_windows(tree: exp.Expr) -> list[exp.Select]:
    """Each SELECT that no window stands behind, or behind what it is in: those have their own groups."""
    walked = tree.walk(prune=lambda node: node.args.get(STREAM_WINDOW) is not None)
    return [node for node in walked if isinstance(node, exp.Select)]


def _is_folded_below(select: exp.Select, tree: exp.Expr, scope: Scope) -> bool:
    """Whether a SELECT stands in FROM, in WITH or beside a set operator, and panes answer it by themselves."""
    if select is tree or has_groupings_of_keys(select, scope) or any(select.args.get(clause) for clause in _MORE):
        return False
    inside: exp.Expr = select
    while inside is not tree:
        around = inside.parent
        if not isinstance(
            around, exp.Subquery | exp.SetOperation | exp.CTE | exp.With | exp.From | exp.Join | exp.Select
        ):
            return False
        if isinstance(inside, exp.Subquery) and isinstance(around, exp.Select):
            return False  # a value of the select list
        if around.args.get(STREAM_WINDOW) is not None:
            return False  # another window is over it
        inside = around
    named = _named(tree)
    first, *joined = sources_of(select)
    if window_of(first) is None or not all(is_table(source, named, scope) for source in joined):
        return False
    parts = [*select.selects, *(select.args.get(clause) for clause in ("where", "having"))]
    if any(part.find(exp.Query, exp.Window) for part in parts if part is not None):
        return False
    return not is_over_changes(of_streams(select), scope)


def _drop_led(tree: exp.Expr, led: set[str]) -> None:
    """Leave out of the select list what leads every result anyway."""
    if isinstance(tree, exp.Select):
        shown = [node for node in tree.selects if not (isinstance(node, exp.Column) and node.sql().lower() in led)]
        if shown:
            tree.set("expressions", shown)


def _named(tree: exp.Expr) -> set[str]:
    return {common.alias.lower() for common in tree.find_all(exp.CTE)}


def _with_named(inner: exp.Expr, named: Mapping[str, exp.CTE]) -> exp.Expr:
    """A query with a WITH for what it reads of `named`, by itself or through others."""
    needed: set[str] = set()
    waiting = [inner]
    while waiting:
        read = {table.name.lower() for table in waiting.pop().find_all(exp.Table)} & set(named) - needed
        needed |= read
        waiting += [named[name].this for name in read]
    if needed:
        inner.set("with_", exp.With(expressions=[named[name].copy() for name in named if name in needed]))
    return inner


def _columns(leaf: exp.Expr, named: set[str], catalog: Catalog) -> list[exp.Expr]:
    """The columns of a stream that its query may read: all where some are not named.

    Of a sub-query those that it selects, and not the window that each of its answers is of.
    """
    if isinstance(leaf, exp.Subquery) and not any(is_star(node) for node in leaf.this.unnest().selects):
        return [exp.column(exp.to_identifier(output_name(node), quoted=True)) for node in leaf.this.unnest().selects]
    stream = catalog.streams.get(leaf.name) if isinstance(leaf, exp.Table) else None
    root, alias = leaf.root(), leaf.args.get("alias")
    stars = any(not isinstance(star.parent, exp.Count) for star in root.find_all(exp.Star))
    if stream is None or leaf.name.lower() in named or stars or (alias is not None and alias.columns):
        return [exp.Star()]
    read = {part.name.lower() for column in root.find_all(exp.Column) for part in column.parts}
    read |= {name.name.lower() for join in root.find_all(exp.Join) for name in join.args.get("using") or []}
    found = [name for name in stream.schema.names if name.lower() in read] or stream.schema.names[:1]
    return [exp.column(exp.to_identifier(name, quoted=True)) for name in found]


def _stream(inner: exp.Expr, place: exp.Expr, query: Query, plan_of: PlanOf) -> Stream:
    """The answers of `inner` as a stream that tells which window each is of, beside its columns."""
    plan = plan_of(Query(inner, query.text, query.span))
    if not isinstance(plan, QueryPlan):
        raise not_yet(place, "this sub-query in this kind of window", query.text, "[RANGE 10 MINUTES SLIDE 1 MINUTE]")
    apart = tuple(_told_apart_by(plan))
    plan = replace(plan, outputs=(*plan.outputs, *apart))
    stream = stream_of(f"{name_of_made(inner)} by window", plan, place, query.text, within=True)
    return replace(stream, tells_window=(*plan.leading, *(output.name for output in apart)))


def _told_apart_by(plan: QueryPlan) -> Iterator[Output]:
    """The columns that no result has, by which windows are told apart: their number, when they are told, their keys.

    A key is named by its place in PARTITION BY, as every sub-query of the window has it, whatever it groups by.
    """
    if not isinstance(plan.window, CountWindow):
        return
    for name in ("window_number", "due"):
        if name in plan.emitted.names:
            yield Output(f"{APART}{name}", name)
    texts = [key.sql for key in plan.keys]
    for place, text in enumerate(plan.window.partition):
        yield Output(f"{APART}key_{place}", f"key_{texts.index(text)}")
