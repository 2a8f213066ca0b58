"""`windrow choices`: the table of all ways that can be asked for."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from windrow.compile.choices import CHOICES, LEGEND, choices
from windrow.compile.read_choose import unknown_choice


def print_choices(choice: str | None = None) -> None:
    """A table for each choice, or for one of them."""
    if choice is not None and choice not in choices():
        raise unknown_choice(choice)
    console = Console(highlight=False)
    for name in choices() if choice is None else [choice]:
        table = Table(title=f"choose.{name}", title_justify="left", expand=False)
        for column in ("way", "for", "cost", "source, file"):
            table.add_column(column, overflow="fold")
        for way in CHOICES:
            if way.choice == name:
                table.add_row(way.name, way.use, way.cost, f"{way.source}\n{way.file}")
        console.print(table)
    console.print(LEGEND)
    console.print("Session(choose={...}), session.query(..., choose={...}) or --set choose.NAME=WAY asks for one.")
