"""Words of the text: which one stands here, which one was expected, and what to say when it is another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from sqlglot import Token, TokenType
from sqlglot.errors import ParseError
from sqlglot.parsers.spark import SparkParser

from windrow.errors import QueryError
from windrow.language.spans import Span
from windrow.language.spelling import did_you_mean, listed

_MOST_DIGITS = 38
"""Spark's and Arrow's largest decimals."""


class SyntaxMistakeError(ParseError):
    """What sqlglot's own grammar finds wrong, with the place, before it is told to the user.

    It stays a ParseError because sqlglot tries some readings and takes back those that fail with one.
    """

    def __init__(self, message: str, token: Token | None, before: Token | None) -> None:
        super().__init__(message)
        self.message, self.token, self.before = message, token, before


class TokenParser(SparkParser):
    """Spark's grammar with places in its errors, and the small steps that the other layers are made of."""

    def raise_error(self, message: str, token: Token | None = None) -> NoReturn:
        found = token or self._curr or None
        raise SyntaxMistakeError(message, found, self._prev or None)

    def _fail(self, message: str, token: Token | None = None, hint: str | None = None) -> NoReturn:
        """Stop at `token`, or at the current one, or behind the last one where the text ends."""
        at, end = self._place(token)
        raise QueryError(message, text=self.sql, at=at, end=end, hint=hint)

    def _fail_since(self, index: int, message: str, hint: str | None = None) -> NoReturn:
        """Stop at all that was read since the token of number `index`."""
        at, end = self._span_since(index)
        raise QueryError(message, text=self.sql, at=at, end=end, hint=hint)

    def _fail_expecting(self, words: Iterable[str], after: str = "") -> NoReturn:
        """Stop because none of `words` stands here."""
        known = list(words)
        found = f"found {self._curr.text!r}" if self._curr else "the statement ends"
        where = f" after {after}" if after else ""
        hint = did_you_mean(self._curr.text, known) if self._curr else None
        self._fail(f"expected {listed(known)}{where}, but {found}", hint=hint)

    def _expect(self, *words: str, after: str = "") -> None:
        """Step over these words, each of which has to stand here."""
        for word in words:
            if not self._match_text_seq(word):
                self._fail_expecting([word], after)
            after = word

    def _place(self, token: Token | None = None) -> Span:
        found = token or self._curr
        if found:
            return found.start, found.end + 1
        behind = self._tokens[-1].end + 1 if self._tokens else 0
        return behind, behind + 1

    def _span_since(self, index: int) -> Span:
        return self._tokens[index].start, self._prev.end + 1

    def _word(self) -> str:
        """The current word in capitals; empty where a string, a quoted name or nothing stands here."""
        if not self._curr or self._curr.token_type in self.TEXT_MATCH_EXCLUDED_TOKENS:
            return ""
        return self._curr.text.upper()

    def _check_decimal(self, sizes: list[str], index: int) -> None:
        """A decimal has at most 38 digits, and no more behind the point than in all."""
        counts = [int(size) if size.isdigit() else 0 for size in sizes]
        precision, scale, *more = [*counts, *(10, 0)[len(sizes) :]]
        if more or not (1 <= precision <= _MOST_DIGITS and 0 <= scale <= precision):
            message = f"a DECIMAL has 1 to {_MOST_DIGITS} digits, and no more behind the point than in all"
            self._fail_since(index, message, "DECIMAL(38, 2)")

    def _parse_name(self, what: str) -> tuple[str, Span]:
        """A plain name, in backticks or not, and its place."""
        token = self._curr
        quoted = bool(token) and token.token_type == TokenType.IDENTIFIER
        if not quoted and not self._word().isidentifier():
            found = f"found {token.text!r}" if token else "the statement ends"
            self._fail(f"expected the name of a {what}, but {found}")
        self._advance()
        return token.text, (token.start, token.end + 1)
