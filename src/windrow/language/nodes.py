"""What the language adds to a sqlglot tree: windows, the mode of emission and the clustering clause.

A stream's window hangs on its `exp.Table` as the argument `stream_window`, one over the answers of a sub-query on its
`exp.Subquery`. On the query hang `query_window` (`WINDOW 1 MINUTE`), `emit` (`EMIT CHANGES`) and, in place of Spark's
clause of that name, `cluster` (`CLUSTER BY ... USING`). All are ordinary nodes, so that copies, comparisons, walks and
texts of a tree include them.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp

STREAM_WINDOW = "stream_window"
QUERY_WINDOW = "query_window"
OTHERS_WINDOW = "others_window"
WITHIN = "within"
EMIT = "emit"
CLUSTER = "cluster"

EMIT_MODES = ("SNAPSHOT", "CHANGES", "INSERTS", "DELETES", "FINAL")


UNIQUE = "unique"
"""Marks a window that goes back from each row of a key, of which only those with one row are asked for."""

EACH_EVENT = "each_event"
"""Marks an EMIT FINAL of rows that are there for an instant only, so that each is final whatever it is made of."""


class Duration(exp.Expression):
    """A length of time; `this` is an int of microseconds, so that `60 SECONDS` equals `1 MINUTE`."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}

    @property
    def us(self) -> int:
        """The length in microseconds."""
        return int(self.args["this"])


class Months(exp.Expression):
    """A length of the calendar; `this` is an int of months."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}

    @property
    def months(self) -> int:
        """The length in months."""
        return int(self.args["this"])


class RowCount(exp.Expression):
    """A length in rows; `this` is an int."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}

    @property
    def rows(self) -> int:
        """The length in rows."""
        return int(self.args["this"])


class Unbounded(exp.Expression):
    """A range that reaches back to the start of the stream."""

    arg_types: ClassVar[dict[str, bool]] = {}


class StreamWindow(exp.Expression):
    """`[PARTITION BY ... RANGE ... SLIDE ...]` and its kin.

    `ranges` and `slides` are lists of one length each, or of one per level where `nested`; `rows` says that the ranges
    count rows; `aging` is a list of literals. `zone` is the name of the zone whose calendar counts, and `cumulate` says
    that a window grows until its range is full.
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "partition_by": False,
        "ranges": True,
        "rows": False,
        "slides": False,
        "nested": False,
        "about": False,
        "offset": False,
        "emit_every": False,
        "aging": False,
        "zone": False,
        "cumulate": False,
    }


class PredicateStreamWindow(exp.Expression):
    """`[PARTITION BY ... FROM this UNTIL expression EMIT EVERY ...]`."""

    arg_types: ClassVar[dict[str, bool]] = {
        "partition_by": False,
        "this": True,
        "expression": True,
        "emit_every": False,
    }


class SessionStreamWindow(exp.Expression):
    """`[PARTITION BY ... SESSION this EMIT EVERY ...]`, where `this` is the gap."""

    arg_types: ClassVar[dict[str, bool]] = {"partition_by": False, "this": True, "emit_every": False}


class QueryWindow(exp.Expression):
    """`WINDOW this` after a query: the range of every stream in it that has no window of its own."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class OthersWindow(exp.Expression):
    """`WINDOW TUMBLING (SIZE 1 MINUTE)` and its kin, as ksqlDB has them: `this` is the kind, `step` that of HOPPING.

    It hangs on its query as the argument `others_window`, until it is read as the window of the query's stream.
    """

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "size": True, "step": False}


class Within(exp.Expression):
    """`WITHIN (1 HOUR, 2 HOURS)` of a join: the right is at most `this` before the left, or `expression` after it."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expression": True}


class Emit(exp.Expression):
    """`EMIT this`, where `this` is one of EMIT_MODES.

    `EMIT CHANGES WITH EMPTY` is `empty`; `EMIT LAST EVERY 10 SECONDS` are CHANGES with `every`, and `EMIT WHEN
    condition` INSERTS with `when`.
    """

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "empty": False, "every": False, "when": False}


class StreamFunction(exp.Expression):
    """`function(TABLE stream PARTITION BY ...)` in FROM, in the place of a table's name; `query` are its events.

    It has no `this`, so that its table has no name, and nobody takes it for a stream of the function's name.
    """

    arg_types: ClassVar[dict[str, bool]] = {"function": True, "query": True, "partition_by": False}


class ClusterClause(exp.Expression):
    """`CLUSTER BY expressions AS alias USING using(...)`."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": True, "alias": True, "using": True}


class Constants(exp.Expression):
    """A long list of constants behind IN; `this` is a tuple of their texts (see long_lists.py)."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}
    _hash_raw_args: ClassVar[bool] = True  # sqlglot's comparison would not tell 'a' from 'A'


def emit_of(tree: exp.Expr) -> str | None:
    """How a query is to be emitted, or None where its text does not say."""
    node: Any = tree.args.get(EMIT)
    return str(node.args["this"]) if node else None
