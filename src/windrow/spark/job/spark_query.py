"""One Spark query of a job: whether it runs, when its batch is done, how it is stopped, and why it has stopped."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from contextlib import suppress

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from windrow.spark.job.batch_reports import last_number
from windrow.spark.sinks.blame import without_blame
from windrow.spark.sources.missing_files import vanished
from windrow.spark.stages.same_version import told_of_windrow

_COMPLAINT = re.compile(r"^(?:Caused by: |: )?(?:[\w$]+\.)*(\w+(?:Error|Exception): .+)$", re.MULTILINE)
_EMPTY = "PythonException: An exception was thrown from the Python worker"
"""What Spark says of every error in a worker, before the error."""

_PROVEN = 20.0
"""So many seconds a changed set of queries has to show that it runs, before it is believed to."""


def stop_all(queries: Mapping[str, StreamingQuery]) -> None:
    """Stop what runs, as far as Spark still listens."""
    for query in queries.values():
        with suppress(Exception):
            query.stop()


def prove(query: StreamingQuery) -> None:
    """Wait until a query has done a batch, or has nothing to do; raises what has stopped it."""
    until = time.monotonic() + _PROVEN
    while time.monotonic() < until:
        error = query.exception()
        if error is not None:
            raise error
        idle = "Waiting" in query.status["message"]
        if not query.isActive or last_number(query) >= 0 or idle:
            return
        time.sleep(0.05)


def finish_batch(query: StreamingQuery) -> None:
    """Wait until the batch under way is committed: Spark's own `stop` would cancel it."""
    last = last_number(query)
    while query.isActive and query.status["isTriggerActive"] and last_number(query) == last:
        time.sleep(0.02)


def lost_messages(text: str) -> str:
    """What is told of a topic that no longer has what the job was to read next.

    >>> lost_messages("Partition tx-0's offset was changed from 20 to 3. ... failOnDataLoss")[:45]
    'messages that were not read yet are gone: Par'
    """
    said = re.search(
        r"(Partition \S+'s offset was changed from \d+ to \d+|Cannot fetch records in \[\d+, \d+\)[^.]*)", text
    )
    what = f": {said.group(1)}" if said else ""
    return (
        f"messages that were not read yet are gone{what}; the topic was cut, or made anew: with failOnDataLoss 'false'"
        " the job goes on with what is there"
    )


_OTHER_TYPES = (
    r"column \[(?P<name>\S+?)\]\. Expected Spark type (?P<declared>\S+?), actual Parquet type (?P<found>\S+?)\.?\s",
    r"column: \[(?P<name>\S+?)\], physicalType: (?P<found>\S+?), logicalType: (?P<declared>\S+)",
    r"column: \[(?P<name>\S+?)\], logicalType: (?P<declared>\S+?), physicalType: (?P<found>\S+)",
    r"Column: \[(?P<name>\S+?)\], Expected: (?P<declared>\S+?), Found: (?P<found>\S+?)\.?\s",
)
"""How Sparks tell of a column that a file has in another type."""


def _other_type(text: str) -> tuple[str, str, str] | None:
    """Which column a file has in another type, the type that is declared, and the file's.

    >>> _other_type("Parquet column [price]. Expected Spark type double, actual Parquet type BINARY. SQLSTATE: KD001")
    ('price', 'double', 'BINARY')
    >>> _other_type("Exception: column: [price], physicalType: BINARY, logicalType: double")
    ('price', 'double', 'BINARY')
    """
    found = next(filter(None, (re.search(way, text) for way in _OTHER_TYPES)), None)
    return None if found is None else (found["name"], found["declared"], found["found"])


def reason(error: StreamingQueryException) -> str:
    """Why a job has stopped, in a line or two: the file that could not be read, or the innermost complaint."""
    text, blamed = without_blame(str(error))
    windrow = told_of_windrow(text)
    if windrow is not None:
        return windrow
    file = re.search(r"Encountered error while reading file (\S+?)\.? ", text)
    column = _other_type(text)
    if file and "FILE_NOT_EXIST" in text:
        return vanished([file.group(1)])
    if file and column:
        name, declared, found = column
        return f"the file {file.group(1)} has column {name} as {found}, and the stream declares it {declared.upper()}"
    if file:
        return f"the file {file.group(1)} cannot be read; remove it or mend it, and start the job again"
    if "Invalid batch: path" in text:  # names have other columns than when the stream was declared
        return "folders have come that are named by columns, as in day=2024-01-31: start the job again, which sees them"
    if "failOnDataLoss" in text:
        return lost_messages(text)
    own = re.search(r"windrow\.errors\.\w+: (.+)", text)
    if own:
        return own.group(1)
    complaints = _COMPLAINT.findall(text.split("=== Streaming Query ===")[0])
    told = [line for line in complaints if not line.startswith(_EMPTY)]
    return (told[-1] if told else None) or blamed or text.strip().split("\n")[0]
