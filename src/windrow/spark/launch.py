"""A Spark of our own that keeps quiet: what it writes goes to a log, and it ends when we say so."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from windrow.errors import JobError, SettingsError, StoppedQueriesError
from windrow.spark.output import children_write_to
from windrow.spark.settings import local_spark

_PATIENCE = 5.0
"""So many seconds a JVM has to end in good order."""


@contextmanager
def quiet_spark(master: str, options: dict[str, str], load: Callable[[], None] | None = None) -> Iterator[SparkSession]:
    """A Spark session for as long as the block lasts; one that was there before is used, and left running.

    `load` is called while one that is new comes up.
    Its log is removed at the end, unless something has failed that the log may tell more about.
    """
    with kept_if_needed() as log, _loggers_write_to(log):
        found = SparkSession.getActiveSession() is not None
        spark = _launched(master, options, log, load)
        stop = not found
        try:
            yield spark
        except KeyboardInterrupt:
            if stop:
                _end_at_once(spark)
            stop = False
            raise
        finally:
            if stop:
                spark.stop()


def _end_at_once(spark: SparkSession) -> None:
    """End the JVM, as it would end with this process: what is removed now must not be written to any more.

    PySpark would print a trace when it finds the JVM gone, and nobody needs to be told.
    """
    context: Any = spark.sparkContext
    context._accumulatorServer.handle_error = lambda *_: None
    process = context._gateway.proc
    process.stdin.close()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()


@contextmanager
def kept_if_needed() -> Iterator[Path]:
    """A new log, named in the error of a job that dies, and removed where it does not."""
    handle, name = tempfile.mkstemp(prefix="windrow-spark-", suffix=".log")
    os.close(handle)
    log = Path(name)
    try:
        yield log
    except StoppedQueriesError:
        raise
    except JobError as error:
        raise JobError(f"{error}\nSpark's log: {log}") from error
    except _NotStartedError as error:
        raise SettingsError(f"Spark did not start: {error}\nSpark's log: {log}") from None
    except BaseException:
        log.unlink(missing_ok=True)
        raise
    log.unlink(missing_ok=True)


@contextmanager
def _loggers_write_to(log: Path) -> Iterator[None]:
    """What PySpark and its bridge to the JVM log of failed calls goes to the log, too."""
    loggers: list[logging.Logger] = [logging.getLogger()]
    loggers += [PySparkLogger.getLogger(name) for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger")]
    before = [list(logger.handlers) for logger in loggers]
    handler = logging.FileHandler(log)
    for logger in loggers:
        logger.handlers = [handler]
    try:
        yield
    finally:
        for logger, handlers in zip(loggers, before):
            logger.handlers = handlers
        handler.close()


def _launched(master: str, options: dict[str, str], log: Path, load: Callable[[], None] | None) -> SparkSession:
    # A JVM that ended by the signal that asks us to end would cut the batch under way short. A JVM heeds no signal that
    # was ignored when it began, and this one ends with us, when its standard input closes. Spark does so for SIGINT.
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with children_write_to(log):
            return local_spark(master, options, load)
    except (Py4JError, PySparkException) as error:
        raise _NotStartedError(_reason(error, log)) from error
    finally:
        signal.signal(signal.SIGTERM, before)


def _reason(error: Exception, log: Path) -> str:
    """The line that says what is wrong: of the error, or of the log where the JVM ended before it could answer."""
    said = str(error).splitlines() or [type(error).__name__]
    if "JAVA_GATEWAY_EXITED" in said[0]:
        logged = log.read_text(errors="replace").splitlines()
        said = [line for line in logged if line.strip() and not line.startswith("WARNING")] or said
    if said[0].startswith("JAVA_HOME is not set"):
        return "there is no Java; install Java 17 or newer, or say with JAVA_HOME where it is"
    named = [line for line in said if "Exception: " in line]
    return named[0].split("Exception: ", 1)[1] if named else said[0]


class _NotStartedError(Exception):
    """Spark could not be started as it was asked for."""
