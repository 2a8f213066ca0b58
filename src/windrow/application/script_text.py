"""The text of a script, and where its mistakes stand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from windrow.errors import QueryError, SettingsError
from windrow.language import CreateSink, CreateStream, CreateTable

Span = tuple[int, int]

Created = CreateStream | CreateTable | CreateSink


@dataclass(frozen=True, slots=True)
class ScriptText:
    """Makes errors that show the place in the script that caused them."""

    text: str

    def written(self, word: str | None, statement: Created) -> Span:
        """Where a word of a statement stands behind its name, or else the name."""
        begin, end = statement.name_span[1], statement.span[1]
        place = -1 if word is None else self.text.find(word, begin, end)
        return statement.name_span if word is None or place < 0 else (place, place + len(word))

    @contextmanager
    def placed(self, span: Span, statement: Created | None = None) -> Iterator[None]:
        """Gives an error that knows no place the place in the script that caused it.

        One that concerns an option of the `statement` is placed there, if it is written in it.
        """
        try:
            yield
        except SettingsError as error:
            message, _, way_out = str(error).partition("\nhint: ")
            if statement is not None and error.concerns is not None:
                found = self.written(f"'{error.concerns}'", statement)
                span = span if found == statement.name_span else found
            raise self.error(message, span, way_out or None) from None

    def error(self, message: str, span: Span, hint: str | None = None) -> QueryError:
        return QueryError(message, text=self.text, at=span[0], end=span[1], hint=hint)
