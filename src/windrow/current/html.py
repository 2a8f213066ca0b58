"""Tables as HTML, for notebooks: every value is escaped, and long ones are cut."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from typing import Any

MOST_ROWS, MOST_TEXT = 20, 60
_CELL = "text-align:{};padding:2px 12px 2px 0;font-variant-numeric:tabular-nums"


def html_table(names: Sequence[str], rows: Iterable[Iterable[Any]], caption: str) -> str:
    """
    >>> "&lt;b&gt;" in html_table(["k"], [["<b>"]], "one row")
    True
    """
    lines = list(rows)
    head = "".join(f'<th style="{_CELL.format("left")}">{html.escape(name)}</th>' for name in names)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in lines[:MOST_ROWS])
    more = f", {len(lines) - MOST_ROWS:,} rows more" if len(lines) > MOST_ROWS else ""
    told = f'<div style="opacity:.7;font-size:90%">{html.escape(caption + more)}</div>'
    return f'<div><table style="border-collapse:collapse"><thead><tr>{head}</tr></thead>{body}</table>{told}</div>'


def _cell(value: Any) -> str:
    side = "right" if isinstance(value, int | float) and not isinstance(value, bool) else "left"
    text = "NULL" if value is None else f"{value:,.6g}" if isinstance(value, float) else str(value)
    short = text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 1]}…"
    return f'<td style="{_CELL.format(side)}">{html.escape(short)}</td>'


class Explained(str):
    """A text that keeps its lines in a notebook, below a picture of what it tells of."""

    draw: Callable[[], str] = str

    @classmethod
    def drawn(cls, text: str, draw: Callable[[], str]) -> Explained:
        """`draw` makes the picture, when somebody looks at it."""
        told = cls(text)
        told.draw = draw
        return told

    def _repr_html_(self) -> str:
        return f"{self.draw()}<pre>{html.escape(self)}</pre>"
