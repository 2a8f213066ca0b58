"""Windows as Flink and RisingWave write them: `TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' MINUTES)` in FROM."""

from __future__ import annotations

from typing import Any

from sqlglot import TokenType, exp

from windrow.language.nodes import Duration, SessionStreamWindow, StreamWindow
from windrow.language.parsing.windows import WindowParser
from windrow.language.spans import remember_span, span_of

TIMED_BY = "timed_by"
"""In the meta of a window, the column that it says it is over: it must be the time of its stream."""

_PARAMETERS = {
    "TUMBLE": ("DATA", "TIMECOL", "SIZE", "OFFSET"),
    "HOP": ("DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"),
    "CUMULATE": ("DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"),
    "SESSION": ("DATA", "TIMECOL", "GAP"),
}
"""The arguments of each function in their order, by the names that Flink gives them."""

_LENGTHS = {"TUMBLE": "a length", "HOP": "a slide and a length", "CUMULATE": "a step and a length", "SESSION": "a gap"}


def _example(name: str) -> str:
    lengths = {"TUMBLE": "INTERVAL '10' MINUTES", "SESSION": "INTERVAL '30' MINUTES"}
    keys = " PARTITION BY k" if name == "SESSION" else ""
    default = "INTERVAL '1' MINUTE, INTERVAL '10' MINUTES"
    return f"{name}(TABLE s{keys}, DESCRIPTOR(ts), {lengths.get(name, default)})"


def window_by_starts(
    range_us: int, slide_us: int, start_us: int, timed_by: exp.Expr | None, *span: int
) -> StreamWindow:
    """Windows that begin at multiples of the slide, as in Flink and Spark, `start_us` later; ours end there."""
    offset_us = (range_us + start_us) % slide_us
    parts: dict[str, Any] = {"ranges": [Duration(this=range_us)], "slides": [Duration(this=slide_us)]}
    if offset_us:
        parts["offset"] = Duration(this=offset_us)
    for part in (*parts["ranges"], *parts["slides"], parts.get("offset")):
        if part is not None:
            remember_span(part, *span)
    window = remember_span(StreamWindow(**parts), *span)
    if timed_by is not None:
        window.meta[TIMED_BY] = timed_by
    return window


def _cumulated(window: StreamWindow, start_us: int) -> StreamWindow:
    """The same that grows step by step; where it begins is then its offset."""
    window.set("cumulate", True)
    window.set("offset", remember_span(Duration(this=start_us), *(span_of(window) or (0, 0))) if start_us else None)
    return window


def session_window(gap_us: int, keys: list[exp.Expr], timed_by: exp.Expr | None, *span: int) -> SessionStreamWindow:
    """Rows of which none is more than a gap after the one before it, for each of the keys."""
    gap = remember_span(Duration(this=gap_us), *span)
    window = remember_span(SessionStreamWindow(this=gap, **({"partition_by": keys} if keys else {})), *span)
    if timed_by is not None:
        window.meta[TIMED_BY] = timed_by
    return window


