"""The indexes of a job, asked from outside: read as they are published, never from state."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import pyarrow as pa

from windrow.errors import SettingsError
from windrow.indexes.facts import IndexFacts
from windrow.indexes.published import MANIFEST, PublishedIndex
from windrow.places.place import Place
from windrow.spark.job.file_names import file_name

INDEXES = "indexes"


def index_folder(checkpoint: Place, name: str) -> Place:
    """Where a job publishes an index."""
    return checkpoint / INDEXES / file_name(name)


def published_index(checkpoint: Place, name: str) -> PublishedIndex:
    """An index that is in a checkpoint; refuses one that is not."""
    folder = index_folder(checkpoint, name)
    if not folder.is_folder():
        there = ", ".join(sorted((checkpoint / INDEXES).names()))
        known = f"there are {there}" if there else "CREATE INDEX name ON stream [RANGE ... SLIDE ...] (columns)"
        raise SettingsError(f"there is no index {name!r} in {checkpoint}\nhint: {known}")
    return PublishedIndex(folder)


class JobIndexes:
    """The indexes of one job, each opened once."""

    def __init__(
        self,
        checkpoint: Place,
        ask: Callable[..., pa.Table],
        aggregate: Callable[..., Any],
        running: Callable[[], Collection[str]],
    ) -> None:
        """`ask` and `aggregate` answer SQL over what an index finds; `running` are the names of what runs."""
        self._checkpoint, self._ask, self._aggregate, self._running = checkpoint, ask, aggregate, running
        self._open: dict[str, PublishedIndex] = {}

    def named(self, name: str) -> PublishedIndex:
        if name not in self._open:
            self._open[name] = self._published(name)
        if name not in self._running():  # its files may lie there still, as they were in its last batch
            raise SettingsError(f"the index {name!r} was dropped\nhint: windrow resume DIR {name} brings it back")
        return self._open[name]

    def _published(self, name: str) -> PublishedIndex:
        if name in self._running() and not index_folder(self._checkpoint, name).is_folder():
            hint = f"if {name} is an index and no query, it is there when the job has finished its first batch"
            raise SettingsError(f"there is no index {name!r} in {self._checkpoint} yet\nhint: {hint}")
        return published_index(self._checkpoint, name)

    def all(self) -> list[PublishedIndex]:
        """Those that run and have been published."""
        folders = sorted(str(file_name(name)) for name in self._running())
        there = [self._checkpoint / INDEXES / folder for folder in folders]
        return [PublishedIndex(folder) for folder in there if (folder / MANIFEST).exists()]

    def ask(self, text: str) -> pa.Table:
        return self._ask(text, self._known)

    def aggregate(self, name: str, expression: str, key: dict[str, Any]) -> Any:
        index = self.named(name)
        return self._aggregate(expression, index.manifest()[1], index, key)

    def _known(self, name: str) -> tuple[IndexFacts, PublishedIndex]:
        index = self.named(name)
        return index.manifest()[1], index
