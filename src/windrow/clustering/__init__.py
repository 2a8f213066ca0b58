"""Clusterings: plug-ins, the indexes that they do not see, and their summaries as partials."""

from windrow.clustering.choose import PLUGINS, clustering_for, hull
from windrow.clustering.index import PICKED, SCANNED, IndexChoice
from windrow.clustering.kernel import POINT, Attached, Clustering, Report
from windrow.clustering.micro_clusters import MicroClusters
from windrow.clustering.plugin import Clusters, Moves, Plugin
from windrow.clustering.points import check_coordinates

__all__ = [
    "PICKED",
    "PLUGINS",
    "POINT",
    "SCANNED",
    "Attached",
    "Clustering",
    "Clusters",
    "IndexChoice",
    "MicroClusters",
    "Moves",
    "Plugin",
    "Report",
    "check_coordinates",
    "clustering_for",
    "hull",
]
