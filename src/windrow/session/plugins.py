"""What users bring in Python, by name: aggregates, clusterings and functions that remember."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession
from pyspark.sql.types import DataType

from windrow.clustering import check_plugin
from windrow.errors import SettingsError
from windrow.kernels.state_codec import storing
from windrow.kernels.user import check_state
from windrow.operators.stored_functions import check_function
from windrow.plan.aggregate_plugin import Abilities
from windrow.plan.catalog import UserAggregate, UserFunction
from windrow.plan.stream_function import read_function
from windrow.plan.user_aggregates import check_aggregate
from windrow.spark.expressions import result_type


class SessionPlugins:
    """Classes that queries call by the name they are registered with; each is tried before it is taken."""

    spark: SparkSession

    def __init__(self) -> None:
        self._aggregates: dict[str, UserAggregate] = {}
        self._clusterings: dict[str, type] = {}
        self._functions: dict[str, UserFunction] = {}

    def aggregate(
        self,
        name: str,
        implementation: type,
        returns: str | DataType | None = None,
        *,
        state: str | None = None,
    ) -> None:
        """Register a user's aggregate: a class with `init`, `add`, `finish`, and perhaps `merge` and `remove`.

        Its states are stored as plain values, or as its own `dump` and `load` make them; with `state="pickle"` as
        pickles, which run code when they are read: who can write to the checkpoint is to be trusted then.
        """
        check_aggregate(name, implementation)
        if self.spark.catalog.functionExists(name):
            raise SettingsError(f"{name.upper()} is a function of Spark already: give the aggregate another name")
        self._check_plugin(name, self._clusterings, "a clustering")
        self._check_plugin(name, self._functions, "a stream function")
        result = returns if returns is not None else Abilities.of(implementation).returns
        implementation = storing(f"aggregate {name!r}", implementation, state)
        check_state(name, implementation)
        self._aggregates[name.lower()] = UserAggregate(implementation, result_type(name, result))

    def clustering(self, name: str, implementation: type, *, state: str | None = None) -> None:
        """Register a user's clustering: a class with `init`, `add`, `merge`, `copy`, `report`, perhaps `exclude`.

        Its summaries are stored as the states of aggregates are.
        """
        self._check_plugin(name, self._aggregates, "an aggregate")
        self._check_plugin(name, self._functions, "a stream function")
        implementation = storing(f"clustering {name}", implementation, state)
        check_plugin(name, implementation)
        self._clusterings[name.lower()] = implementation

    def stream_function(
        self,
        name: str,
        implementation: type,
        returns: str | None = None,
        *,
        errors: str | None = None,
        state: str | None = None,
    ) -> None:
        """Register a function that remembers, which FROM calls: `FROM hits(TABLE positions PARTITION BY player)`.

        Its class has `init()` and `step(state, event)`, which is told the events of each key in order of time, and
        gives rows of the columns that `returns` has, "speed DOUBLE, far BOOLEAN". With errors="reject" an event that
        `step` fails with is left out and counted, rather than that the query stops. States are stored as those of
        aggregates are.
        """
        function = read_function(name, implementation, returns, errors)
        self._check_plugin(name, self._aggregates, "an aggregate")
        self._check_plugin(name, self._clusterings, "a clustering")
        self._functions[name.lower()] = check_function(name, function, state)

    def _check_plugin(self, name: str, others: Mapping[str, object], what: str) -> None:
        if name.lower() in others:
            raise SettingsError(f"there is {what} {name!r} already: give one of them another name")
