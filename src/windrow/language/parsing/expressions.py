"""Spark's expressions, each with its place in the text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sqlglot import exp

from windrow.language.parsing.tokens import SyntaxMistake, TokenParser
from windrow.language.spans import remember_span

E = TypeVar("E", bound=exp.Expr)


class WrongArguments(SyntaxMistake):
    """A function with more or fewer arguments than it takes; its place is known one call further out."""


class ExpressionParser(TokenParser):
    """Notes where every operand, call and column was written.

    sqlglot keeps the places of names and of some literals; a call, CASE, NULL or a parenthesis would have none.
    """

    def _spanned(self, parse: Callable[..., Any], *args: Any, **options: Any) -> Any:
        first = self._curr
        node = parse(*args, **options)
        if isinstance(node, exp.Expr) and first and self._prev and self._prev.end >= first.start:
            remember_span(node, first.start, self._prev.end + 1)
        return node

    def _parse_unary(self) -> exp.Expr | None:
        return self._spanned(super()._parse_unary)

    def _parse_atom(self) -> exp.Expr | None:
        return self._spanned(super()._parse_atom)

    def _parse_primary(self) -> exp.Expr | None:
        return self._spanned(super()._parse_primary)

    def _parse_column(self) -> exp.Expr | None:
        return self._spanned(super()._parse_column)

    def _parse_null(self) -> exp.Expr | None:
        return self._spanned(super()._parse_null)

    def _parse_function_call(self, *args: Any, **options: Any) -> exp.Expr | None:
        name = self._curr
        try:
            return self._spanned(super()._parse_function_call, *args, **options)
        except WrongArguments as mistake:
            if mistake.token is None:
                mistake.message = f"{name.text} does not take {mistake.message}"
                mistake.token = name
            raise

    def validate_expression(self, expression: E, args: list[Any] | None = None) -> E:
        if args is not None and expression.error_messages(args):
            count = "1 argument" if len(args) == 1 else f"{len(args) or 'no'} arguments"
            raise WrongArguments(count, None, None)
        return super().validate_expression(expression, args)
