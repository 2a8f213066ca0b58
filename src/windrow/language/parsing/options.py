"""What CREATE statements share: columns, a format and its options."""

from __future__ import annotations

from typing import Any

from sqlglot import TokenType

from windrow.language.parsing.types import TypeParser
from windrow.language.statements import After, ColumnDefinition, Options

_VALUES = (TokenType.STRING, TokenType.NUMBER, TokenType.TRUE, TokenType.FALSE)


class OptionsParser(TypeParser):
    """Reads `(ts TIMESTAMP, price DOUBLE) USING parquet OPTIONS (path 'data/ticks')`."""

    def _parse_columns(self) -> tuple[ColumnDefinition, ...]:
        if not self._match(TokenType.L_PAREN):
            return ()
        columns: list[ColumnDefinition] = []
        while not columns or self._match(TokenType.COMMA):
            index = self._index
            name, span = self._parse_name("column")
            if any(name.lower() == column.name.lower() for column in columns):
                self._fail_since(index, f"two columns are named {name!r}")
            kind, metadata = self._parse_type_sql(), self._parse_metadata(name)
            columns.append(ColumnDefinition(name, kind, metadata, span[0], self._prev.end + 1))
        if not self._match(TokenType.R_PAREN):
            self._fail_expecting([",", ")"], f"the column {columns[-1].name!r}")
        return tuple(columns)

    def _parse_metadata(self, name: str) -> str | None:
        """What of a message a column is, where it is not in it: `METADATA`, perhaps `FROM 'timestamp'`."""
        if not self._match_text_seq("METADATA"):
            return None
        if not self._match(TokenType.FROM):
            return name
        if not self._match(TokenType.STRING):
            self._fail("expected what the column is of a message", hint="METADATA FROM 'timestamp'")
        return self._prev.text

    def _parse_message(self) -> dict[str, Any]:
        """`FORMAT json`, perhaps with OPTIONS of its own: what messages are."""
        if self._word() != "FORMAT":
            return {}
        self._advance()
        message = self._parse_name("format")[0].lower()
        return {"message": message, "message_options": self._parse_options()}

    def _parse_history(self) -> After:
        """What stands behind AFTER: files, and the instant up to which they have all events."""
        index = self._index
        format, options = self._parse_name("format")[0], self._parse_options()
        self._expect("UNTIL", after="the files of AFTER")
        if not self._match(TokenType.STRING):
            self._fail("expected the instant from which on the stream itself is read", hint="UNTIL '2026-11-16 00:00'")
        return After(format.lower(), options, self._prev.text, self._span_since(index))

    def _parse_format(self, name: str) -> str:
        """A short name such as parquet, or the full name of a data source's class."""
        if self._word() != "USING":
            self._fail_expecting(["USING"], repr(name))
        self._advance()
        parts = [self._parse_name("format")[0]]
        while self._match(TokenType.DOT):
            parts.append(self._parse_name("format")[0])
        return ".".join(parts)

    def _parse_options(self) -> Options:
        if not self._match_text_seq("OPTIONS"):
            return ()
        self._expect("(", after="OPTIONS")
        options: dict[str, str] = {}
        while not options or self._match(TokenType.COMMA):
            index = self._index
            key = self._parse_option_key()
            if key in options:
                self._fail_since(index, f"the option {key!r} is given twice")
            options[key] = self._parse_option_value(key)
        if not self._match(TokenType.R_PAREN):
            self._fail_expecting([",", ")"], "an option")
        return tuple(options.items())

    def _parse_option_key(self) -> str:
        if self._match(TokenType.STRING):
            return self._prev.text
        parts = [self._parse_name("option")[0]]
        while self._match(TokenType.DOT):
            parts.append(self._parse_name("option")[0])
        return ".".join(parts)

    def _parse_option_value(self, key: str) -> str:
        self._match(TokenType.EQ)
        sign = "-" if self._match(TokenType.DASH) else ""
        if not self._match_set(_VALUES[1:2] if sign else _VALUES):
            self._fail(f"expected the value of the option {key!r}", hint=f"{key} 'value'")
        word = self._prev.token_type in (TokenType.TRUE, TokenType.FALSE)
        return sign + (self._prev.text.lower() if word else self._prev.text)
