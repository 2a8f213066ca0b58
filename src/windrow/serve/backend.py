"""What can be asked of whatever is served: a job on Spark, or queries in replay."""

from __future__ import annotations

from typing import Any, Protocol

import pyarrow as pa

from windrow.current.answers import Answers

Told = dict[str, Any]
"""What is told as JSON."""


class Backend(Protocol):
    """Queries that run somewhere, and their answers. Methods may take a while, and are called in threads of their own.

    They raise WindrowError for whatever a user can mend.
    """

    @property
    def answers(self) -> Answers:
        """The current answers."""

    def job(self) -> Told:
        """What runs: its name, since when, its checkpoint, versions and settings."""

    def overview(self, since: float) -> Told:
        """Streams and queries with their figures now, and the history of these after an instant."""

    def query(self, name: str) -> Told:
        """One query: its text, columns, window, sink, and what is lost when it is dropped."""

    def plan(self) -> Told:
        """What runs, as nodes and edges, and in words."""

    def catalog(self) -> Told:
        """What a query may name: streams and tables with their columns, functions, words."""

    def check(self, text: str) -> list[Told]:
        """The mistakes in a script of queries, each with its place; none where it could be added."""

    def preview(self, text: str) -> Told:
        """The answers of the last query of a script over recent events, by replay; nothing is started."""

    def add(self, text: str) -> list[str]:
        """Run the queries of a script from now on; gives their names."""

    def drop(self, name: str) -> None:
        """Run a query no more."""

    def rejected(self) -> Told:
        """The latest events that no window took, with their causes."""

    def state_at(self, name: str, horizon: str) -> tuple[Told, pa.Table]:
        """What a query with levels holds of the last `horizon`."""

    def indexes(self) -> list[Told]:
        """The window indexes: their keys, columns and windows, and the batch and clock of each."""

    def scan(self, name: str, key: list[tuple[str, str]]) -> tuple[Told, pa.Table]:
        """The events that an index holds of keys that begin with what is given, as a request names it."""

    def ask(self, text: str) -> pa.Table:
        """The rows of a SELECT over what an index holds."""

    def metrics(self) -> str:
        """Figures as Prometheus reads them."""
