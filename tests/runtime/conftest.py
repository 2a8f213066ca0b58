"""Tests that take long are left out unless somebody asks for them: pytest -m slow."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes longer than a suite should; run with -m slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.option.markexpr:
        slow = [item for item in items if "slow" in item.keywords]
        items[:] = [item for item in items if item not in slow]
        config.hook.pytest_deselected(items=slow)
