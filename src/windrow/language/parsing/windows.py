"""A window in brackets behind a stream's name."""

from __future__ import annotations

from math import isinf
from typing import Any

from sqlglot import TokenType, exp

from windrow.language.durations import UNIT_WORDS
from windrow.language.nodes import Months, PredicateStreamWindow, SessionStreamWindow, StreamWindow, Unbounded
from windrow.language.parsing.durations import DurationParser
from windrow.language.parsing.refuse_windows import refuse_window
from windrow.language.spans import remember_span

_REACHES = ("RANGE", "ROWS", "RANGES", "FROM", "SESSION", "PARTITION BY")
_CLAUSES = ("SLIDE", "SLIDES", "OFFSET", "CUMULATE", "IN", "EMIT", "AGING")
_TUMBLING = "[RANGE 10 MINUTES SLIDE 10 MINUTES]"
_HOPPING = "[RANGE 10 MINUTES SLIDE 5 MINUTES]"
_MEANT = {
    **dict.fromkeys(("TUMBLE", "TUMBLING", "TIME_BATCH"), _TUMBLING),
    **dict.fromkeys(("HOP", "HOPPING", "SIZE", "STEP", "ADVANCE", "EVERY", "HOPS"), _HOPPING),
    **dict.fromkeys(("LAST", "SLIDING", "TIME", "UNBOUNDED", "NOW"), "[RANGE 10 MINUTES], [RANGE UNBOUNDED]"),
    "LENGTH": "[ROWS 100]",
    "PRECEDING": "a window ends now: [RANGE 10 MINUTES SLIDE 5 MINUTES]",
}
"""What to write for words that other languages have there."""

_MONTHS = {"MONTH": 1, "MONTHS": 1, "QUARTER": 3, "QUARTERS": 3, "YEAR": 12, "YEARS": 12}


