"""Rows as lines of CSV, byte for byte as Spark writes them."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from windrow.expressions.columns import normal, over_distinct
from windrow.expressions.types import STRING
from windrow.expressions.write_times import TimePattern
from windrow.spark.sinks.value_texts import number_texts

_SPACE = "".join(map(chr, range(33)))
"""What Spark's writer takes for white space at the ends of a value, and leaves out."""

_COMMENT = "#"
EMPTY = '""'


@dataclass(frozen=True, slots=True)
class CsvText:
    """How values become fields: Spark's options of the same names, and a pattern for each column of times."""

    sep: str = ","
    quote: str = '"'
    escape: str = "\\"
    null_value: str = ""
    header: bool = False
    times: tuple[TimePattern | None, ...] = ()

    def lines(self, rows: pa.Table) -> pa.Array:
        """A line for each row, with its end."""
        fields = [
            self._fields(normal(column), pattern, first=number == 0)
            for number, (column, pattern) in enumerate(zip(rows.columns, self.times, strict=True))
        ]
        return pc.binary_join_element_wise(pc.binary_join_element_wise(*fields, self.sep), "\n", "")

    def head(self, names: list[str]) -> str:
        """The line of names."""
        return self.sep.join(self.field(name, first=number == 0) for number, name in enumerate(names)) + "\n"

    def field(self, text: str, *, first: bool = False) -> str:
        """A text as a field: what must be quoted is seen before the white space at its end is left out.

        The first of a line may not look like the beginning of a comment.

        >>> CsvText().field('a "b"'), CsvText().field(" a "), CsvText().field("a\\n")
        ('"a \\\\"b\\\\""', 'a', '"a"')
        """
        comment = first and text.startswith(_COMMENT)
        text = text.lstrip(_SPACE)
        if not text:
            return EMPTY
        if not comment and not any(mark in text for mark in (self.sep, self.quote, "\n", "\r")):
            return text.rstrip(_SPACE)
        text = text.rstrip(_SPACE)
        if self.escape != self.quote:
            text = text.replace(self.escape, self.escape * 2)
        return f"{self.quote}{text.replace(self.quote, self.escape + self.quote)}{self.quote}"

    def _fields(self, array: pa.Array, pattern: TimePattern | None, *, first: bool) -> pa.Array:
        if pattern is not None:
            texts = pattern.write(array)
        elif array.type == STRING:
            texts = array
        else:
            texts = number_texts(array)
        if (array.type == STRING or pattern is not None) and not self._all_plain(texts):
            texts = over_distinct(lambda text: self.field(text, first=first), texts, STRING)
        return pc.fill_null(texts, self.null_value)

    def _all_plain(self, texts: pa.Array) -> bool:
        """Whether all texts are their own fields."""
        marks = "".join(f"\\x{{{ord(mark):x}}}" for mark in (self.sep, self.quote, self.escape))
        odd = rf"^[\x00-\x20{_COMMENT}]|[\x00-\x20]$|^$|[\n\r{marks}]"
        return not pc.any(pc.match_substring_regex(texts, odd)).as_py()
