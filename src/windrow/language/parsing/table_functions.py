"""Windows as Flink writes them: `TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' MINUTES)` in FROM."""

from __future__ import annotations

from typing import Any

from sqlglot import TokenType, exp

from windrow.language.nodes import Duration, SessionStreamWindow, StreamWindow
from windrow.language.parsing.windows import WindowParser
from windrow.language.spans import remember_span, span_of

TIMED_BY = "timed_by"
"""In the meta of a window, the column that it says it is over: it must be the time of its stream."""


def window_by_starts(range_us: int, slide_us: int, start_us: int, timed_by: exp.Expr, *span: int) -> StreamWindow:
    """Windows that begin at multiples of the slide, as in Flink and Spark, `start_us` later; ours end there."""
    offset_us = (range_us + start_us) % slide_us
    parts: dict[str, Any] = {"ranges": [Duration(this=range_us)], "slides": [Duration(this=slide_us)]}
    if offset_us:
        parts["offset"] = Duration(this=offset_us)
    for part in (*parts["ranges"], *parts["slides"], parts.get("offset")):
        if part is not None:
            remember_span(part, *span)
    window = remember_span(StreamWindow(**parts), *span)
    window.meta[TIMED_BY] = timed_by
    return window


def _cumulated(window: StreamWindow, start_us: int) -> StreamWindow:
    """The same that grows step by step; where it begins is then its offset."""
    window.set("cumulate", True)
    window.set("offset", remember_span(Duration(this=start_us), *(span_of(window) or (0, 0))) if start_us else None)
    return window


def session_window(gap_us: int, keys: list[exp.Expr], timed_by: exp.Expr, *span: int) -> SessionStreamWindow:
    """Rows of which none is more than a gap after the one before it, for each of the keys."""
    gap = remember_span(Duration(this=gap_us), *span)
    window = remember_span(SessionStreamWindow(this=gap, **({"partition_by": keys} if keys else {})), *span)
    window.meta[TIMED_BY] = timed_by
    return window


class TableFunctionParser(WindowParser):
    """Reads the table functions of other engines that are windows."""

    def _parse_window_function(self) -> exp.Expr | None:
        """A stream with its window; None where no such function stands here."""
        ahead = [token.text.upper() for token in self._tokens[self._index : self._index + 4]]
        wrapped = ahead[:2] == ["TABLE", "("]
        name, bracket = (ahead[2:4] if wrapped else ahead[:2]) if len(ahead) > (3 if wrapped else 1) else ("", "")
        if name not in ("TUMBLE", "HOP", "CUMULATE", "SESSION") or bracket != "(":
            return None
        if wrapped:
            self._advance(2)
        index = self._index
        self._advance(2)
        if not self._match(TokenType.TABLE):
            self._fail_expecting(["TABLE"], f"{name}(")
        table = exp.Table(this=self._parse_identifier_of("stream"))
        by = self._match(TokenType.PARTITION_BY)
        if by and name != "SESSION":
            self._fail(f"{name} has no keys", hint="GROUP BY, behind FROM")
        keys = self._parse_keys() if by else []
        self._expect(",", after="the stream")
        self._expect("DESCRIPTOR", after="the stream")
        self._expect("(", after="DESCRIPTOR")
        timed_by = exp.Column(this=self._parse_identifier_of("column"))
        self._expect(")", after="the column of DESCRIPTOR")
        lengths: list[int] = []
        while self._match(TokenType.COMMA):
            lengths.append(self._parse_duration("window" if len(lengths) < 2 else "offset", least_us=None).us)
        self._expect(")", after=f"the lengths of {name}")
        window: exp.Expr
        if name == "SESSION":
            if len(lengths) != 1 or lengths[0] <= 0:
                example = "SESSION(TABLE s PARTITION BY k, DESCRIPTOR(ts), INTERVAL '30' MINUTES)"
                self._fail_since(index, "SESSION takes a stream, its time, and a gap", example)
            window = session_window(lengths[0], keys, timed_by, *self._span_since(index))
        else:
            slide_us, range_us, start_us = self._lengths_of(name, lengths, index)
            if name == "CUMULATE" and range_us % slide_us:
                example = "CUMULATE(TABLE s, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES)"
                self._fail_since(index, "the length of CUMULATE is a multiple of its step", example)
            window = window_by_starts(range_us, slide_us, start_us, timed_by, *self._span_since(index))
            if name == "CUMULATE":
                window = _cumulated(window, start_us % range_us)
        table.set("stream_window", window)
        if wrapped:
            self._expect(")", after=name)
        table.set("alias", self._parse_table_alias())
        return remember_span(table, *self._span_since(index))

    def _parse_keys(self) -> list[exp.Expr]:
        """The columns of PARTITION BY, up to the comma before DESCRIPTOR."""
        keys: list[exp.Expr] = [exp.Column(this=self._parse_identifier_of("column"))]
        while self._tokens[self._index + 1].text.upper() != "DESCRIPTOR" and self._match(TokenType.COMMA):
            keys.append(exp.Column(this=self._parse_identifier_of("column")))
        return keys

    def _parse_identifier_of(self, what: str) -> exp.Identifier:
        token = self._curr
        name, span = self._parse_name(what)
        return remember_span(exp.Identifier(this=name, quoted=token.token_type == TokenType.IDENTIFIER), *span)

    def _lengths_of(self, name: str, lengths: list[int], index: int) -> tuple[int, int, int]:
        """Slide, range and where windows begin."""
        wanted = 1 if name == "TUMBLE" else 2
        if not wanted <= len(lengths) <= wanted + 1 or min(lengths[:wanted], default=0) <= 0:
            lacking = {"TUMBLE": "a length", "HOP": "a slide and a length"}.get(name, "a step and a length")
            example = "TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' MINUTES)"
            if name != "TUMBLE":
                example = f"{name}(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '10' MINUTES)"
            self._fail_since(index, f"{name} takes a stream, its time, and {lacking}", example)
        start_us = lengths[wanted] if len(lengths) > wanted else 0
        return (lengths[0], lengths[0], start_us) if name == "TUMBLE" else (lengths[0], lengths[1], start_us)
