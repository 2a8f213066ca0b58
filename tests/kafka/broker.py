"""The broker of tests; without it, or what else a test needs, the test skips with the reason."""

from __future__ import annotations

import pytest
from lab.broker import Broker, missing, running_broker

__all__ = ["Broker", "needed", "running_broker"]


def needed(*kinds: str) -> None:
    """Skip a test that needs jars which are not here."""
    lacks = missing(*kinds)
    if lacks is not None:
        pytest.skip(lacks)
