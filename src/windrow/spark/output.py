"""Where a JVM and its workers write: a log of their own, so that they never write over what a user reads."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def children_write_to(log: Path) -> Iterator[None]:
    """Processes that are started inside write to `log` for as long as they live; this one prints where it did.

    A child inherits the file descriptors 1 and 2 as they are when it starts, and a JVM is started once in a program.
    So they lead to the log for that while, and Python's own streams to copies of what they were.
    """
    _flush()
    terminal = [os.dup(number) for number in (1, 2)]
    streams = sys.stdout, sys.stderr
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        sys.stdout, sys.stderr = _kept(sys.stdout, terminal[0]), _kept(sys.stderr, terminal[1])
        for number in (1, 2):
            os.dup2(file, number)
        yield
    finally:
        _flush()
        for number, place in zip((1, 2), terminal):
            os.dup2(place, number)
            os.close(place)
        os.close(file)
        sys.stdout, sys.stderr = streams


def _kept(stream: TextIO, place: int) -> TextIO:
    """A stream like `stream` that writes to `place`; one that never wrote to a descriptor stays what it is."""
    try:
        writes_to = stream.fileno()
    except (OSError, AttributeError, io.UnsupportedOperation):
        return stream
    if writes_to not in (1, 2):
        return stream
    return open(place, "w", buffering=1, encoding=stream.encoding, errors=stream.errors, closefd=False)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
