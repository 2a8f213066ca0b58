"""The notebooks run, cell by cell, and what they show shows itself."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

FIRST = Path(__file__).parents[2] / "examples" / "notebooks" / "first_windows.ipynb"


def cells() -> list[str]:
    content = json.loads(FIRST.read_text())
    return ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"]


def run(texts: list[str], names: dict[str, Any]) -> list[Any]:
    """What each cell shows: the value of its last line, where that is one."""
    shown = []
    for text in texts:
        tree = ast.parse(text)
        last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, FIRST.name, "exec"), names)
        shown.append(None if last is None else eval(compile(last, FIRST.name, "eval"), names))
    return shown


def test_the_cells_that_replay():
    (*_, tail) = run(cells()[:2], {})
    assert tail["n"].tolist() == [12] * 5


@pytest.mark.slow
def test_the_cells_of_a_job(spark, monkeypatch):
    pytest.importorskip("anywidget", reason="anywidget is not installed: requirements-browser.txt")
    monkeypatch.setattr("windrow.session.session.local_spark", lambda **_: spark)
    shown = [value for value in run(cells(), {}) if hasattr(value, "_repr_html_")]
    told = " ".join(value._repr_html_() for value in shown)
    for words in ("a session on", "space ", "ended: means", "means: 5 rows", "batch 0"):
        assert words in told