class WindowParser(DurationParser):
    """Reads `[RANGE 10 MINUTES SLIDE 2 MINUTES]` and every other kind of window."""

    def _parse_bracket(self, this: exp.Expr | None = None) -> exp.Expr | None:
        """A bracket behind a table is its window; everywhere else it is Spark's subscript."""
        if not isinstance(this, exp.Table) or not self._match(TokenType.L_BRACKET):
            return super()._parse_bracket(this)
        self._parse_window_of(this)
        return this

    def _parse_window_of(self, source: exp.Expr) -> None:
        """The window of a stream or a sub-query, whose first bracket has been read."""
        index = self._index - 1
        window = self._parse_stream_window()
        if not self._match(TokenType.R_BRACKET):
            if window.args.get("rows") and self._prev.token_type == TokenType.NUMBER and self._word() in UNIT_WORDS:
                self._fail("ROWS counts rows", hint="a length of time is a RANGE")
            if self._word() in _MEANT:
                self._fail(f"a window has no {self._word()}", hint=_MEANT[self._word()])
            self._fail_expecting([*self._missing_clauses(window), "]"])
        remember_span(window, *self._span_since(index))
        refuse_window(window, self.sql)
        source.set("stream_window", window)

    def _parse_predicate_window(self, keys: list[exp.Expr] | None) -> exp.Expr:
        opens = self._parse_condition_of("FROM")
        self._expect("UNTIL", after="the condition of FROM")
        parts: dict[str, Any] = {"this": opens, "expression": self._parse_condition_of("UNTIL")}
        keys = self._parse_keys_of_window(keys)
        return PredicateStreamWindow(**({"partition_by": keys} if keys else {}), **parts, **self._parse_every())

    def _parse_keys_of_window(self, known: list[exp.Expr] | None = None) -> list[exp.Expr] | None:
        """PARTITION BY, first in a window or behind what it reaches."""
        if not self._match(TokenType.PARTITION_BY):
            return known
        if known:
            self._fail("a window has only one PARTITION BY", self._prev)
        keys: list[exp.Expr] = self._parse_csv(self._parse_disjunction)
        return keys

    def _parse_every(self) -> dict[str, Any]:
        """EMIT EVERY, where it may follow."""
        if not self._match_text_seq("EMIT"):
            return {}
        self._expect("EVERY", after="EMIT")
        return {"emit_every": self._parse_duration("period of EMIT EVERY")}

    def _parse_condition_of(self, word: str) -> exp.Expr:
        condition = self._parse_disjunction()
        if condition is None:
            self._fail(f"expected a condition after {word}")
        return condition

    def _parse_stream_window(self) -> exp.Expr:
        parts: dict[str, Any] = {}
        if keys := self._parse_keys_of_window():
            parts["partition_by"] = keys
        if self._match(TokenType.FROM):
            return self._parse_predicate_window(parts.get("partition_by"))
        if self._word() == "SESSION":
            self._advance()
            gap = self._parse_duration("gap of SESSION")
            if keys := self._parse_keys_of_window(parts.get("partition_by")):
                parts["partition_by"] = keys
            if self._word() == "IN":
                hint = "leave it out: a session goes by the gaps between its events, which are the same in all zones"
                self._fail("a session is not of a time zone", hint=hint)
            return SessionStreamWindow(this=gap, **parts, **self._parse_every())
        reach = self._word()
        if reach not in ("RANGE", "RANGES", "ROWS"):
            if reach in _MEANT or self._match(TokenType.NUMBER, advance=False):
                self._fail(f"a window does not begin with {self._curr.text!r}", hint=_MEANT.get(reach, _MEANT["LAST"]))
            self._fail_expecting(_REACHES[:5] if parts else _REACHES)
        self._advance()
        parts["rows"] = reach == "ROWS" or None
        parts["ranges"] = self._parse_lengths("range", rows=reach == "ROWS", several=reach != "RANGE")
        parts["nested"] = reach == "RANGES" or len(parts["ranges"]) > 1 or self._word() == "SLIDES" or None
        while self._word() in _CLAUSES or self._match(TokenType.PARTITION_BY, advance=False):
            if self._match(TokenType.PARTITION_BY, advance=False):
                parts["partition_by"] = self._parse_keys_of_window(parts.get("partition_by"))
            else:
                self._parse_window_clause_into(parts)
        return StreamWindow(**{name: part for name, part in parts.items() if part is not None})

    def _parse_window_clause_into(self, parts: dict[str, Any]) -> None:
        word = self._word()
        name = {"SLIDE": "slides", "SLIDES": "slides", "EMIT": "emit_every", "IN": "zone"}.get(word, word.lower())
        if name in parts:
            self._fail(f"a window has only one {word}")
        if word == ("SLIDE" if parts["nested"] else "SLIDES"):
            meant = "SLIDES" if parts["nested"] else "SLIDE"
            self._fail(f"expected {meant}, but found {word!r}", hint="RANGES go with SLIDES, RANGE with SLIDE")
        self._advance()
        if name == "slides":
            parts["about"] = self._match_text_seq("ABOUT") or None
            parts[name] = self._parse_lengths("slide", rows=bool(parts["rows"]), several=bool(parts["nested"]))
        elif name == "offset":
            offset = self._parse_duration("offset", least_us=None)
            parts[name] = offset if offset.us else None
        elif name == "cumulate":
            parts[name] = True
        elif name == "zone":
            parts[name] = self._parse_zone()
        elif name == "emit_every":
            self._expect("EVERY", after="EMIT")
            parts[name] = self._parse_duration("period of EMIT EVERY")
        else:
            parts[name] = self._parse_weights()

    def _parse_lengths(self, what: str, *, rows: bool, several: bool) -> list[exp.Expr]:
        lengths = [self._parse_length(what, rows=rows)]
        while self._match(TokenType.COMMA, advance=False):
            if not several:
                self._fail(f"a window has one {what}", hint="nested levels are written RANGES ... SLIDES ...")
            self._advance()
            lengths.append(self._parse_length(what, rows=rows))
        return lengths

    def _parse_length(self, what: str, *, rows: bool) -> exp.Expr:
        start = self._curr
        if what == "range" and self._match_text_seq("UNBOUNDED"):
            return remember_span(Unbounded(), start.start, start.end + 1)
        if self._at_row_count() or (rows and (what == "range" or self._at_bare_number())):
            if what == "range" and not rows:
                self._fail("a RANGE is a length of time", hint="a window of so many rows is written ROWS 1000")
            return self._parse_row_count(what)
        if self._next and self._match(TokenType.NUMBER, advance=False) and self._next.text.upper() in _MONTHS:
            return self._parse_months(what)
        return self._parse_duration(what)

    def _parse_months(self, what: str) -> Months:
        """A length of the calendar, such as 3 MONTHS or 1 YEAR."""
        index, amount = self._index, self._curr.text
        self._advance(2)
        if not amount.isdigit() or not 0 < int(amount) <= 120_000:
            self._fail_since(index, f"a {what} of the calendar is a whole number from 1", "such as 1 MONTH")
        months = Months(this=int(amount) * _MONTHS[self._prev.text.upper()])
        return remember_span(months, *self._span_since(index))

    def _parse_zone(self) -> exp.Expr:
        if not self._match(TokenType.STRING):
            self._fail("expected the name of a time zone in quotes after IN", hint="IN 'Europe/Berlin'")
        return remember_span(exp.Literal.string(self._prev.text), *self._span_since(self._index - 1))

    def _at_bare_number(self) -> bool:
        """Whether a number without a unit stands here, which counts rows in a window of rows."""
        if self._match(TokenType.DASH, advance=False):
            return True
        unit = self._next.text.upper() if self._next else ""
        return self._match(TokenType.NUMBER, advance=False) and (not unit.isalpha() or unit in _CLAUSES)

    def _parse_weights(self) -> list[exp.Expr]:
        self._expect("(", after="AGING")
        weights: list[exp.Expr] = []
        while not weights or self._match(TokenType.COMMA):
            if not self._match(TokenType.NUMBER) or isinf(float(self._prev.text)):
                self._fail("expected a weight, a number that is not negative", hint="such as AGING (1, 0.5)")
            weights.append(exp.Literal.number(self._prev.text))
        self._expect(")", after="the weights")
        return weights

    def _missing_clauses(self, window: exp.Expr) -> list[str]:
        if not isinstance(window, StreamWindow):
            return []
        slide = "SLIDES" if window.args.get("nested") else "SLIDE"
        return [] if window.args.get("slides") else [slide]
