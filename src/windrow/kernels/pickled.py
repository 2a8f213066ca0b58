"""States as pickles: for who has asked for it by name, since to read a pickle is to run what its writer wished."""

from __future__ import annotations

import pickle
from typing import Any


def dump(state: Any) -> bytes:
    return pickle.dumps(state, protocol=5)


def load(stored: bytes) -> Any:
    """Runs code that is in `stored`: never called but for users' classes that say `state = "pickle"`."""
    return pickle.loads(stored)
