"""Texts that are compared with a number or an instant and are none: Spark reads NULL, so that nothing is true."""

from __future__ import annotations

import re

import pyarrow as pa
from sqlglot import exp

from windrow.errors import QueryError
from windrow.language import error_at
from windrow.plan.bind.bound import Scope

_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?[dflsy]?|[+-]?(inf|infinity|nan)", re.IGNORECASE)
_INSTANTS = {"now", "today", "tomorrow", "yesterday", "epoch"}


def refuse_wrong_texts(condition: exp.Expr, schema: pa.Schema, scope: Scope) -> None:
    """Raise for the first comparison of a number with a text that is none, or of an instant with one of words."""
    part = condition.unnest()
    if isinstance(part, exp.Connector | exp.Not):
        for side in part.iter_expressions():
            refuse_wrong_texts(side, schema, scope)
    elif isinstance(part, _COMPARED):
        for text, other in ((part.this, part.expression), (part.expression, part.this)):
            written = text.unnest()
            if isinstance(written, exp.Literal) and written.is_string:
                _check(written, other, part, schema, scope)


def _check(written: exp.Literal, other: exp.Expr, place: exp.Expr, schema: pa.Schema, scope: Scope) -> None:
    type = scope.catalog.engine.type_of(other, schema)
    number = pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_decimal(type)
    if number and not _NUMBER.fullmatch(written.name.strip()):
        raise _refusal(written, place, "number", "price > 10", scope)
    day = pa.types.is_timestamp(type) or pa.types.is_date(type)
    if day and not re.search(r"\d", written.name) and written.name.strip().lower() not in _INSTANTS:
        raise _refusal(written, place, "time", "ts > '2024-01-01 09:00:00'", scope)


def _refusal(written: exp.Literal, place: exp.Expr, wanted: str, example: str, scope: Scope) -> QueryError:
    message = f"no row can meet this condition: {written.sql()} is no {wanted}, and is compared with one"
    return error_at(place, message, scope.text, f"{example}; a column's name stands without quotes, or in backticks")
