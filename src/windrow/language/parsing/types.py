"""The types of columns, as Spark writes them."""

from __future__ import annotations

from sqlglot import TokenType

from windrow.language.identifiers import identifier_sql
from windrow.language.parsing.queries import QueryParser
from windrow.language.spelling import did_you_mean

_SIMPLE = {
    **{name: name for name in ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "STRING")},
    **{name: name for name in ("BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "VARIANT")},
    **{"BYTE": "TINYINT", "SHORT": "SMALLINT", "INTEGER": "INT", "LONG": "BIGINT", "REAL": "FLOAT"},
    **{"DECIMAL": "DECIMAL", "DEC": "DECIMAL", "NUMERIC": "DECIMAL"},
}
_SIZED = {"DECIMAL": 2, "DEC": 2, "NUMERIC": 2, "CHAR": 1, "CHARACTER": 1, "VARCHAR": 1}
_NESTED = ("ARRAY", "MAP", "STRUCT")
TYPE_NAMES = (*_SIMPLE, "CHAR", "VARCHAR", *_NESTED)


class TypeParser(QueryParser):
    """Reads `DECIMAL(10, 2)` or `MAP<STRING, ARRAY<INT>>` into one canonical text."""

    def _parse_type_sql(self) -> str:
        token, name = self._curr, self._word()
        if not token:
            self._fail("expected the type of a column, but the statement ends")
        if name not in _SIMPLE and name not in _SIZED and name not in _NESTED:
            hint = did_you_mean(token.text, TYPE_NAMES) or f"types: {', '.join(dict.fromkeys(_SIMPLE.values()))}"
            self._fail(f"unknown type {token.text!r}", token, hint)
        self._advance()
        if name in _NESTED:
            return f"{name}<{', '.join(self._parse_type_arguments(name))}>"
        index = self._index - 1
        sizes = self._parse_type_sizes(name) if name in _SIZED else []
        if _SIMPLE.get(name) == "DECIMAL":
            self._check_decimal(sizes, index)
        if name in ("CHAR", "CHARACTER", "VARCHAR") and not sizes:
            self._fail(f"{name} needs a length", token, hint=f"{name}(20), or STRING for any length")
        base = "CHAR" if name == "CHARACTER" else _SIMPLE.get(name, name)
        return f"{base}({', '.join(sizes)})" if sizes else base

    def _parse_type_sizes(self, name: str) -> list[str]:
        sizes: list[str] = []
        if not self._match(TokenType.L_PAREN):
            return sizes
        while not sizes or self._match(TokenType.COMMA):
            if not self._match(TokenType.NUMBER) or not self._prev.text.isdigit() or len(sizes) == _SIZED[name]:
                self._fail(f"{name} takes {'a precision and a scale' if _SIZED[name] == 2 else 'a length'}")
            sizes.append(self._prev.text)
        self._expect(")", after=f"the size of {name}")
        return sizes

    def _parse_type_arguments(self, name: str) -> list[str]:
        self._expect("<", after=name)
        if name == "ARRAY":
            arguments = [self._parse_type_sql()]
        elif name == "MAP":
            arguments = [self._parse_type_sql()]
            self._expect(",", after="the type of the keys")
            arguments.append(self._parse_type_sql())
        else:
            arguments = [self._parse_struct_field()]
            while self._match(TokenType.COMMA):
                arguments.append(self._parse_struct_field())
        self._expect(">", after=f"the types in {name}")
        return arguments

    def _parse_struct_field(self) -> str:
        name, _ = self._parse_name("field")
        self._match(TokenType.COLON)
        return f"{identifier_sql(name)}: {self._parse_type_sql()}"
