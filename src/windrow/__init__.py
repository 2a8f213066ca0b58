"""Windrow: continuous queries over sliding windows on Apache Spark."""

from windrow.errors import NotSupportedYet, QueryError, SettingsError, StateError, WindrowError
from windrow.plan.sink import Sink, sink

__all__ = [
    "NotSupportedYet",
    "QueryError",
    "Replay",
    "Session",
    "SettingsError",
    "Sink",
    "StateError",
    "WindrowError",
    "replay",
    "sink",
]
__version__ = "0.1.0"


def __getattr__(name: str):
    """Spark and the replay are loaded when they are first asked for: workers need neither."""
    if name == "Session":
        from windrow.session import Session

        return Session
    if name == "replay":
        from windrow.local.replay import replay

        return replay
    if name == "Replay":
        from windrow.local.replay import Replay

        return Replay
    raise AttributeError(f"module 'windrow' has no attribute {name!r}")
