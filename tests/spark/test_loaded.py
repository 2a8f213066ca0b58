"""A worker does not look for garbage in what it has loaded."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from windrow.spark.stages import loaded
from windrow.spark.stages.loaded import set_loaded_aside


@pytest.fixture
def nothing_aside(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(loaded, "_modules", 0)
    gc.unfreeze()
    yield
    gc.unfreeze()


def test_only_a_worker_sets_aside_what_it_has_loaded(nothing_aside: None):
    set_loaded_aside()
    assert gc.get_freeze_count() == 0


def test_once_for_all_that_was_loaded(nothing_aside: None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(loaded.TaskContext, "get", object)
    set_loaded_aside()
    first = gc.get_freeze_count()
    assert first > 1_000
    kept = [[] for _ in range(1_000)]
    set_loaded_aside()
    assert gc.get_freeze_count() <= first, "nothing was loaded in between"
    monkeypatch.setitem(loaded.sys.modules, "something_more", loaded)
    set_loaded_aside()
    assert gc.get_freeze_count() > first + len(kept) // 2, "some of what was there before may have gone"
