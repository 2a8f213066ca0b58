"""CREATE INDEX: a window over a stream, the columns of its key, and those that come along."""

from __future__ import annotations

from sqlglot import TokenType, exp

from windrow.errors import QueryError
from windrow.language.parsing.options import OptionsParser
from windrow.language.spans import Span
from windrow.language.statements import CreateIndex, IndexedColumn
from windrow.language.windows import TimeWindow, window_of


class IndexParser(OptionsParser):
    """Reads `CREATE INDEX name ON stream [RANGE ... SLIDE ...] (keys) INCLUDE (columns)` behind its name."""

    def _parse_window_index(self, name: str, index: int, name_span: Span) -> CreateIndex:
        self._expect("ON", after="the name of the index")
        stream, stream_span = self._parse_name("stream")
        source = exp.Table(this=exp.to_identifier(stream))
        if not self._match(TokenType.L_BRACKET):
            self._fail_expecting(["["], f"the stream {stream!r}")
        begin = self._index - 1
        self._parse_window_of(source)
        window = window_of(source)
        if not isinstance(window, TimeWindow) or window.range_us is None or window.slide_us is None:
            self._fail_since(begin, "an index is over a time window with a slide", "[RANGE 5 MINUTES SLIDE 1 MINUTE]")
        if window.offset_us or window.about or window.emit_every_us is not None:
            message = "the window of an index has a range and a slide, and nothing else"
            self._fail_since(begin, message, "[RANGE 5 MINUTES SLIDE 1 MINUTE]")
        keys = self._parse_indexed("key")
        include = self._parse_indexed("column") if self._match_text_seq("INCLUDE") else ()
        names = [column.name.lower() for column in (*keys, *include)]
        for number, column in enumerate((*keys, *include)):
            if names.index(column.name.lower()) < number:
                message = f"an index has a column only once, and {column.name!r} is there twice"
                raise QueryError(message, text=self.sql, at=column.start, end=column.end)
        by = self._parse_distribution() if self._match(TokenType.DISTRIBUTE_BY) else None
        return CreateIndex(
            *(name, stream, keys, include, window.range_us, window.slide_us),
            distribute=by,
            text=self.sql,
            span=self._span_since(index),
            name_span=name_span,
            stream_span=stream_span,
        )

    def _parse_indexed(self, what: str) -> tuple[IndexedColumn, ...]:
        """Names of columns in parentheses."""
        self._expect("(", after="the window of an index" if what == "key" else "INCLUDE")
        columns: list[IndexedColumn] = []
        while not columns or self._match(TokenType.COMMA):
            name, span = self._parse_name(what)
            columns.append(IndexedColumn(name, *span))
        if not self._match(TokenType.R_PAREN):
            self._fail_expecting([",", ")"], f"the column {columns[-1].name!r}")
        return tuple(columns)
