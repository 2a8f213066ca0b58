"""Aggregates of a plan: an answer, and the partial that a pane must keep for it."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from windrow.plan.nodes.aggregate_rules import AGGREGATE_RULES


@dataclass(frozen=True, slots=True)
class Partial:
    """What a pane keeps of one argument. Equal partials are kept once, whoever asks for them.

    `argument` and `filter` are the canonical texts of row expressions; `argument` is None for COUNT(*).
    """

    kind: str
    argument: str | None = None
    type: pa.DataType | None = None
    filter: str | None = None
    ignore_nulls: bool = False
    user: str | None = None

    @property
    def name(self) -> str:
        """A short name for its columns in state, by what it holds."""
        from windrow.plan.state_names import partial_name  # which declares the names of all kinds, and knows them

        return partial_name(self)

    @property
    def texts(self) -> tuple[str, ...]:
        """The row expressions that it needs."""
        return tuple(text for text in (self.argument, self.filter) if text is not None)

    @property
    def users(self) -> tuple[str, ...]:
        """The users' own code that it needs, by name."""
        return () if self.user is None else (self.user,)

    @property
    def reversible(self) -> bool:
        """Whether a pane can be taken out of a window again without a trace."""
        return self.kind in REVERSIBLE

    @property
    def held(self) -> bool:
        """Whether a window of it is held in memory only, and folded again from its panes after a restart."""
        return self.kind in HELD

    def __str__(self) -> str:
        text = f"{self.user or self.kind}({self.argument or '*'})"
        return f"{text} where {self.filter}" if self.filter else text


@dataclass(frozen=True, slots=True)
class FilledPartial(Partial):
    """What every instant of `step_us` holds, for regressions that fill in those that hold nothing."""

    step_us: int = 1


@dataclass(frozen=True, slots=True)
class SizedPartial(Partial):
    """A partial that depends on a number: of values, bins or counters, or a half-life in microseconds."""

    size: int = 1


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate of a select list: the `answer` that is drawn from `partial`, and its `type`.

    With `of_level` it is that of the rows which this level holds, in the answers of coarser ones too.
    """

    answer: str
    partial: Partial
    type: pa.DataType
    of_level: int | None = None


LISTS = frozenset({"collect", "collect_nulls"})
"""Partials that list values: they forget the oldest only."""

HELD = frozenset({"values", "counted"}) | LISTS
"""Partials that grow with the rows of a window: to write them at every save would be to write the window again."""

OF_ONE_ROW = frozenset({"min", "max", "min_by", "max_by"})
"""Partials drawn from one row, by an order of values: of rows that leave as they came, few need to be held."""

SCALED = {kind: f"scaled_{kind}" for kind in ("count", "integer_sum", "float_sum", "decimal_sum")}
"""Partials in which a row counts as often as it stands for rows that were shed, by those in which it counts once."""

REVERSIBLE = frozenset({*SCALED, *SCALED.values(), "truth", "bit_xor", "user_rows"}) | HELD

USERS = frozenset({"user", "user_rows"})
"""Users' own aggregates: panes keep states that are merged (or the rows, for a class without `merge`), or the rows,
since they are added and removed one by one."""

NULLS = frozenset({"FIRST", "LAST", "ANY_VALUE", "COLLECT_LIST"})
"""Those that can be told what to do with NULLs. All others but COUNT(*) and users' own pass over them, and so does
ANY_VALUE unless it is told."""

FILLED = {"FILLED_SLOPE": "REGR_SLOPE", "FILLED_INTERCEPT": "REGR_INTERCEPT", "FILLED_R2": "REGR_R2"}
"""Regressions over a value at every instant, and what each draws from the filled series."""

ROWS = Aggregate("COUNT", Partial("count"), pa.int64())
"""COUNT(*): kept for every group, since a group is in a window as long as it has rows there."""


def aggregate(
    function: str,
    argument: str,
    type: pa.DataType,
    *,
    filter: str | None = None,
    ignore_nulls: bool = False,
    respect_nulls: bool = False,
    size: int | None = None,
) -> Aggregate:
    """The built-in aggregate `function` over `argument`; a constant may follow its name: "QUANTILE 0.9".

    >>> aggregate("AVG", "price", pa.float64()).partial == aggregate("SUM", "price", pa.float64()).partial
    True
    """
    kind, result = AGGREGATE_RULES[function.split()[0]](type)
    if size is not None:
        return Aggregate(function, SizedPartial(kind, argument, type, filter, size=size), result)
    if kind in ("first", "last"):
        ignore_nulls = ignore_nulls or (function == "ANY_VALUE" and not respect_nulls)
        return Aggregate(function, Partial(kind, argument, type, filter, ignore_nulls), result)
    kind = "collect_nulls" if kind == "collect" and respect_nulls else kind
    return Aggregate(function, Partial(kind, argument, type, filter), result)


def filled_aggregate(
    function: str, argument: str, type: pa.DataType, step_us: int, *, filter: str | None = None
) -> Aggregate:
    """The regression `function` over the pairs `argument`, with an instant of `step_us`."""
    kind, result = AGGREGATE_RULES[function](type)
    return Aggregate(FILLED[function], FilledPartial(kind, argument, type, filter, step_us=step_us), result)
