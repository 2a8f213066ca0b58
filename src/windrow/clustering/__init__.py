"""Clusterings: plug-ins, the indexes that they do not see, and their summaries as partials."""

from windrow.clustering.attached import POINT, Attached
from windrow.clustering.choose import PLUGINS, check_plugin, clustering_for, hull, kernel_of
from windrow.clustering.describe import KnownClusterings
from windrow.clustering.index import PICKED, SCANNED, IndexChoice
from windrow.clustering.kernel import Clustering, Report
from windrow.clustering.micro_clusters import MicroClusters
from windrow.clustering.plugin import Clusters, Moves, Plugin

__all__ = [
    "PICKED",
    "PLUGINS",
    "POINT",
    "SCANNED",
    "Attached",
    "Clustering",
    "Clusters",
    "IndexChoice",
    "KnownClusterings",
    "MicroClusters",
    "Moves",
    "Plugin",
    "Report",
    "check_plugin",
    "clustering_for",
    "hull",
    "kernel_of",
]
