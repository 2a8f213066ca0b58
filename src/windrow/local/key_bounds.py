"""What WHERE says of the key of an index, as far as the index can be asked for it."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
from sqlglot import exp

from windrow.errors import SettingsError, WindrowError
from windrow.expressions.evaluate_text import evaluate_text
from windrow.indexes.asking import key_range
from windrow.indexes.facts import IndexFacts
from windrow.language import expression_sql

_ONE_ROW = pa.table({"": [0]})


def bounds_of(where: exp.Expr | None, facts: IndexFacts) -> dict[str, Any]:
    """First columns of the key that are equal to something, then perhaps a range; the rest the query asks itself."""
    equal: dict[str, Any] = {}
    least: dict[str, Any] = {}
    most: dict[str, Any] = {}
    keys = {name.lower(): name for name in facts.keys}
    for term in _terms(where.this) if where is not None else ():
        for name, value, into in _bound(term, equal, least, most):
            if (key := keys.get(name.lower())) is not None:
                into.setdefault(key, _as_float(value, facts.schema.field(key).type))
    found: dict[str, Any] = {}
    for name in facts.keys:
        if name in equal and _fits(facts, {**found, name: equal[name]}):
            found[name] = equal[name]
            continue
        ends = (least.get(name), most.get(name))
        if ends != (None, None) and _fits(facts, {**found, name: ends}):
            found[name] = ends
        break
    return found


def _terms(condition: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(condition, exp.And):
        yield from _terms(condition.left)
        yield from _terms(condition.right)
    elif isinstance(condition, exp.Paren):
        yield from _terms(condition.this)
    else:
        yield condition


def _bound(
    term: exp.Expr, equal: dict[str, Any], least: dict[str, Any], most: dict[str, Any]
) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Which column a condition bounds, by which value, and in which direction."""
    if isinstance(term, exp.Is) and isinstance(term.this, exp.Column) and isinstance(term.expression, exp.Null):
        yield term.this.name, None, equal
        return
    if isinstance(term, exp.Between) and isinstance(term.this, exp.Column):
        for end, into in (("low", least), ("high", most)):
            known, value = _value(term.args[end])
            if known:
                yield term.this.name, value, into
        return
    ways = {exp.EQ: (equal, equal), exp.GTE: (least, most), exp.GT: (least, most)}
    ways |= {exp.LTE: (most, least), exp.LT: (most, least)}
    if not isinstance(term, exp.Binary) or type(term) not in ways:
        return
    forth, back = ways[type(term)]
    for column, other, into in ((term.left, term.right, forth), (term.right, term.left, back)):
        known, value = _value(other)
        if isinstance(column, exp.Column) and known:
            yield column.name, value, into


def _value(node: exp.Expr) -> tuple[bool, Any]:
    """What a condition compares with, where that is the same for all rows."""
    if node.find(exp.Column, exp.Query, exp.AggFunc, exp.Window) is not None:
        return False, None
    try:
        value = evaluate_text(expression_sql(node), _ONE_ROW)[0].as_py()
    except WindrowError:
        return False, None
    return value is not None, value


def _as_float(value: Any, kind: pa.DataType) -> Any:
    """1.5 is a decimal as it is written, and a column of floats is compared with the float that it is."""
    return float(value) if isinstance(value, Decimal) and pa.types.is_floating(kind) else value


def _fits(facts: IndexFacts, given: dict[str, Any]) -> bool:
    """Whether keys can be compared with these values as they are."""
    try:
        key_range(facts, given)
    except SettingsError:
        return False
    return True
