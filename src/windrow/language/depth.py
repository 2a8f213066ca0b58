"""How deep a statement may be nested, and room on Python's stack to read and work on one that deep.

sqlglot's grammar and the walks over its trees call themselves. Python stops that at 1,000 calls, of which a pair of
parentheses takes about twenty, wherever the caller happens to stand. So a limit is stated in what a user has
written, and below it there is room.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import wraps
from threading import Lock
from typing import ParamSpec, TypeVar

from sqlglot import exp

from windrow.errors import QueryError
from windrow.language.spans import span_of

DEEPEST_BRACKETS = 100
"""Parentheses, calls, CASE and sub-queries inside of each other."""

DEEPEST_CHAIN = 1_000
"""Operators that work on each other's results, such as a + b + c + ..."""

_DEEPEST_NODES = 400
"""All else that a tree has on one path: some of it, such as a::INT, has brackets only when it is written out."""

_CALLS = 20_000
"""To read a bracket takes 31 calls. Twice as many calls as this would still fit into the stack of a thread."""

P = ParamSpec("P")
R = TypeVar("R")


class _Room:
    """Counts who needs room on the stack: the limit is one for all threads, and is put back by the last."""

    def __init__(self) -> None:
        self._lock, self._users, self._before = Lock(), 0, 0

    def __enter__(self) -> None:
        with self._lock:
            if not self._users:
                self._before = sys.getrecursionlimit()
                sys.setrecursionlimit(max(self._before, _CALLS))
            self._users += 1

    def __exit__(self, *raised: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                sys.setrecursionlimit(self._before)


_ROOM = _Room()


def deep(work: Callable[P, R]) -> Callable[P, R]:
    """Let `work` call itself as often as the deepest statement needs.

    >>> @deep
    ... def depth_of(list):
    ...     return 1 + depth_of(list[0]) if list else 0
    >>> nested = []
    >>> for _ in range(3000):
    ...     nested = [nested]
    >>> depth_of(nested)
    3000
    """

    @wraps(work)
    def with_room(*args: P.args, **options: P.kwargs) -> R:
        with _ROOM:
            return work(*args, **options)

    return with_room


def _around(node: exp.Expr) -> Iterator[exp.Expr]:
    while (parent := node.parent) is not None:
        yield (node := parent)


def refuse_deep(tree: exp.Expr, text: str) -> None:
    """Raise where a path of `tree` is longer than what can be worked on."""
    waiting = [(tree, 0, 0)]
    while waiting:
        node, chain, others = waiting.pop()
        chain, others = chain + isinstance(node, exp.Binary), others + (not isinstance(node, exp.Binary))
        if chain > DEEPEST_CHAIN or others > _DEEPEST_NODES:
            placed = next((part for part in (node, *_around(node)) if span_of(part)), node)
            at, end = span_of(placed) or (None, None)
            message = f"this stands behind more than {DEEPEST_CHAIN:,} operators, or {_DEEPEST_NODES} of other kinds"
            hint = "compute a part of it in a sub-query; AND, OR and the items of a list may be any number"
            raise QueryError(message, text=text, at=at, end=end, hint=hint)
        waiting += [(child, chain, others) for child in node.iter_expressions()]
