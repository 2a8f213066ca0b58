"""A stream on Spark, as a session has registered it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame

from windrow.plan.history import History
from windrow.spark.sources.named_files import NamedFiles


@dataclass(frozen=True, slots=True)
class Topics:
    """Topics of Kafka as Spark's connector is told of them, and a consumer group that learns how far they are read."""

    options: Mapping[str, str]
    group: str | None = None

    @property
    def may_lose(self) -> bool:
        """Whether the stream goes on where messages are gone that it was to read."""
        return self.options.get("failOnDataLoss", "true").lower() == "false"


@dataclass(frozen=True, slots=True)
class Source:
    """A stream on Spark: its rows, when each happened, and the column that holds what could not be read.

    `files` are the names of its files where tasks may read them, or why they may not; None where it is not one of
    files. `time` is the expression that `time_sql` was made of, None where events happen as they arrive. `raw` is an
    expression for an event as it came, where that is not its columns as JSON. `history` is read before it, for what
    happened before `until_us`; `after` says which files those are. `topics` are those of Kafka that it reads.
    """

    frame: DataFrame
    time_sql: str
    corrupt: str | None = None
    files: NamedFiles | str | None = None
    time: str | None = None
    raw: str | None = None
    history: Source | None = None
    after: History | None = None
    topics: Topics | None = None

    @property
    def until_us(self) -> int:
        """The first instant whose events come from here where there is a history."""
        assert self.after is not None
        return self.after.until_us


@dataclass(frozen=True, slots=True)
class Opened:
    """A stream that was opened and is not declared yet: its rows, and as of `Source` the rest.

    `hidden` are columns that no query sees.
    """

    frame: DataFrame
    corrupt: str | None
    files: NamedFiles | str | None
    raw: str | None = None
    hidden: tuple[str, ...] = ()
    topics: Topics | None = None
