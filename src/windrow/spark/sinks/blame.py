"""Whose rows could not be finished or written: the name goes with the error, so that other queries need not end too."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager

_WORDS = "rows of "
_NAME = r"(?:'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")"
_LINE = re.compile(rf"(?m)^.*NotTakenError: {_WORDS}{_NAME}(?:, {_NAME})*: (.*)$")
_BLAMED = re.compile(rf"NotTakenError: {_WORDS}({_NAME}(?:, {_NAME})*): ")


class NotTakenError(Exception):
    """The rows of some queries could not be finished, or their sink did not take them."""


@contextmanager
def blamed_on(queries: Collection[str]) -> Iterator[None]:
    """Say of an error that it came of the rows of `queries`; it crosses to the driver as text.

    >>> with blamed_on(["sums"]):
    ...     raise OSError("no space left")
    Traceback (most recent call last):
    windrow.spark.sinks.blame.NotTakenError: rows of 'sums': no space left
    """
    try:
        yield
    except NotTakenError:
        raise
    except Exception as error:
        if not queries:  # rejected events are of the stream
            raise
        raise NotTakenError(f"{_WORDS}{', '.join(map(repr, queries))}: {error}") from error


def blamed_in(text: str) -> list[str]:
    """The queries that an error names as its cause.

    >>> blamed_in("x NotTakenError: rows of 'a', \\"b's\\": the disk is full")
    ['a', "b's"]
    """
    found = _BLAMED.search(text)
    return [] if found is None else list(ast.literal_eval(f"[{found.group(1)}]"))


def without_blame(text: str) -> tuple[str, str]:
    """The text of an error without the lines that only say who is to blame, and what the last of these adds.

    >>> without_blame("OSError: full\\nx.NotTakenError: rows of 'a': the disk is full")
    ('OSError: full\\n', 'the disk is full')
    """
    blamed = _LINE.findall(text)
    return _LINE.sub("", text), blamed[-1] if blamed else ""
