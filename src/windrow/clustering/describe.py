"""What there is to know of a clustering before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.clustering.attached import Attached
from windrow.clustering.choose import clustering_for, in_order
from windrow.clustering.kernel import Clustering
from windrow.clustering.plugin import Parameters
from windrow.kernels import Rows, from_arrow, identity, kernel_for, to_arrow
from windrow.plan.catalog import Described
from windrow.plan.nodes.aggregates import ROWS


@dataclass(frozen=True, slots=True)
class KnownClusterings:
    """The clusterings that ship, and the users' own by name."""

    user: Mapping[str, type] = field(default_factory=dict)

    def described(
        self, name: str, parameters: Parameters, named: Mapping[str, Any], dimensions: int, attached: bool
    ) -> Described:
        """Whether a clustering can run, and what its summaries can do; the users' own are tried on a point.

        >>> KnownClusterings().described("dbscan", (0.5,), {"minimum": 3}, 2, attached=False)
        Described(name='DBSCAN', parameters=(0.5, 3), differential=True, movable=True, user=None, sharing=((), 1.0))
        """
        parameters = in_order(name, parameters, named, self.user)
        own = next((known for known in self.user if known.upper() == name.upper()), None)
        clustering = clustering_for(name, parameters, dimensions, user=self.user)
        if own is not None:
            counted = [Attached(kernel_for(ROWS.partial), None)] if attached else []
            _try(clustering_for(name, parameters, dimensions, user=self.user, attached=counted))
        plugin = clustering.plugin
        sharing = clustering.sharing() if plugin.shares else None
        return Described(clustering.name, parameters, plugin.excludes, plugin.movable, own, sharing)


def _try(clustering: Clustering) -> None:
    """Lift, merge, store and report a point, so that a plug-in that cannot is told before anything runs."""
    point = pa.StructArray.from_arrays(
        [pa.array([0.0])] * clustering.dimensions, [str(i) for i in range(clustering.dimensions)]
    )
    partials = identity(clustering, 2)
    for slot in range(2):
        clustering.lift(partials, np.array([slot]), Rows(point, np.zeros(1, np.int64)))
    newer = {name: column[1:] for name, column in partials.items()}
    clustering.combine(partials, np.zeros(1, np.int64), newer)
    again = from_arrow(clustering, to_arrow(clustering, partials))
    clustering.report(again)
    if clustering.plugin.shares:
        clustering.report(again, clustering.parameters)
