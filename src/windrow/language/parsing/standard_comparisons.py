"""What standard SQL compares and cuts off in words of its own, as what it means: `= ANY (SELECT ...)` is IN, `(a, b) =
(1, 2)` compares field by field, and FETCH FIRST n ROWS ONLY is LIMIT n."""

from __future__ import annotations

from sqlglot import exp

from windrow.language.balance import balanced
from windrow.language.spans import error_at, remember_span, span_of

_EDGES: dict[type[exp.Expr], type[exp.AggFunc]] = {exp.GT: exp.Min, exp.GTE: exp.Min, exp.LT: exp.Max, exp.LTE: exp.Max}
"""What one of several values has to be compared with: the least, or the greatest."""

_COMPARED = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_MORE = ("group", "having", "qualify", "limit", "offset")


def in_own_words(tree: exp.Expr, text: str) -> exp.Expr:
    """The same query with the comparisons and limits of standard SQL written as the language has them."""
    for node in list(tree.walk()):
        made: exp.Expr | None = None
        if isinstance(node, exp.Fetch):
            made = _limit(node, tree, text)
        elif isinstance(node, _COMPARED) and isinstance(node.expression, exp.Any | exp.All):
            made = _of_several(node, text)
        elif isinstance(node, _COMPARED) and _has_row(node):
            made = _of_rows(node, text)
        elif isinstance(node, exp.In) and isinstance(node.this, exp.Tuple) and node.expressions:
            made = _among_rows(node, text)
        if made is not None:
            span = span_of(node)
            node.replace(remember_span(made, *span) if span else made)
    return tree


def _limit(fetch: exp.Fetch, tree: exp.Expr, text: str) -> exp.Limit:
    asked = fetch.args.get("limit_options")
    count = fetch.args.get("count") or exp.Literal.number(1)
    place = fetch if span_of(fetch) else tree
    if asked is not None and asked.args.get("with_ties"):
        hint = "QUALIFY RANK() OVER (ORDER BY x DESC) <= 10 in place of ORDER BY ... FETCH"
        raise error_at(place, "FETCH ... WITH TIES is not part of the language", text, hint)
    if asked is not None and asked.args.get("percent"):
        raise error_at(place, "FETCH ... PERCENT is not part of the language", text, "ORDER BY ... LIMIT 10")
    return exp.Limit(expression=count)


def _of_several(node: exp.Expr, text: str) -> exp.Expr | None:
    """A comparison with one of the values of a query, or with all of them."""
    value, word = node.this, "ANY" if isinstance(node.expression, exp.Any) else "ALL"
    asked = node.expression.this.unnest()
    equal, unequal = isinstance(node, exp.EQ) and word == "ANY", isinstance(node, exp.NEQ) and word == "ALL"
    if not isinstance(asked, exp.Query):
        return None
    if equal or unequal:
        among = exp.In(this=value.copy(), query=exp.Subquery(this=asked.copy()))
        return exp.Not(this=among) if unequal else among
    edge, chosen = _EDGES.get(type(node)), _chosen(asked)
    if word == "ANY" and edge is not None and chosen is not None and _must_hold(node):
        inner = asked.copy()
        inner.set("expressions", [edge(this=chosen.copy())])
        inner.set("distinct", None)
        return type(node)(this=value.copy(), expression=exp.Subquery(this=inner))
    what = "such a comparison with ANY" if word == "ANY" else "such a comparison with ALL"
    hint = "x > (SELECT MIN(y) FROM ...) for one of them" if word == "ANY" else "x > (SELECT MAX(y) FROM ...) for all"
    raise error_at(node, f"{what} is not part of the language", text, f"{hint}: NULL, if there are none")


def _chosen(query: exp.Expr) -> exp.Expr | None:
    """The one column of a query whose least and greatest value may be asked for in its place."""
    if not isinstance(query, exp.Select) or any(query.args.get(clause) for clause in _MORE) or len(query.selects) != 1:
        return None
    chosen = query.selects[0].unalias()
    return None if chosen.is_star or chosen.find(exp.AggFunc, exp.Window) else chosen


def _must_hold(node: exp.Expr) -> bool:
    """Whether unknown is as good as false for a condition: it lets rows through in WHERE, HAVING or ON."""
    parent = node.parent
    while isinstance(parent, exp.And | exp.Or | exp.Paren):
        parent = parent.parent
    return isinstance(parent, exp.Where | exp.Having)


def _has_row(node: exp.Expr) -> bool:
    return any(isinstance(side, exp.Tuple) for side in (node.this, node.expression))


def _of_rows(node: exp.Expr, text: str) -> exp.Expr:
    """Rows of values are equal field by field; as in Spark, NULL equals NULL in them."""
    one, other = node.this.unnest(), node.expression.unnest()
    if isinstance(one, exp.Query) or isinstance(other, exp.Query):
        hint = "(a, b) IN (SELECT x, y FROM ...)"
        raise error_at(node, "a row of values is compared with a query by IN", text, hint)
    if not isinstance(node, exp.EQ | exp.NEQ | exp.NullSafeEQ):
        hint = "a < 1 OR (a = 1 AND b < 2) is (a, b) < (1, 2)"
        raise error_at(node, "rows of values are equal or not, and none is less than another", text, hint)
    equal = _equal(one, other, node, text)
    return exp.Not(this=exp.paren(equal)) if isinstance(node, exp.NEQ) else exp.paren(equal)


def _among_rows(node: exp.In, text: str) -> exp.Expr:
    return exp.paren(balanced(exp.Or, [exp.paren(_equal(node.this, row, node, text)) for row in node.expressions]))


def _equal(one: exp.Expr, other: exp.Expr, place: exp.Expr, text: str) -> exp.Expr:
    left, right = (row.expressions if isinstance(row, exp.Tuple) else [row] for row in (one, other))
    if len(left) != len(right):
        raise error_at(place, f"a row of {len(left)} is compared with one of {len(right)}", text)
    pairs = zip(left, right)
    return balanced(exp.And, [exp.NullSafeEQ(this=mine.copy(), expression=theirs.copy()) for mine, theirs in pairs])