class TableFunctionParser(WindowParser):
    """Reads the table functions of other engines that are windows."""

    def _parse_window_function(self) -> exp.Expr | None:
        """A stream with its window; None where no such function stands here."""
        ahead = [token.text.upper() for token in self._tokens[self._index : self._index + 4]]
        wrapped = ahead[:2] == ["TABLE", "("]
        name, bracket = (ahead[2:4] if wrapped else ahead[:2]) if len(ahead) > (3 if wrapped else 1) else ("", "")
        if name not in _PARAMETERS or bracket != "(":
            return None
        if wrapped:
            self._advance(2)
        index = self._index
        self._advance(2)
        given = self._parse_window_arguments(name)
        self._expect(")", after=f"the arguments of {name}")
        for parameter in ("DATA", "TIMECOL"):
            if parameter not in given:
                self._fail_since(index, f"{name} takes a stream and its time", _example(name))
        table: exp.Expr = given["DATA"][0]
        keys: list[exp.Expr] = given["DATA"][1]
        timed_by, more_keys = given["TIMECOL"]
        lengths = {parameter: given[parameter].us for parameter in _PARAMETERS[name][2:] if parameter in given}
        window = self._window_of(name, lengths, keys + more_keys, timed_by, index)
        table.set("stream_window", window)
        if wrapped:
            self._expect(")", after=name)
        table.set("alias", self._parse_table_alias())
        return remember_span(table, *self._span_since(index))

    def _parse_window_arguments(self, name: str) -> dict[str, Any]:
        """The arguments by their names, which Flink lets a query leave out: in their order then."""
        given: dict[str, Any] = {}
        parameters = _PARAMETERS[name]
        while not given or self._match(TokenType.COMMA):
            named = bool(self._next) and self._next.token_type == TokenType.FARROW
            if named:
                parameter = self._word()
                if parameter not in parameters or parameter in given:
                    self._fail_expecting([word for word in parameters if word not in given], f"{name}(")
                self._advance(2)
            else:
                if len(given) == len(parameters):
                    self._fail(f"{name} takes {len(parameters)} arguments at most", hint=_example(name))
                parameter = parameters[len(given)]
            given[parameter] = self._parse_window_argument(name, parameter)
        return given

    def _parse_window_argument(self, name: str, parameter: str) -> Any:
        if parameter == "DATA":
            self._match(TokenType.TABLE)
            table = self._parse_stream_or_query(name)
            by = self._match(TokenType.PARTITION_BY)
            if by and name != "SESSION":
                self._fail(f"{name} has no keys", hint="GROUP BY, behind FROM")
            return table, self._parse_keys() if by else []
        if parameter == "TIMECOL":
            timed_by, *more = self._parse_descriptor()
            if more:
                self._fail("a stream has one time", hint="DESCRIPTOR(ts)")
            of_keys = name == "SESSION" and self._match(TokenType.COMMA, advance=False)
            keys: list[exp.Expr] = []
            if of_keys and self._next and self._next.text.upper() == "DESCRIPTOR":  # as Calcite writes it
                self._advance()
                keys = self._parse_descriptor()
            return timed_by, keys
        return self._parse_duration("window" if parameter != "OFFSET" else "offset", least_us=None)

    def _parse_stream_or_query(self, name: str) -> exp.Expr:
        """What a window is of: the name of a stream, or a query in brackets, of rows that it chooses."""
        index = self._index
        if not self._match(TokenType.L_PAREN):
            return exp.Table(this=self._parse_identifier_of("stream"))
        query = self._parse_select()
        if not isinstance(query, exp.Query):
            self._fail("expected a stream or a query", hint=_example(name))
        self._expect(")", after="the query")
        return remember_span(exp.Subquery(this=query), *self._span_since(index))

    def _parse_descriptor(self) -> list[exp.Expr]:
        """`DESCRIPTOR(ts)`, or only the name of the column, as RisingWave has it."""
        if self._word() != "DESCRIPTOR":
            return [exp.Column(this=self._parse_identifier_of("column"))]
        self._advance()
        self._expect("(", after="DESCRIPTOR")
        columns: list[exp.Expr] = []
        while not columns or self._match(TokenType.COMMA):
            columns.append(exp.Column(this=self._parse_identifier_of("column")))
        self._expect(")", after="the column of DESCRIPTOR")
        return columns

    def _window_of(
        self, name: str, lengths: dict[str, int], keys: list[exp.Expr], timed_by: exp.Expr, index: int
    ) -> exp.Expr:
        """The window of a function with these lengths, in microseconds."""
        lacking = [word for word in _PARAMETERS[name][2:] if word != "OFFSET" and lengths.get(word, 0) <= 0]
        if lacking:
            least = ", above zero" if all(word in lengths for word in lacking) else ""
            self._fail_since(index, f"{name} takes a stream, its time, and {_LENGTHS[name]}{least}", _example(name))
        span = self._span_since(index)
        if name == "SESSION":
            return session_window(lengths["GAP"], keys, timed_by, *span)
        range_us, start_us = lengths["SIZE"], lengths.get("OFFSET", 0)
        slide_us = lengths.get("SLIDE", lengths.get("STEP", range_us))
        window = window_by_starts(range_us, slide_us, start_us, timed_by, *span)
        if name != "CUMULATE":
            return window
        if range_us % slide_us:
            example = "CUMULATE(TABLE s, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES)"
            self._fail_since(index, "the length of CUMULATE is a multiple of its step", example)
        return _cumulated(window, start_us % range_us)

    def _parse_keys(self) -> list[exp.Expr]:
        """The columns of PARTITION BY, perhaps in brackets, up to the comma before the time."""
        bracket = self._match(TokenType.L_PAREN)
        keys: list[exp.Expr] = [exp.Column(this=self._parse_identifier_of("column"))]
        while self._at_another_key(bool(bracket)):
            self._advance()
            keys.append(exp.Column(this=self._parse_identifier_of("column")))
        if bracket:
            self._expect(")", after="the columns of PARTITION BY")
        return keys

    def _at_another_key(self, bracket: bool) -> bool:
        """Whether a comma stands here that a key follows, and no argument."""
        if not self._match(TokenType.COMMA, advance=False):
            return False
        behind = [token.text.upper() for token in self._tokens[self._index + 1 : self._index + 3]]
        return bracket or not (behind[:1] == ["DESCRIPTOR"] or behind[1:] == ["=>"])

    def _parse_identifier_of(self, what: str) -> exp.Identifier:
        token = self._curr
        name, span = self._parse_name(what)
        return remember_span(exp.Identifier(this=name, quoted=token.token_type == TokenType.IDENTIFIER), *span)
