"""What the columns of row expressions are called on their way to the slicers."""

from __future__ import annotations


def expression_column(number: int) -> str:
    """The name of the column that holds row expression `number` of a stream's plan."""
    return f"e{number}"
