"""Windows over windows, and over functions that remember: what has a window behind it becomes a stream."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from windrow.compile.deduplicate import AS_IT_IS, shown_as, without_duplicates
from windrow.compile.joined_answers import is_joined_answers, named_around
from windrow.compile.over_frames import frames_in, parts_of
from windrow.errors import QueryError
from windrow.expressions.evaluate_text import evaluate_text
from windrow.language import Query, TimeWindow, error_at, expression_sql, span_of, window_of
from windrow.language.nodes import QUERY_WINDOW, STREAM_WINDOW, StreamFunction
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.names import placed_as
from windrow.plan.bind.over_calls import name_of
from windrow.plan.bind.refuse import not_yet
from windrow.plan.catalog import Catalog, Stream
from windrow.plan.nodes.change_plan import ChangePlan, is_told_in_order
from windrow.plan.nodes.emission import CORRECTED, DELETES, SNAPSHOT
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.time_window import TimeWindow as OverTime

PlanOf = Callable[[Query], AnyQuery]
"""Plans a query that stands within another one."""

Named = Mapping[str, exp.CTE]


def derive_streams(query: Query, catalog: Catalog, plan_of: PlanOf) -> tuple[Query, Catalog]:
    """The query with a stream in the place of each windowed sub-query that has a window, and who knows these streams.

    `FROM (SELECT ... FROM ticks [RANGE 1 SECOND SLIDE 1 SECOND]) AS q [RANGE 1 MINUTE SLIDE 1 SECOND]` reads
    `FROM stream [RANGE 1 MINUTE SLIDE 1 SECOND] AS q`. So it is with a function that has a window behind it, and with
    the answers of windows that are told to a function.
    """
    tree = query.tree.copy()
    streams: dict[str, Stream] = {}
    for call in list(tree.find_all(StreamFunction)):
        told: exp.Expr = call.args["query"]
        if _has_window(told, {}):
            spread = told.args.get("distribute")  # it is of the answers
            told.set("distribute", None)
            answers = stream_of(
                name_of_made(told), plan_of(Query(told.copy(), query.text, query.span)), call, query.text
            )
            streams[answers.name] = answers
            told = exp.select("*").from_(exp.Table(this=exp.to_identifier(answers.name, quoted=True)))
            told.set("distribute", spread)
            call.set("query", told)
    scope = Scope(catalog, query.text)
    joined = [source for source in tree.find_all(exp.Subquery, exp.Table) if is_joined_answers(source, scope)]
    for source in list(tree.find_all(exp.Subquery, exp.Table)):
        if source.root() is not tree:  # what is within another one is its own affair
            continue
        stream = catalog.streams.get(source.name) if isinstance(source, exp.Table) else None
        if stream is not None and stream.unique and not source.meta.get(AS_IT_IS) and not _names_query(source):
            within = without_duplicates(stream)
            made = stream_of(f"#{stream.name} without duplicates", plan_of(within), source, query.text)
            streams[made.name] = shown_as(made, stream)
            source.set("alias", _alias(source))
            source.set("this", placed_as(exp.to_identifier(made.name, quoted=True), source))
            continue
        inner = _windowed(source)
        if inner is None and any(source is one for one in joined):
            inner = _query_of(source)
        if inner is not None:
            within = Query(inner, query.text, query.span)
            stream = stream_of(name_of_made(inner), plan_of(within), source, query.text)
            streams[stream.name] = stream
            named = exp.Table(this=exp.to_identifier(stream.name, quoted=True), alias=_alias(source))
            named.set(STREAM_WINDOW, source.args.get(STREAM_WINDOW))
            named.meta.update(source.meta)
            source.replace(named)
    if streams:
        drop_unused(tree)
    known = replace(catalog, streams={**catalog.streams, **streams}) if streams else catalog
    reads = [known.streams.get(table.name) for table in tree.find_all(exp.Table)]
    if any(stream is not None and stream.made_of is not None for stream in reads):
        known = replace(known, engine=known.above or known.engine)  # who evaluates what is made of answers
    return (replace(query, tree=tree) if streams else query), known


def stream_of(name: str, query: AnyQuery, place: exp.Expr, text: str, *, within: bool = False) -> Stream:
    """A stream of this name, whose events are the answers of `query`; `place` is where it was asked for in `text`.

    Those of windows that still fill, or of rows that slide in time, are events only for queries `within` each window.
    """
    if isinstance(query, ChangePlan) and is_told_in_order(query.root) and query.emit != DELETES:
        return Stream(name, pa.schema(list(query.emitted)[1:]), "time", made_of=query)
    if query.emit == CORRECTED:
        message = "answers that late events correct are not events of a stream: an event cannot be taken back"
        raise error_at(place, message, text, "leave out CORRECT FOR of the stream below")
    if query.emit != SNAPSHOT:
        message = "only whole answers are events of a stream, and this query tells what changes"
        way_out = (
            "leave EMIT out, and give the windows a SLIDE; what only chooses rows is a view: CREATE VIEW name AS ..."
        )
        raise error_at(place, message, text, way_out)
    window = query.within if isinstance(query, ChangePlan) else query.window
    if window is not None and window.every_us is not None and not within:
        raise error_at(place, "only final answers are events of a stream", text, "leave EMIT EVERY out")
    slides_in_time = isinstance(window, CountWindow) and window.slide_us is not None
    if slides_in_time and not within:
        raise not_yet(place, "a stream of the answers of this kind of window", text, "[RANGE 1 SECOND SLIDE 1 SECOND]")
    if not isinstance(query, QueryPlan):
        return Stream(name, query.emitted, "window_end", made_of=query)
    if query.rankings:
        hint = "QUALIFY in the outer query, or a window over time: [RANGE 1 HOUR SLIDE 1 MINUTE]"
        raise not_yet(place, "DISTINCT and OVER over such windows, in what a stream is made of,", text, hint)
    if query.order:
        plain = type(window) is OverTime and query.clusters is None
        hint = "QUALIFY ROW_NUMBER() OVER (ORDER BY ...) <= 10" if plain else "leave them to the outer query"
        raise not_yet(place, "ORDER BY and LIMIT in what a stream is made of", text, hint)
    rows = query.emitted.empty_table()
    columns = {column: query.emitted.field(column).type for column in query.leading}
    try:
        columns |= {output.name: evaluate_text(output.sql, rows).type for output in query.outputs}
        if query.having is not None:
            evaluate_text(query.having, rows)
    except QueryError as error:
        start, end = span_of(place) or (None, None)
        raise type(error)(error.message, text=text, at=start, end=end, hint=error.hint) from None
    return Stream(name, pa.schema(list(columns.items())), "window_end", made_of=query)


def _windowed(source: exp.Expr) -> exp.Expr | None:
    """The sub-query that `source` has a window over, if it has; the names of WITH that it may need go with it."""
    if source.args.get(STREAM_WINDOW) is None:
        return None
    if isinstance(source.this, StreamFunction):
        told = source.copy()
        told.set(STREAM_WINDOW, None)
        return exp.select("*").from_(told)
    inner, named = _query_of(source), named_around(source)
    named.pop(source.name.lower(), None)
    if inner is None or not (
        _has_window(inner, named)
        or _is_over_events(inner)
        or _is_of_function(inner, named)
        or (_is_folded(source) and _is_distributed(inner, named))
    ):
        return None  # the window is that of the rows below
    return inner


def _query_of(source: exp.Expr) -> exp.Expr | None:
    """The sub-query that stands in FROM, or that WITH has named; other names that it may need go with it."""
    named = named_around(source)
    if isinstance(source, exp.Subquery):
        inner: exp.Expr = source.this
    elif source.name.lower() in named:
        common = named.pop(source.name.lower())
        inner = common.this
        columns = common.args["alias"].columns
        if columns:
            alias = exp.TableAlias(this=exp.to_identifier("renamed"), columns=[column.copy() for column in columns])
            inner = exp.select("*").from_(exp.Subquery(this=inner.copy(), alias=alias))
    else:
        return None
    inner = inner.copy()
    if named and not inner.args.get("with_"):
        inner.set("with_", exp.With(expressions=[common.copy() for common in named.values()]))
    return inner


def _is_over_events(inner: exp.Expr) -> bool:
    """Whether a query tells each event with those before it. LEAD tells it later, with the event that comes next."""
    overs = [over for part in parts_of(inner) for over in frames_in(part)] if isinstance(inner, exp.Select) else []
    return bool(overs) and all(name_of(over.this) != "lead" for over in overs)


def _is_of_function(inner: exp.Expr, named: Named) -> bool:
    """Whether a query chooses among the rows of a function that remembers, which has to see all events in order."""
    inner = inner.unnest()
    if not isinstance(inner, exp.Select) or inner.args.get("from_") is None:
        return False
    source, clause = inner.args["from_"].this, inner.args.get("with_")
    if isinstance(source.this, StreamFunction):
        return True
    named = {**named, **{common.alias.lower(): common for common in (clause.expressions if clause else [])}}
    if isinstance(source, exp.Subquery):
        return _is_of_function(source.this, named)
    found = named.pop(source.name.lower(), None)
    return found is not None and _is_of_function(found.this, named)


def _is_folded(source: exp.Expr) -> bool:
    """Whether a window is folded from panes; where rows come and go, as they do beside other streams, copies do too."""
    window = window_of(source)
    if not isinstance(window, TimeWindow):
        return True
    windows = [node for node in source.root().walk() if node.args.get(STREAM_WINDOW) is not None]
    return window.slide_us is not None and len(windows) == 1


def _is_distributed(tree: exp.Expr, named: Named) -> bool:
    """Whether the rows of a query are copies of events for shards, of which each counts."""
    if tree.find(exp.Distribute) is not None:
        return True
    below = [table.name.lower() for table in tree.find_all(exp.Table)]
    others = {name: {key: common for key, common in named.items() if key != name} for name in below}
    return any(name in named and _is_distributed(named[name].this, others[name]) for name in below)


def _has_window(tree: exp.Expr, named: Named) -> bool:
    """Whether a query answers by windows of its own, or of a query that it reads; WITH may name others."""
    nodes = list(tree.walk(prune=lambda node: isinstance(node, exp.With)))
    if any(node.args.get(key) is not None for node in nodes for key in (STREAM_WINDOW, QUERY_WINDOW)):
        return True
    own = [common for node in nodes if isinstance(node, exp.With) for common in node.expressions]
    named = {**named, **{common.alias.lower(): common for common in own}}
    below = [(node.name.lower(), named.get(node.name.lower())) for node in nodes if isinstance(node, exp.Table)]
    others = {name: {key: common for key, common in named.items() if key != name} for name, _ in below}
    return any(common is not None and _has_window(common.this, others[name]) for name, common in below)


def _names_query(table: exp.Expr) -> bool:
    """Whether WITH has a query of this name here."""
    return table.name.lower() in named_around(table)


def drop_unused(tree: exp.Expr) -> None:
    """Leave out what WITH names and nobody reads any more."""
    for clause in list(tree.find_all(exp.With)):
        read = {table.name.lower() for table in tree.find_all(exp.Table)}
        for common in reversed(clause.expressions):
            if common.alias.lower() not in read:
                common.pop()
        if not clause.expressions:
            clause.pop()


def name_of_made(inner: exp.Expr) -> str:
    """A name for a stream by what it is made of, which no stream of a user has."""
    text = expression_sql(inner)
    return f"#{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _alias(source: exp.Expr) -> exp.Expr:
    """The name that the rest of the query has for a source."""
    alias: exp.Expr | None = source.args.get("alias")
    if alias is not None:
        return alias.copy()
    return exp.TableAlias(this=exp.to_identifier(source.name or "answers", quoted=True))
