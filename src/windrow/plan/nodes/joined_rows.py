"""Rows of a stream joined with tables: what is read of the events before, and what is evaluated afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import pyarrow as pa
from sqlglot import exp

from windrow.language import expression_sql, parse_expression


@dataclass(frozen=True, slots=True)
class KeyPair:
    """What must be equal: a row expression over the rows so far, one over the table's columns, and their type."""

    left: str
    right: str
    type: pa.DataType


@dataclass(frozen=True, slots=True)
class TableStep:
    """Each row with its partners in a table; with `kind` left, one without a partner comes with NULLs.

    Column c of the table is called `name.c` in all expressions. Each `residual` must hold of a pair as well.
    """

    table: str
    name: str
    kind: Literal["inner", "left"]
    on: tuple[KeyPair, ...]
    residual: tuple[str, ...] = ()

    def __str__(self) -> str:
        pairs = [f"{pair.left} = {pair.right}" for pair in self.on]
        return f"{self.kind} join with table {self.table} on {' AND '.join([*pairs, *self.residual])}"


@dataclass(frozen=True, slots=True)
class JoinedRows:
    """A stream's rows after some joins with tables, one after the other."""

    steps: tuple[TableStep, ...]

    @property
    def tables(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(step.table for step in self.steps))

    def is_of_table(self, column: str) -> bool:
        """Whether a column is one of a table, not of the stream."""
        return any(column.startswith(f"{step.name}.") for step in self.steps)

    def is_of_stream(self, text: str) -> bool:
        """Whether a row expression reads nothing but the stream's own columns."""
        return not any(self.is_of_table(column) for column in columns_in(text))

    def read_of_events(self, texts: Iterable[str]) -> tuple[str, ...]:
        """What must be known of each event so that its rows can be joined, and `texts` evaluated over them.

        An expression over the stream alone is evaluated before the join: once an event, by the engine. Of one that
        reads a table as well, the stream's columns are needed.
        """
        asked = [text for step in self.steps for text in (*(pair.left for pair in step.on), *step.residual)]
        needed: dict[str, None] = {}
        for text in [*asked, *texts]:
            if self.is_of_stream(text):
                needed[text] = None
            else:
                own = (column for column in columns_in(text) if not self.is_of_table(column))
                needed.update((column_text(column), None) for column in own)
        return tuple(needed)


@lru_cache(maxsize=4096)
def columns_in(text: str) -> tuple[str, ...]:
    """The columns that a row expression reads.

    >>> columns_in("a + `t.b` * a")
    ('a', 't.b')
    """
    found = parse_expression(text).find_all(exp.Column, bfs=False)
    return tuple(dict.fromkeys(column.parts[0].name for column in found))


@lru_cache(maxsize=4096)
def column_text(column: str) -> str:
    """A column as a row expression.

    >>> column_text("x")
    '`x`'
    """
    return expression_sql(exp.column(exp.to_identifier(column, quoted=True)))
