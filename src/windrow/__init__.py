"""Windrow: continuous queries over sliding windows on Apache Spark."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from windrow.errors import (
    AggregateError,
    AskError,
    ChangeError,
    ClusteringError,
    FunctionError,
    JobError,
    MemoryLimitError,
    NotSupportedYet,
    QueryError,
    SettingsError,
    StateError,
    StoppedQueriesError,
    StorageError,
    WindrowError,
)
from windrow.version import VERSION

if TYPE_CHECKING:
    from windrow.clustering.plugin import Clusters, Moves
    from windrow.clustering.plugin import Plugin as ClusteringPlugin
    from windrow.console.door import open_console
    from windrow.current.answer import Answer, Update
    from windrow.current.subscription import Subscription
    from windrow.local.replay import Replay, replay
    from windrow.plan.aggregate_plugin import AggregatePlugin
    from windrow.plan.history import history
    from windrow.plan.idle_clock import idle_clock
    from windrow.plan.sink import Sink, sink
    from windrow.plan.stream_function import StreamFunctionPlugin
    from windrow.serve.client import Client, connect
    from windrow.session import Session
    from windrow.spark.broker_patience import going_on_from
    from windrow.spark.job.job import Job
    from windrow.spark.job.progress import Progress, StreamProgress

__all__ = [
    "AggregateError",
    "AggregatePlugin",
    "Answer",
    "AskError",
    "ChangeError",
    "Client",
    "ClusteringError",
    "ClusteringPlugin",
    "Clusters",
    "FunctionError",
    "Job",
    "JobError",
    "MemoryLimitError",
    "Moves",
    "NotSupportedYet",
    "Progress",
    "QueryError",
    "Replay",
    "Session",
    "SettingsError",
    "Sink",
    "StateError",
    "StoppedQueriesError",
    "StorageError",
    "StreamFunctionPlugin",
    "StreamProgress",
    "Subscription",
    "Update",
    "WindrowError",
    "connect",
    "going_on_from",
    "history",
    "idle_clock",
    "open_console",
    "replay",
    "sink",
]
__version__ = VERSION

_LATER = {
    "AggregatePlugin": ("plan.aggregate_plugin", "AggregatePlugin"),
    "Answer": ("current.answer", "Answer"),
    "ClusteringPlugin": ("clustering.plugin", "Plugin"),
    "Clusters": ("clustering.plugin", "Clusters"),
    "Job": ("spark.job.job", "Job"),
    "Moves": ("clustering.plugin", "Moves"),
    "Progress": ("spark.job.progress", "Progress"),
    "Replay": ("local.replay", "Replay"),
    "Session": ("session", "Session"),
    "Sink": ("plan.sink", "Sink"),
    "Subscription": ("current.subscription", "Subscription"),
    "Update": ("current.answer", "Update"),
    "StreamFunctionPlugin": ("plan.stream_function", "StreamFunctionPlugin"),
    "StreamProgress": ("spark.job.progress", "StreamProgress"),
    "Client": ("serve.client", "Client"),
    "connect": ("serve.client", "connect"),
    "going_on_from": ("spark.broker_patience", "going_on_from"),
    "history": ("plan.history", "history"),
    "idle_clock": ("plan.idle_clock", "idle_clock"),
    "open_console": ("console.door", "open_console"),
    "replay": ("local.replay", "replay"),
    "sink": ("plan.sink", "sink"),
}
"""What is loaded when it is first asked for, so that each process loads only what it needs."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'windrow' has no attribute {name!r}")
    module, own = _LATER[name]
    return getattr(import_module(f"windrow.{module}"), own)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
