"""Calls of aggregates in a query's text: by which names they are known, and where they stand."""

from __future__ import annotations

from sqlglot import exp

from windrow.plan.bind.bound import Scope
from windrow.plan.nodes.aggregates import FILLED

NAMES: dict[type[exp.Expr], str] = {
    exp.Count: "COUNT",
    exp.CountIf: "COUNT_IF",
    exp.Sum: "SUM",
    exp.Avg: "AVG",
    exp.Min: "MIN",
    exp.Max: "MAX",
    exp.Variance: "VAR_SAMP",
    exp.VariancePop: "VAR_POP",
    exp.Stddev: "STDDEV_SAMP",
    exp.StddevSamp: "STDDEV_SAMP",
    exp.StddevPop: "STDDEV_POP",
    exp.RegrSlope: "REGR_SLOPE",
    exp.RegrIntercept: "REGR_INTERCEPT",
    exp.RegrR2: "REGR_R2",
    exp.Corr: "CORR",
    exp.CovarPop: "COVAR_POP",
    exp.CovarSamp: "COVAR_SAMP",
    exp.First: "FIRST",
    exp.FirstValue: "FIRST",
    exp.Last: "LAST",
    exp.LastValue: "LAST",
    exp.LogicalAnd: "BOOL_AND",
    exp.LogicalOr: "BOOL_OR",
    exp.Median: "MEDIAN",
    exp.Quantile: "QUANTILE",
    exp.Mode: "MODE",
    exp.ArrayAgg: "COLLECT_LIST",
    exp.ApproxDistinct: "APPROX_COUNT_DISTINCT",
    exp.ApproxQuantile: "APPROX_QUANTILE",
    exp.RegrAvgx: "REGR_AVGX",
    exp.RegrAvgy: "REGR_AVGY",
    exp.RegrCount: "REGR_COUNT",
    exp.RegrSxx: "REGR_SXX",
    exp.RegrSxy: "REGR_SXY",
    exp.RegrSyy: "REGR_SYY",
    exp.Skewness: "SKEWNESS",
    exp.Kurtosis: "KURTOSIS",
    exp.ArgMin: "MIN_BY",
    exp.ArgMax: "MAX_BY",
    exp.AnyValue: "ANY_VALUE",
    exp.BitwiseAndAgg: "BIT_AND",
    exp.BitwiseOrAgg: "BIT_OR",
    exp.BitwiseXorAgg: "BIT_XOR",
    exp.ApproxTopK: "APPROX_TOP_K",
}
ALIASES = {"STD": "STDDEV_SAMP", "ANY": "BOOL_OR", "SOME": "BOOL_OR", "MEAN": "AVG"}
ALIASES |= {"MAD": "MAD", "QUANTILE": "QUANTILE", "PERCENTILE": "QUANTILE", "APPROX_QUANTILE": "APPROX_QUANTILE"}
ALIASES |= {"APPROX_PERCENTILE": "APPROX_QUANTILE", "PERCENTILE_APPROX": "APPROX_QUANTILE"}
ALIASES |= {"GEOMETRIC_MEAN": "GEOMETRIC_MEAN", "GEOMEAN": "GEOMETRIC_MEAN", "STRING_AGG": "STRING_AGG"}
ALIASES |= {"LISTAGG": "STRING_AGG"}
ALIASES |= {name: name for name in ("EWMA", "TOPK", "MAP_AGG", "HISTOGRAM_NUMERIC")}
"""Names that the language keeps as they are written."""

RECURRING = "RECURRING"
"""Asks of the levels of a nested window whether each of them holds something."""

WRAPPERS = exp.Filter | exp.IgnoreNulls | exp.RespectNulls


def is_call(node: exp.Expr, scope: Scope) -> bool:
    """Whether `node` calls an aggregate, built in, registered, or not supported yet."""
    if isinstance(node, WRAPPERS):
        return is_call(node.this, scope)
    if isinstance(node, exp.Anonymous):
        known = node.name.upper() in (*ALIASES, *FILLED, RECURRING)
        return known or node.name.lower() in scope.catalog.aggregates
    return isinstance(node, exp.AggFunc)


def unwrapped(call: exp.Expr) -> exp.Expr:
    """The call itself, without FILTER and IGNORE NULLS."""
    while isinstance(call, WRAPPERS):
        call = call.this
    return call


def calls_in(tree: exp.Expr, scope: Scope) -> list[exp.Expr]:
    """The outermost aggregate calls in `tree`, in the order they are written."""
    found, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.Query) and node is not tree:
            continue  # a query within has aggregates of its own
        if isinstance(node, exp.Window):  # of rows, not of groups; what it is of may be a group's
            others = [*(node.args.get("partition_by") or []), *filter(None, [node.args.get("order")])]
            waiting += reversed([*unwrapped(node.this).iter_expressions(), *others])
        elif is_call(node, scope):
            found.append(node)
        else:
            waiting += reversed(list(node.iter_expressions()))
    return found
