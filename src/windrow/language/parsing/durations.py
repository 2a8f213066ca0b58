"""Lengths of time and of rows inside a statement."""

from __future__ import annotations

from sqlglot import TokenType

from windrow.language.durations import DurationError, microseconds, read_duration
from windrow.language.nodes import Duration, RowCount
from windrow.language.parsing.expressions import ExpressionParser
from windrow.language.spans import remember_span

_EXAMPLE = "a number and a unit, such as 10 MINUTES"


class DurationParser(ExpressionParser):
    """Reads `10 MINUTES`, `'10 minutes'`, `INTERVAL 10 MINUTES` and `1000 ROWS`."""

    def _parse_duration(self, what: str, *, least_us: int | None = 1) -> Duration:
        """A length of time, `what` for short; `least_us` is 1 for those that must be positive, None for any."""
        index = self._index
        try:
            length_us = self._parse_microseconds(what)
        except DurationError as error:
            since = self._index - 1 if error.in_unit else index
            self._fail_since(since, error.message, error.hint)
        if least_us is not None and length_us < least_us:
            self._fail_since(index, f"a {what} must {'be positive' if least_us else 'not be negative'}", _EXAMPLE)
        return remember_span(Duration(this=length_us), *self._span_since(index))

    def _parse_microseconds(self, what: str) -> int:
        if self._match(TokenType.INTERVAL) and self._match(TokenType.STRING):
            amount = self._prev.text
            if self._word().isalpha() and amount.strip().replace(".", "").lstrip("-").isdigit():
                self._advance()
                return microseconds(amount.strip(), self._prev.text)
            return read_duration(amount)
        if self._match(TokenType.STRING):
            return read_duration(self._prev.text)
        sign = -1 if self._match(TokenType.DASH) else 1
        if not self._match(TokenType.NUMBER, advance=False):
            found = f"found {self._curr.text!r}" if self._curr else "the statement ends"
            self._fail(f"expected the length of a {what}, but {found}", hint=_EXAMPLE)
        length_us = 0
        while self._match(TokenType.NUMBER):
            amount = self._prev.text
            if not self._word().isalpha():
                raise DurationError(f"the {what} {amount} has no unit", _EXAMPLE)
            self._advance()
            length_us += microseconds(amount, self._prev.text)
        return sign * length_us

    def _parse_row_count(self, what: str) -> RowCount:
        """A number of rows, with or without the word ROWS behind it."""
        index = self._index
        negative = self._match(TokenType.DASH)
        if not self._match(TokenType.NUMBER):
            found = f"found {self._curr.text!r}" if self._curr else "the statement ends"
            self._fail(f"expected the number of rows of a {what}, but {found}")
        number = self._prev.text
        if negative or not number.isdigit() or int(number) == 0:
            self._fail_since(index, f"a {what} in rows must be a positive whole number")
        if self._word() in ("ROWS", "ROW"):
            self._advance()
        return remember_span(RowCount(this=int(number)), *self._span_since(index))

    def _at_row_count(self) -> bool:
        """Whether `50 ROWS` stands here."""
        ahead = self._tokens[self._index + 1 : self._index + 3]
        offset = 1 if self._curr and self._curr.token_type == TokenType.DASH else 0
        return len(ahead) > offset and ahead[offset].text.upper() in ("ROWS", "ROW")
