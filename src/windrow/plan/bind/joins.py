"""JOIN, commas and WHERE: which conditions join, which restrict a stream, and which are left for afterwards."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace

import pyarrow as pa
from sqlglot import exp

from windrow.language import error_at
from windrow.language.balance import balanced
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.change_sources import Base, Static
from windrow.plan.bind.check_from import join_kind
from windrow.plan.bind.interval_conditions import Apart, apart_of, narrowed
from windrow.plan.bind.lower_columns import Sources
from windrow.plan.bind.names import placed_as, unknown_name
from windrow.plan.bind.using_columns import coalesced_columns
from windrow.plan.bind.widen import cast_to, wider
from windrow.plan.nodes.joins import JoinKind


@dataclass(slots=True)
class JoinStep:
    """One join: what must be equal, further conditions, and which rows stay without a partner.

    `on` are pairs of expressions, over the columns of the plan so far and over those of the source that is joined; in
    the places that are `null_safe`, NULL equals NULL. `apart` says how far apart two instants may be, and `names` are
    the columns of the plans that hold them, of both sides.
    """

    kind: JoinKind
    place: exp.Expr
    on: list[tuple[exp.Expr, exp.Expr]] = field(default_factory=list)
    residual: list[exp.Expr] = field(default_factory=list)
    null_safe: list[int] = field(default_factory=list)
    apart: Apart | None = None
    names: tuple[str, str] = ("", "")


def bind_joins(
    sources: Sources, written: list[exp.Join], conjuncts: list[exp.Expr], scope: Scope
) -> tuple[list[JoinStep], list[exp.Expr]]:
    """The joins in order, and the conditions of WHERE that are left for afterwards."""
    steps = []
    rest: list[exp.Expr] = []
    waiting = []
    own_rows: dict[int, list[exp.Expr]] = defaultdict(list)
    outer = sources.outer
    using = {
        number: [_equal(sources, name, number, written, scope) for name in join.args.get("using") or []]
        for number, join in enumerate(written, start=1)
    }
    kinds = [join_kind(join, scope) for join in written]
    sources.hidden = {number for number, kind in enumerate(kinds, start=1) if kind in ("semi", "anti")}
    for conjunct in conjuncts:
        read = sources.of(conjunct)
        if len(read) == 1 and not read & outer and _is_of_stream(sources, conjunct):
            own_rows[next(iter(read))].append(conjunct)
        elif len(read) > 1 and not read & outer and kinds[max(read) - 1] == "inner":
            waiting.append((read, conjunct))
        else:
            rest.append(conjunct)
    for number, (join, kind) in enumerate(zip(written, kinds), start=1):
        step = JoinStep(kind, join)
        own = [] if join.args.get("on") is None else conjuncts_of(join.args["on"])
        own += using[number]
        ready = [conjunct for read, conjunct in waiting if max(read) == number]
        with sources.seen(number):
            for conjunct in [*own, *ready]:
                _add_condition(step, conjunct, number, sources, own_rows, scope)
        if step.apart is None and any(isinstance(each, Base) and each.unwindowed for _, each in sources.named):
            _meet_at_once(step, number, sources)
        steps.append(step)
    for number, conditions in own_rows.items():
        sources.restrict(number, all_of(conditions))
    return steps, rest


def _add_condition(
    step: JoinStep,
    conjunct: exp.Expr,
    number: int,
    sources: Sources,
    own_rows: dict[int, list[exp.Expr]],
    scope: Scope,
) -> None:
    """Put a condition of join `number` where it can be asked: of keys, of the rows of its stream, or of pairs."""
    read = sources.of(conjunct)
    pair = _pair(sources, conjunct, number)
    if isinstance(conjunct, exp.EQ) and sources.are_same(conjunct.left, conjunct.right):
        return  # all windows of a query end together
    if _is_apart(step, conjunct, number, sources) and not isinstance(conjunct, exp.EQ):
        return
    if pair is not None:
        step.null_safe += [len(step.on)] if isinstance(conjunct, exp.NullSafeEQ) else []
        step.on.append(pair)
    elif read == {number} and _is_of_stream(sources, conjunct) and step.kind not in ("right", "full"):
        own_rows[number].append(conjunct)
    elif read and max(read) > number:
        raise error_at(conjunct, "ON names a stream that is joined later", scope.text)
    else:
        step.residual.append(sources.lowered(conjunct))


def _is_apart(step: JoinStep, conjunct: exp.Expr, number: int, sources: Sources) -> bool:
    """Whether a condition says how far apart two instants may be, as the join can ask it of all that are there."""
    apart = apart_of(conjunct)
    if isinstance(conjunct, exp.EQ) and all(isinstance(side, exp.Column) for side in (conjunct.left, conjunct.right)):
        return False  # rows that meet at equal instants are told apart by them (_meet_at_once)
    if apart is None or isinstance(sources.named[number][1], Static):
        return False
    if sources.windows is not None and sources.windows.within:
        return False
    columns = (apart.one, apart.other)
    if any(sources.edge_of(column) is not None for column in columns):
        return False
    numbers = [min(sources.of(column)) for column in columns]
    if sorted(one == number for one in numbers) != [False, True] or max(numbers) > number:
        return False
    if any(isinstance(sources.named[one][1], Static) for one in numbers):
        return False
    apart = apart if numbers[1] == number else apart.turned()
    names = (sources.lowered(apart.one).name, sources.lowered(apart.other, below=number).name)
    types = [sources.type_of(name) for name in names]
    if types[0] != types[1] or types[0] is None or not pa.types.is_timestamp(types[0]):
        return False
    if step.apart is not None:
        apart = narrowed(step.apart, replace(apart, one=step.apart.one, other=step.apart.other))
        if step.names != names or apart is None:
            return False
    step.apart, step.names = apart, names
    return True


def _meet_at_once(step: JoinStep, number: int, sources: Sources) -> None:
    """Let rows without a window that meet at equal instants wait for each other no longer than until these.

    Of several pairs of instants, the one is taken that is the time of the stream which is joined.
    """
    source = sources.named[number][1]
    if not isinstance(source, Base):
        return
    times = {column.name for text, column in source.reads.items() if text.strip("`") == source.stream.time}
    found = []
    for place, (left, right) in enumerate(step.on):
        if place in step.null_safe or not isinstance(left, exp.Column) or not isinstance(right, exp.Column):
            continue
        types = {sources.type_of(left.name), sources.type_of(right.name)}
        if len(types) == 1 and (type := types.pop()) is not None and pa.types.is_timestamp(type):
            found.append((right.name not in times, place))
    if found:
        left, right = step.on[min(found)[1]]
        assert isinstance(left, exp.Column) and isinstance(right, exp.Column)
        step.apart, step.names = Apart(left, right, 0, 0), (left.name, right.name)


def _is_of_stream(sources: Sources, conjunct: exp.Expr) -> bool:
    """Whether a condition on one source can be asked of the events of a stream."""
    (number,) = sources.of(conjunct)
    return isinstance(sources.named[number][1], Base) and not sources.reads_edges(conjunct)


def _pair(sources: Sources, conjunct: exp.Expr, number: int) -> tuple[exp.Expr, exp.Expr] | None:
    """The two sides of an equality between source `number` and those before it."""
    if not isinstance(conjunct, exp.EQ | exp.NullSafeEQ):
        return None
    sides = [sources.of(conjunct.left), sources.of(conjunct.right)]
    if not all(sides) or sorted(number in side for side in sides) != [False, True]:
        return None
    right, left = (conjunct.left, conjunct.right) if number in sides[0] else (conjunct.right, conjunct.left)
    if sources.of(right) != {number} or max(sources.of(left)) > number:
        return None
    columns = [sources.lowered(left), sources.lowered(right, below=number)]
    if not all(isinstance(column, exp.Column) for column in columns):
        of_table = isinstance(sources.named[number][1], Static) and not isinstance(columns[1], exp.Column)
        return None if of_table else (columns[0], columns[1])
    types = [sources.type_of(column.name) for column in columns]
    if None not in types and (meet := wider(*types)) is not None:
        cast = [side if type == meet else cast_to(side, meet) for side, type in zip((left, right), types)]
        casts = [sources.lowered(cast[0]), sources.lowered(cast[1], below=number)]
        columns = casts if all(isinstance(column, exp.Column) for column in casts) else columns
    return columns[0], columns[1]


def _equal(sources: Sources, name: exp.Expr, number: int, written: list[exp.Join], scope: Scope) -> exp.Expr:
    """USING (name): equal to the column of that name before, and the same column from then on.

    Behind a RIGHT or FULL JOIN with the same column, that is the value of the side which has a row.
    """
    aliases = [alias for alias, _ in sources.named]
    columns = [list(source.columns) for _, source in sources.named]
    known = coalesced_columns(written[: number - 1], aliases, columns).get(name.name.lower())
    for alias, source in sources.named[:number]:
        if name.name.lower() in {column.lower() for column in source.columns}:
            right = placed_as(exp.column(name.name, table=sources.named[number][0]), name)
            left = placed_as(exp.column(name.name, table=alias) if known is None else known, name)
            sources.merge(name.name, number)
            return exp.EQ(this=left, expression=right)
    before = [column for _, source in sources.named[:number] for column in source.columns]
    raise unknown_name("column", name.name, before, name, scope.text)


def conjuncts_of(node: exp.Expr) -> list[exp.Expr]:
    found, waiting = [], [node]
    while waiting:
        part = waiting.pop().unnest()
        if isinstance(part, exp.And):
            waiting += [part.right, part.left]
        else:
            found.append(part)
    return found


def all_of(conditions: list[exp.Expr]) -> exp.Expr:
    if len(conditions) == 1:
        return conditions[0]
    return balanced(exp.And, [exp.paren(condition, copy=False) for condition in conditions])


def refuse_impossible(step: JoinStep, left_us: int | None, right_us: int | None, text: str) -> None:
    """Refuse instants that are never so far apart, or only when one of the rows, which are there so long, has gone."""
    assert step.apart is not None
    low, high = step.apart.low_us, step.apart.high_us
    never = low is not None and high is not None and low > high
    gone = low is not None and right_us is not None and low >= right_us
    gone |= high is not None and left_us is not None and -high >= left_us
    if never or gone:
        message = "no two rows can meet this condition: " + (
            "no instant is both after and before another" if never else "one has left its window before the other comes"
        )
        raise error_at(step.place, message, text, "a.ts BETWEEN b.ts - INTERVAL 5 MINUTES AND b.ts")
