"""A script is parsed once for all who read it: planning a statement leaves it as it was."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp
from tests.documents.window_table import ASKED, WINDOWS

from windrow.draft import Draft, NeedsSpark
from windrow.errors import QueryError
from windrow.language import Query, parse_script
from windrow.plan.timed_by import TimedBy

SLIDING = next(iter(WINDOWS.values()))
ROWS = ASKED["the rows of the window"].format(SLIDING)
TEXTS = [asked.format(SLIDING, early=SLIDING, rows=ROWS) for asked in ASKED.values()]
TEXTS += [ASKED["GROUP BY"].format(window) for window in WINDOWS.values()]


def shown(part: Any) -> Any:
    """All that a statement is made of, as text."""
    if isinstance(part, exp.Expr):
        return repr(part)
    if is_dataclass(part):
        return [type(part).__name__, *(shown(getattr(part, field.name)) for field in fields(part))]
    return [shown(each) for each in part] if isinstance(part, tuple | list) else repr(part)


def test_the_same_text_is_parsed_once() -> None:
    text = "SELECT COUNT(*) AS n FROM e [RANGE 1 MINUTE SLIDE 1 SECOND]"
    assert parse_script(text) is parse_script("".join(text))


@pytest.mark.parametrize("text", TEXTS)
def test_planning_leaves_a_statement_as_it_was(text: str, tmp_path: Path) -> None:
    draft = Draft("local[2]", {})
    opened = draft.open_stream("parquet", {"path": str(tmp_path)}, "ts TIMESTAMP, k STRING, g STRING, x DOUBLE")
    draft.declare_opened("e", opened, TimedBy("ts"))
    (statement,) = parse_script(text)
    assert isinstance(statement, Query)
    before = shown(statement)
    try:
        draft.register("asked", statement)
    except (QueryError, NeedsSpark):
        assert any(refused in text for refused in ("FILTER", "JOIN t", "LAST EVERY", "LAG(")) or "[" not in text
    assert shown(statement) == before
