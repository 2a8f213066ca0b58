"""What function a syntax node calls, by Spark's name, and with which arguments."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from sqlglot import exp

from windrow.errors import NotSupportedYet
from windrow.language import expression_sql, parse_expression

Call = tuple[str, list[exp.Expr]]

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "div",
    exp.Mod: "%",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
    exp.EqualNull: "<=>",
    exp.And: "and",
    exp.Or: "or",
    exp.Not: "not",
    exp.Neg: "negative",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
    exp.BitwiseNot: "~",
    exp.BitwiseLeftShift: "shiftleft",
    exp.BitwiseRightShift: "shiftright",
    exp.BitwiseCount: "bit_count",
    exp.DPipe: "||",
    exp.RegexpLike: "rlike",
    exp.SafeAdd: "try_add",
    exp.SafeSubtract: "try_subtract",
    exp.SafeMultiply: "try_multiply",
    exp.SafeDivide: "try_divide",
}
# Functions whose arguments sqlglot keeps in Spark's order, under a name of its own.
_RENAMED: dict[type[exp.Expr], str] = {
    exp.ArraySize: "size",
    exp.JSONFormat: "to_json",
    exp.ToBase64: "base64",
    exp.BitLength: "bit_length",
    exp.Format: "format_string",
    exp.MD5: "md5",
    exp.TimestampFromParts: "make_timestamp",
    exp.Pow: "power",
    exp.DayOfWeek: "dayofweek",
    exp.DayOfMonth: "dayofmonth",
    exp.DayOfYear: "dayofyear",
    exp.WeekOfYear: "weekofyear",
    exp.LastDay: "last_day",
    exp.IsNan: "isnan",
    exp.StartsWith: "startswith",
    exp.EndsWith: "endswith",
    exp.ConcatWs: "concat_ws",
    exp.AddMonths: "add_months",
    exp.UnixDate: "unix_date",
    exp.UnixMicros: "unix_micros",
    exp.UnixMillis: "unix_millis",
    exp.UnixSeconds: "unix_seconds",
    exp.DateFromUnixDate: "date_from_unix_date",
}
# What sqlglot takes apart: formats of times, JSON paths, and arguments that it turns round or leaves out.
_TAKEN_APART = (
    *(exp.StrToTime, exp.StrToUnix, exp.TimeToStr, exp.UnixToStr, exp.TsOrDsToDate, exp.TsOrDsToTimestamp),
    *(
        exp.JSONExtractScalar,
        exp.JSONExtract,
        exp.RegexpExtract,
        exp.RegexpExtractAll,
        exp.RegexpReplace,
        exp.RegexpSplit,
    ),
    *(exp.ArraySort, exp.ArraySlice, exp.VarMap, exp.TimestampAdd, exp.TimestampDiff, exp.DateDiff, exp.ArrayToString),
)
_BY_UNIT = {"dateadd": "timestampadd", "date_add": "timestampadd", "timestampadd": "timestampadd"}
_BY_UNIT |= {"datediff": "timestampdiff", "date_diff": "timestampdiff", "timestampdiff": "timestampdiff"}
_MARK = "as_written_"


def call_of(node: exp.Expr) -> Call:
    """The name and the arguments of the call that `node` stands for.

    >>> import sqlglot
    >>> name, arguments = call_of(sqlglot.parse_one("POSITION('x' IN a)", read="spark"))
    >>> name, [argument.sql() for argument in arguments]
    ('locate', ["'x'", 'a'])
    """
    if special := _SPECIAL.get(type(node)):
        return special(node)
    if isinstance(node, _TAKEN_APART):
        return _with_unit(*as_written(node))
    if isinstance(node, exp.Anonymous):
        name, arguments = node.name.lower(), node.expressions
        if name in ("date_part", "datepart") and len(arguments) == 2 and arguments[0].is_string:
            return _part(arguments[0].name, arguments[1])
        return _with_unit(name, arguments)
    known = _OPERATORS.get(type(node)) or _RENAMED.get(type(node))
    return known or (node.sql_name() if isinstance(node, exp.Func) else type(node).__name__).lower(), _given(node)


def _with_unit(name: str, arguments: list[exp.Expr]) -> Call:
    """The call with the unit, which is written like a column, as a text; such calls have other names here."""
    if name in _BY_UNIT and len(arguments) == 3:
        return _BY_UNIT[name], [exp.Literal.string(arguments[0].name), *arguments[1:]]
    return name, arguments


def _given(node: exp.Expr) -> list[exp.Expr]:
    arguments: list[exp.Expr] = []
    for key in node.arg_types:
        value = node.args.get(key)
        arguments += value if isinstance(value, list) else [value] if isinstance(value, exp.Expr) else []
    return arguments


def _named(node: exp.Expr, name: str, *keys: str) -> Call:
    """The call with the arguments at `keys`, as far as they are given; any other would be lost."""
    unknown = [key for key, value in node.args.items() if isinstance(value, exp.Expr) and key not in keys]
    if unknown:
        raise NotSupportedYet(f"replay does not evaluate {name} with {', '.join(unknown)}")
    return name, [node.args[key] for key in keys if node.args.get(key) is not None]


def _trim(node: exp.Expr) -> Call:
    side = (node.args.get("position") or "BOTH").upper()
    if side == "BOTH":
        return _named(node, "trim", "this", "expression")
    return _named(node, {"LEADING": "ltrim", "TRAILING": "rtrim"}[side], "expression", "this")


def _days_added(node: exp.Expr) -> Call:
    if node.text("unit").upper() != "DAY":
        raise NotSupportedYet(f"replay does not evaluate {node.sql('spark')}")
    return "date_add", [node.this, node.expression]


def as_written(node: exp.Expr) -> Call:
    """The call with its arguments as Spark would read them.

    >>> from windrow.language import parse_expression
    >>> name, arguments = as_written(parse_expression("date_format(ts, 'yyyy-MM')"))
    >>> name, arguments[1].name
    ('date_format', 'yyyy-MM')
    """
    if node.find_ancestor(exp.Lambda) is not None:
        node = node.copy()
        for variable in [found for found in node.find_all(exp.Identifier) if _is_variable(found)]:
            # Its field would be read as a column of a stream of that name.
            variable.replace(exp.paren(exp.column(variable.copy()), copy=False))
    return _read_again(expression_sql(node))


def _is_variable(name: exp.Identifier) -> bool:
    """Whether a name inside of a lambda stands for a value, and is not a part of a longer name or of a declaration."""
    if name.arg_key in ("alias", "expressions") or isinstance(name.parent, exp.Column | exp.DataType):
        return False
    return not isinstance(name.parent, exp.Dot if name.arg_key == "expression" else exp.PropertyEQ)


@lru_cache(maxsize=1024)
def _read_again(text: str) -> Call:
    call = parse_expression(_MARK + text)
    if not isinstance(call, exp.Anonymous):
        raise NotSupportedYet(f"replay does not evaluate {text}")
    return call.name.removeprefix(_MARK).lower(), call.expressions


_PARTS = {name: name for name in ("year", "quarter", "month", "day", "dayofweek", "hour", "minute")}
_PARTS |= {"week": "weekofyear", "dow": "dayofweek", "doy": "dayofyear", "second": "second_part"}


def _part(part: str, of: exp.Expr) -> Call:
    name = part.lower()
    if name not in _PARTS:
        hint = "UNIX_TIMESTAMP(ts)" if name == "epoch" else None
        raise NotSupportedYet(f"replay does not evaluate extract of {name}", hint=hint)
    return _PARTS[name], [of]


def _unit_first(node: exp.Expr) -> Call:
    return "date_trunc", [exp.Literal.string(node.text("unit")), node.this]


_SPECIAL: dict[type[exp.Expr], Callable[[exp.Expr], Call]] = {
    exp.If: lambda node: ("if", [node.this, node.args["true"], node.args.get("false") or exp.Null()]),
    exp.NullSafeNEQ: lambda node: ("not", [exp.NullSafeEQ(this=node.this, expression=node.expression)]),
    exp.Trim: _trim,
    exp.StrPosition: lambda node: _named(node, "locate", "substr", "this", "position"),
    exp.Pad: lambda node: _named(
        node, "lpad" if node.args.get("is_left") else "rpad", "this", "expression", "fill_pattern"
    ),
    exp.TsOrDsAdd: _days_added,
    exp.Overlay: lambda node: _named(node, "overlay", "this", "expression", "from_", "for_"),
    exp.TimestampTrunc: _unit_first,
    exp.DateTrunc: lambda node: _named(node, "trunc", "this", "unit"),
    exp.Extract: lambda node: _part(node.name, node.expression),
}
