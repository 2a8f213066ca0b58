"""Input files that are gone by the time a batch reads them.

Spark's source of files notes the names of a batch in its log before the batch runs, and lists them once more when it
plans the batch. A file that is gone by then is passed over, with a line in a log; one that goes later, its own tasks
miss. So what a batch reads is in its plan: the names from the log, and the files that were found. They are compared
here, before anything of the batch is written. No file is opened for it, and no job runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from windrow.errors import JobError

_IGNORE = "ignoreMissingFiles"
MISSING_SETTING = f"spark.sql.files.{_IGNORE}"


def count_missing(query: StreamingQuery, setting: str | None) -> int:
    """How many files of the batch under way are gone; raises their names unless the stream is to go on without them.

    `setting` is the value of MISSING_SETTING, which holds where the options of a stream do not say.
    """
    count = 0
    for relation in sources_of_files(query):
        names, found = relation.location().rootPaths(), relation.location().inputFiles()
        if names.size() == len(found):
            continue
        there = {place_in(name) for name in found}
        gone = [
            uri
            for uri in (names.apply(i).toUri().toString() for i in range(names.size()))
            if place_in(uri) not in there
        ]
        chosen = relation.options().get(_IGNORE.lower())
        if gone and (chosen.get() if chosen.isDefined() else setting or "false").lower() != "true":
            raise JobError(vanished(gone))
        count += len(gone)
    return count


def has_files_of(query: StreamingQuery, folder: str) -> bool:
    """Whether the batch under way reads files of `folder`, an address as Spark is told it."""
    there = _path(folder) + "/"
    for relation in sources_of_files(query):
        paths = relation.location().rootPaths()
        if any(place_in(paths.apply(i).toUri().toString())[1].startswith(there) for i in range(paths.size())):
            return True
    return False


def reads_from(batch: DataFrame, folder: str) -> bool:
    """The same, of a batch of a Spark Connect server, which tells what its plan reads and nothing of its query."""
    there = _path(folder) + "/"
    return any(place_in(uri)[1].startswith(there) for uri in batch.inputFiles())


def vanished(names: list[str]) -> str:
    """What is told of files that are gone."""
    first = unquote(urlsplit(names[0]).path)
    others = f" and {len(names) - 1} more" if len(names) > 1 else ""
    are = "are" if others else "is"
    return (
        f"the file {first}{others} {are} gone since Spark noted what to read: bring it back, or give the stream the"
        f" option {_IGNORE} 'true', and start the job again; it then goes on without, and counts what it missed"
    )


def sources_of_files(query: StreamingQuery) -> Iterator[Any]:
    """What the batch under way reads of Spark's sources of files; tables and other sources list no names from a log."""
    leaves = query._jsq.streamingQuery().lastExecution().logical().collectLeaves()
    for number in range(leaves.size()):
        leaf = leaves.apply(number)
        if _kind(leaf) != "LogicalRelation" or not leaf.isStreaming():
            continue
        relation = leaf.relation()
        if _kind(relation) == "HadoopFsRelation" and _kind(relation.location()) == "InMemoryFileIndex":
            yield relation


def _path(folder: str) -> str:
    """The path of a folder as it is in a URI, where Spark escapes what its addresses have as it is.

    >>> _path("file:/in put"), _path("s3a://bucket/kept"), _path("hdfs://node:8020/kept")
    ('/in put', '/kept', '/kept')
    """
    behind = folder.partition(":")[2]
    return behind if not behind.startswith("//") else "/" + behind[2:].partition("/")[2]


def _kind(thing: Any) -> str:
    return str(thing.getClass().getSimpleName())


def place_in(uri: str) -> tuple[str, str]:
    """Where a file is: `file:/a%20b` and `file:///a%20b` are one place.

    >>> place_in("file:/in%20put/50%25.csv") == place_in("file:///in%20put/50%25.csv")
    True
    """
    parts = urlsplit(uri)
    return parts.netloc, unquote(parts.path)
