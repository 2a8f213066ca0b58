"""Tests leave nothing behind: what they could leave is found out, and the order they run in can be drawn."""

from __future__ import annotations

import ast
import signal
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace

import pytest

from drawn_order import drawn
from left_behind import ModuleState, ProcessState
from windrow.runtime import shard
from windrow.spark.stages import slide_shard

FOLDER = Path(__file__).parent
FOR_A_WHOLE_PROCESS = ("quick_spark.py",)
"""Files that say what is so for all tests of a process, or for all workers."""


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda patch, _: patch.setattr(shard, "FORMAT", 99), "windrow.runtime.shard.FORMAT is another"),
        (lambda patch, _: patch.setenv("WINDROW_DATA", "/nowhere"), "the variable WINDROW_DATA is another"),
        (lambda patch, folder: patch.chdir(folder), "the folder is"),
        (lambda patch, folder: patch.syspath_prepend(folder), "the path is"),
        (lambda patch, _: patch.setitem(slide_shard._HELD, ("run", None, 0), ()), "_HELD holds 1, not 0"),
    ],
    ids=["module", "environment", "folder", "path", "kept"],
)
def test_what_is_left_behind_is_told(change, told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    process, modules = ProcessState(), ModuleState()

    def changes() -> list[str]:
        return process.changes() + modules.changes()

    assert changes() == []
    change(monkeypatch, tmp_path)
    (found,) = changes()
    assert told in found
    monkeypatch.undo()
    assert changes() == []


def test_a_handler_of_signals_that_stays_is_told() -> None:
    before = ProcessState()
    old = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        assert "who handles signals" in before.changes()[0]
    finally:
        signal.signal(signal.SIGTERM, old)


def test_no_test_changes_a_module_or_the_environment_by_hand() -> None:
    """Workers of Spark run code of tests too, where no fixture looks: what is set there stays for later jobs."""
    files = [path for path in FOLDER.rglob("*.py") if path.name not in FOR_A_WHOLE_PROCESS]
    found = {path.name: changes_by_hand(ast.parse(path.read_text())) for path in files}
    assert not {name: changes for name, changes in found.items() if changes}


def test_changes_by_hand_are_seen() -> None:
    text = """
from windrow.runtime import shard
import numpy as np, os
def run():
    from windrow.storage import chunks
    shard.FORMAT = 99
    chunks.CHUNK += 1
    os.environ["A"] = "b"
    os.chdir("/")
    self.x = 3
    table.names[0] = "x"
"""
    assert changes_by_hand(ast.parse(text)) == [
        "line 6: shard.FORMAT", "line 7: chunks.CHUNK", "line 8: os.environ", "line 9: os.chdir"
    ]  # fmt: skip


def changes_by_hand(tree: ast.Module) -> list[str]:
    """Where names of imported modules are set, and where the process is moved or told another environment."""
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete):
            places = node.targets if isinstance(node, ast.Assign | ast.Delete) else [node.target]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("os.chdir", "os.putenv", "os.environ.update"):
            places = [node.func]
        else:
            continue
        for place in places:
            inner = place.value if isinstance(place, ast.Subscript) else place
            if isinstance(inner, ast.Attribute) and ast.unparse(inner).partition(".")[0] in imported:
                found.append(f"line {node.lineno}: {ast.unparse(inner)}")
    return found


def test_a_seed_draws_an_order_of_files_and_of_their_tests() -> None:
    """Each file stays whole, as processes run whole files; the same seed gives the same order in each of them."""
    plain = [SimpleNamespace(path=path, nodeid=f"{path}::{test}") for path in "abcd" for test in range(6)]
    one, again, other = (drawn(tests, seed) for tests, seed in ((plain, "1"), (plain[::-1], "1"), (plain, "2")))
    assert one == again
    for order in (one, other):
        files = [path for path, _ in groupby(order, key=lambda test: test.path)]
        assert sorted(files) == list("abcd") != files
        assert sorted(order, key=lambda test: test.nodeid) == plain
        assert any(list(own) != sorted(own, key=lambda test: test.nodeid) for own in by_file(order))
    assert one != other


def by_file(order: list[SimpleNamespace]) -> list[list[SimpleNamespace]]:
    return [list(own) for _, own in groupby(order, key=lambda test: test.path)]
