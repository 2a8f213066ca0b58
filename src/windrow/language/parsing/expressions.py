"""Spark's expressions, each with its place in the text."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, ClassVar, ParamSpec, TypeVar

from sqlglot import Token, TokenType, exp

from windrow.language.balance import balanced
from windrow.language.long_lists import MANY, Lists, constants_of
from windrow.language.nodes import Constants
from windrow.language.parsing.keep_calls import kept_as_written
from windrow.language.parsing.tokens import SyntaxMistakeError, TokenParser
from windrow.language.spans import remember_span

E = TypeVar("E", bound=exp.Expr)

# sqlglot's own readers of these add a separator that Spark does not, or leave out an argument.
_PLAIN = (
    "PERCENTILE",
    "GROUP_CONCAT",
    "LISTAGG",
    "STRING_AGG",
    "INITCAP",
    "ARG_MAX",
    "ARGMAX",
    "MAX_BY",
    "ARG_MIN",
    "ARGMIN",
    "MIN_BY",
    *("AND", "OR"),  # those are no functions, and with one argument the word would be passed over
)


class WrongArgumentsError(SyntaxMistakeError):
    """A function with more or fewer arguments than it takes."""


P = ParamSpec("P")
T = TypeVar("T")


class ExpressionParser(TokenParser):
    """Notes where every operand, call and column was written, and keeps calls as they were written.

    sqlglot keeps the places of names and of some literals; a call, CASE, NULL or a parenthesis would have none.
    """

    FUNCTIONS: ClassVar[Any] = {
        **TokenParser.FUNCTIONS,
        "PERCENTILE": exp.Quantile.from_arg_list,  # Spark's takes weights, and sqlglot would pass over them
        "EVERY": exp.LogicalAnd.from_arg_list,
        "ANY": exp.LogicalOr.from_arg_list,
        "SOME": exp.LogicalOr.from_arg_list,
    }
    FUNCTION_PARSERS: ClassVar[Any] = {
        name: parse for name, parse in TokenParser.FUNCTION_PARSERS.items() if name not in _PLAIN
    }
    NO_PAREN_FUNCTION_PARSERS: ClassVar[Any] = {
        name: parse for name, parse in TokenParser.NO_PAREN_FUNCTION_PARSERS.items() if name != "ANY"
    }

    # Spark has none of the others: -> stands in a lambda, which is an argument of a function.
    COLUMN_OPERATORS: ClassVar[Any] = {
        word: TokenParser.COLUMN_OPERATORS[word] for word in (TokenType.DOT, TokenType.DCOLON)
    }

    PRIMARY_PARSERS: ClassVar[Any] = {
        **TokenParser.PRIMARY_PARSERS,
        TokenType.RAW_STRING: lambda self, token: exp.Literal.string(token.text),
    }

    def reset(self) -> None:
        super().reset()
        self._calls: list[Token] = []
        self._lists: Lists = {}

    def _spanned(self, parse: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        first = self._curr
        node = parse(*args, **options)
        if isinstance(node, exp.Expr) and first and self._prev and self._prev.end >= first.start:
            remember_span(node, first.start, self._prev.end + 1)
        return node

    def _parse_disjunction(self) -> exp.Expr | None:
        return self._parse_connected(self._parse_conjunction, self.DISJUNCTION, exp.Or)

    def _parse_conjunction(self) -> exp.Expr | None:
        return self._parse_connected(self._parse_equality, self.CONJUNCTION, exp.And)

    def _parse_connected(self, parse: Callable[[], Any], words: Any, kind: type[exp.Connector]) -> exp.Expr | None:
        """Conditions with AND or OR between them, as a tree that is as flat as it can be: they may be thousands."""
        conditions = [parse()]
        while self._match_set(words):
            conditions.append(parse())
            if conditions[-1] is None or conditions[0] is None:
                self.raise_error("unexpected")
        return balanced(kind, conditions)

    def _parse_in(self, this: exp.Expr | None, alias: bool = False) -> exp.In:
        if not self._match(TokenType.L_PAREN, advance=False) or self._next.start not in self._lists:
            return self._with_one_list(super()._parse_in(this, alias))
        self._advance(2)
        index = self._index - 1
        constants = remember_span(Constants(this=self._lists[self._prev.start]), *self._span_since(index))
        self._match_r_paren()
        return self.expression(exp.In(this=this, expressions=[constants]))

    def _with_one_list(self, node: exp.In) -> exp.In:
        """A long list that was read word by word, for a comment in it perhaps, is the same as one that was not."""
        items = node.expressions
        if len(items) >= MANY and all(isinstance(item, exp.Literal | exp.Neg | exp.Null) for item in items):
            constants = constants_of([item.sql(dialect=self.dialect, comments=False) for item in items])
            if constants is not None:
                place = items[0].meta.get("span", (0, 0))[0], items[-1].meta.get("span", (0, 0))[1]
                node.set("expressions", [remember_span(Constants(this=constants), *place)])
        return node

    def _parse_unary(self) -> exp.Expr | None:
        return self._spanned(super()._parse_unary)

    def _parse_type(self, *args: Any, **options: Any) -> exp.Expr | None:
        """An operand; `DATE '2020-01-01'` becomes the node that CAST gives, which is how it is written out."""
        node = super()._parse_type(*args, **options)
        return exp.TryCast(this=node.this, to=node.args["to"]) if type(node) is exp.Cast else node

    def _parse_types(self, *args: Any, **options: Any) -> exp.Expr | None:
        index = self._index
        type = super()._parse_types(*args, **options)
        if isinstance(type, exp.DataType) and type.this == exp.DType.DECIMAL:
            self._check_decimal([parameter.name for parameter in type.expressions], index)
        return type

    def build_cast(self, strict: bool, **parts: Any) -> exp.Expr:
        """A cast; `1.5BD` is one too, of as many digits as are written."""
        cast = super().build_cast(strict, **parts)
        type = cast.args["to"]
        if isinstance(type, exp.DataType) and type.this == exp.DType.DECIMAL:
            self._check_decimal([parameter.name for parameter in type.expressions], self._index - 3)
        return cast

    def _parse_atom(self) -> exp.Expr | None:
        return self._spanned(super()._parse_atom)

    def _parse_primary(self) -> exp.Expr | None:
        """A literal; strings beside each other are one."""
        node = self._spanned(super()._parse_primary)
        if isinstance(node, exp.Concat):
            whole = exp.Literal.string("".join(part.name for part in node.expressions))
            return remember_span(whole, *node.meta["span"])
        return node

    def _parse_column(self) -> exp.Expr | None:
        return self._spanned(super()._parse_column)

    def _replace_lambda(self, node: exp.Expr | None, expressions: list[exp.Expr]) -> exp.Expr | None:
        """Tell the variables of a lambda from columns: they may be written in any case, as columns may."""
        written = {variable.name.lower(): variable.name for variable in expressions}
        for column in node.find_all(exp.Column) if node is not None else ():
            first = column.parts[0]
            first.set("this", written.get(first.name.lower(), first.name))
        return super()._replace_lambda(node, expressions)

    def _parse_interval_span(self, *args: Any, **options: Any) -> exp.Interval:
        interval = super()._parse_interval_span(*args, **options)
        if self._match(TokenType.PLUS, advance=False):
            interval.meta["plus"] = self._index
        return interval

    def _parse_interval(self, require_interval: bool = True, parse_function_unit: bool = True) -> Any:
        """An interval. One of several parts is a sum in brackets: x - INTERVAL 1 DAY 2 HOURS takes away both.

        sqlglot takes a number that is added to an interval for a part of it.
        """
        node = super()._parse_interval(require_interval, parse_function_unit)
        if not isinstance(node, exp.Add):
            return node
        if "plus" in node.this.meta:
            self._retreat(node.this.meta["plus"])
            return node.this
        whole = reduce(lambda sum, part: exp.Add(this=sum, expression=part), list(node.flatten()))
        return exp.paren(whole, copy=False) if require_interval else whole

    def _parse_trim(self) -> exp.Trim:
        """TRIM; BOTH is what it does by itself, and where it takes nothing else it is written without."""
        trim = super()._parse_trim()
        if trim.args.get("position") == "BOTH" and trim.args.get("expression") is None:
            trim.set("position", None)
        return trim

    def _parse_null(self) -> exp.Expr | None:
        return self._spanned(super()._parse_null)

    def _parse_function_call(self, *args: Any, **options: Any) -> exp.Expr | None:
        name = self._curr
        self._calls.append(name)
        try:
            return self._spanned(super()._parse_function_call, *args, **options)
        except (IndexError, KeyError, TypeError, ValueError):
            # sqlglot's builders of functions take their arguments without counting them
            raise WrongArgumentsError(f"{name.text} does not take these arguments", name, None) from None
        finally:
            self._calls.pop()

    def validate_expression(self, expression: E, args: list[Any] | None = None) -> E:
        """Check a node; `args` are given, also when there are none, where it was built from a call."""
        if args is None:
            return super().validate_expression(expression, args)
        if expression.error_messages(args):
            name = self._calls[-1]
            count = f"does not take {len(args)} argument{'s' * (len(args) > 1)}" if args else "needs an argument"
            raise WrongArgumentsError(f"{name.text} {count}", name, None)
        return kept_as_written(expression, self._calls[-1], args, self.dialect)  # type: ignore[return-value]
