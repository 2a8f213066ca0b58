"""Which clusterings there are, and the kernel of one with its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from windrow.clustering.algorithm import Adapted, Algorithm
from windrow.clustering.attached import POINT, Attached
from windrow.clustering.c_birch import CBirch
from windrow.clustering.dbscan import Dbscan
from windrow.clustering.density_grid import DensityGrid
from windrow.clustering.extra_n import ExtraN
from windrow.clustering.hull import Hull
from windrow.clustering.index import PICKED, IndexChoice, asked_index
from windrow.clustering.k_means import KMeans
from windrow.clustering.kernel import Clustering
from windrow.clustering.plugin import Parameters
from windrow.errors import ClusteringError
from windrow.kernels import Kernel, kernel_for
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.clusters import HULL, ClusterPartial

PLUGINS: dict[str, type] = {
    "C_BIRCH": CBirch,
    "K_MEANS": KMeans,
    "DENSITY_GRID": DensityGrid,
    "DBSCAN": Dbscan,
    "EXTRA_N": ExtraN,
}
NEEDED = ("init", "add", "merge", "copy", "report")


def clustering_for(
    name: str,
    parameters: Parameters,
    dimensions: int,
    *,
    attached: Sequence[Attached] = (),
    user: Mapping[str, type] = {},
    indexes: IndexChoice = PICKED,
) -> Clustering:
    """The kernel of clustering `name`; `user` gives the users' own plug-ins by name.

    >>> print(clustering_for("c_birch", (50,), 2))
    C_BIRCH(50)
    >>> clustering_for("c_birch", (-1,), 2)
    Traceback (most recent call last):
    windrow.errors.ClusteringError: C_BIRCH: the radius must be a positive number, not -1
    >>> clustering_for("bir", (50,), 2)
    Traceback (most recent call last):
    windrow.errors.ClusteringError: unknown clustering 'bir'; known are: C_BIRCH, DBSCAN, DENSITY_GRID, EXTRA_N, K_MEANS
    """
    found, name = plugin_of(name, user), name.upper()
    if dimensions < 1:
        raise ClusteringError(f"{name}: a clustering needs at least one column")
    if any(isinstance(other.kernel, Hull) for other in attached) and dimensions not in (2, 3):
        raise ClusteringError(f"{name}: CONVEX_HULL needs two or three columns, and there are {dimensions}")
    plugin = made(name, found)
    try:
        plugin.check(parameters, dimensions)
    except ValueError as error:
        raise ClusteringError(f"{name}: {error}") from error
    return Clustering(name, plugin, tuple(parameters), dimensions, tuple(attached), indexes)


def plugin_of(name: str, user: Mapping[str, type]) -> type:
    """The class of clustering `name`, in letters of any case."""
    known = {**PLUGINS, **{own.upper(): plugin for own, plugin in user.items()}}
    if name.upper() not in known:
        raise ClusteringError(f"unknown clustering {name!r}; known are: {', '.join(sorted(known))}")
    return known[name.upper()]


def in_order(name: str, parameters: Parameters, named: Mapping[str, Any], user: Mapping[str, type]) -> Parameters:
    """All parameters by their places, of which some were `named`; a class says in `names` what they are called.

    >>> in_order("c_birch", (50,), {"k": 3}, {})
    (50, 3)
    >>> in_order("c_birch", (), {"k": 3}, {})
    Traceback (most recent call last):
    windrow.errors.ClusteringError: C_BIRCH: with k, radius must be given too
    """
    names = tuple(getattr(plugin_of(name, user), "names", ()))
    given = list(parameters)
    left = {own.lower(): value for own, value in named.items()}
    for own in left:
        if own not in names:
            known = f"its parameters are {', '.join(names)}" if names else "its class has no `names` of parameters"
            raise ClusteringError(f"{name.upper()} has no parameter {own}: {known}")
        if own in names[: len(parameters)]:
            raise ClusteringError(f"{name.upper()}: {own} is given twice")
    for own in names[len(parameters) :]:
        if left and own not in left:
            raise ClusteringError(f"{name.upper()}: with {next(iter(left))}, {own} must be given too")
        if left:
            given.append(left.pop(own))
    return tuple(given)


def kernel_of(partial: Partial, user: Mapping[str, type] = {}) -> Kernel:
    """The kernel of `partial`, be it of a clustering or of an aggregate; `user` gives the users' own code by name."""
    if not isinstance(partial, ClusterPartial):
        return kernel_for(partial, user)
    place = {text: i for i, text in enumerate(partial.texts)}
    own = {} if partial.user is None else {partial.algorithm: user[partial.user]}
    return clustering_for(
        partial.algorithm,
        partial.parameters,
        len(partial.coordinates),
        attached=[_attached(other, place, len(partial.coordinates), user) for other in partial.attached],
        user=own,
        indexes=asked_index(partial.index),
    )


def _attached(partial: Partial, place: Mapping[str, int], dimensions: int, user: Mapping[str, type]) -> Attached:
    if partial == HULL.partial:
        return hull(dimensions)
    argument = None if partial.argument is None else place[partial.argument]
    return Attached(kernel_for(partial, user), argument, None if partial.filter is None else place[partial.filter])


def check_plugin(name: str, plugin: type) -> None:
    """Refuse a class that has not what a clustering needs."""
    if name.upper() in PLUGINS:
        raise ClusteringError(f"there is a clustering {name.upper()} already: give yours another name")
    made(name, plugin)


def made(name: str, plugin: type) -> Algorithm:
    """An object of the plug-in's class, which must have what a clustering needs; a user's is adapted."""
    given = {method for method in (*NEEDED, "add_many") if callable(getattr(plugin, method, None))}
    missing = [method for method in NEEDED if method not in given and not (method == "add" and "add_many" in given)]
    if missing:
        raise ClusteringError(f"clustering {name} has no {' and no '.join(missing)}")
    try:
        found = plugin()
    except Exception as error:
        raise ClusteringError(f"clustering {name}: __init__ failed: {type(error).__name__}: {error}") from error
    return found if plugin in PLUGINS.values() else Adapted(found)


def hull(dimensions: int = 2) -> Attached:
    """The convex hull of each cluster, to be attached."""
    return Attached(Hull(dimensions), POINT)
