"""Why a Spark query has died: what will pass, what one of our queries has caused, and what ends the job."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum

from windrow.spark.sinks.blame import blamed_in
from windrow.spark.sinks.topic import NOT_NOW
from windrow.spark.stages.same_version import told_of_windrow


class Cause(Enum):
    """What is to be done about it depends on it alone."""

    PASSING = "machines that die or cannot be reached: the same batch may do well when it runs again"
    QUERY = "one query, or several, perhaps: the others may do well without"
    JOB = "the input, the state or the settings: it will not pass, and no query is to blame"


_MACHINES = (
    r"ExecutorLostFailure|Executor heartbeat timed out|Remote RPC client disassociated|Executor decommission",
    r"FetchFailed|MetadataFetchFailedException|Missing an output location for shuffle",
    r"Python worker exited unexpectedly|Python worker failed to connect back",
    r"has failed the maximum allowable number of times|indeterminate",
    r"Failed to get broadcast_|BlockNotFoundException|ShuffleBlockFetcherIterator",
)
_NETWORK = (
    r"java\.net\.(?:ConnectException|SocketTimeoutException|SocketException|NoRouteToHostException)",
    r"Connection reset|Broken pipe|java\.io\.EOFException",
)
"""What may as well be a sink that is gone, where the rows of a query are blamed."""
_LATER = (re.escape(NOT_NOW),)
"""What a sink says of rows that it may take when they come again."""
_OF_THE_JOB = (
    r"Encountered error while reading file",
    r"Invalid batch: path",
    r"failOnDataLoss",
    r"windrow\.errors\.(?:StateError|MemoryLimitError|SettingsError|StorageError|QueryError)",
    r"java\.lang\.OutOfMemoryError",
)


def cause_of(text: str) -> Cause:
    """What has stopped a Spark query, by the text of its error.

    A machine that dies takes whatever it was doing with it, so it is looked for first.

    >>> cause_of("Lost task 0.0: ExecutorLostFailure (executor 1 exited)").name
    'PASSING'
    >>> cause_of("windrow.errors.AggregateError: aggregate 'longest': finish failed").name
    'QUERY'
    >>> cause_of("Encountered error while reading file file:///x.parquet. Details").name
    'JOB'
    >>> cause_of("NotTakenError: rows of 'a': topic 'x' at h:9092 takes no rows for now: timed out").name
    'PASSING'
    """
    if told_of_windrow(text):
        return Cause.JOB
    if _says(text, (*_MACHINES, *_LATER)):
        return Cause.PASSING
    if _says(text, _OF_THE_JOB):
        return Cause.JOB
    if blamed_in(text):
        return Cause.QUERY
    if _says(text, _NETWORK):
        return Cause.PASSING
    return Cause.JOB if "windrow.errors.JobError" in text else Cause.QUERY


def _says(text: str, patterns: Iterable[str]) -> bool:
    return any(re.search(words, text) for words in patterns)
