"""Clusterings: plug-ins, the indexes that they do not see, and their summaries as partials.

algorithm        What the framework asks of a clustering: the ones that ship have all of it, users' own are adapted to
                 it
attached         Other aggregates of each cluster: partials beside the rows of a summary, which go wherever the rows go
box_tree         A tree of boxes over the centres of a context: for any number of dimensions, and it takes inserts
c_birch          C-BIRCH: BIRCH over contexts instead of a tree of its own
cell_counts      Counts by key: a summary that forgets as exactly as it learns
choose           Which clusterings there are, and the kernel of one with its parameters
cluster_columns  What is asked of clusters, as columns with one element a cluster
condense         Fine micro-clusters made into clusters, whatever the order in which they came to be
dbscan           Density clusters of a window's points
density_cells    Which points are dense, and which cells of them touch: kept up to date as points come and go
density_grid     Clusters of dense cells of a grid: a clustering that can forget
density_loops    Loops behind cells of dense points: points come and go, witnesses are looked for, cells are joined to
                 clusters
describe         What there is to know of a clustering before it runs
extra_n          Density clusters that are kept from window to window
flat_grid        The search in a grid of two dimensions, the most common, apart: it takes half the time of the one for
                 all
grid             A grid over the centres of a context: for up to three dimensions
hull             Convex hulls of points in the plane and in space: the hull of hulls is that of all points
hull_in_plane    The corners of the convex hull of points in the plane
hull_in_space    The corners of the convex hull of points in space
identity         Which cluster of a window is which of the window before
index            Contextualized indexes: each context has its own, picked for it, and no algorithm knows which
k_means          K-means over a stream in little space
kernel           A clustering as a kernel: so that panes, windows and blocks treat it as any other partial
micro_clusters   The table of a context's clusters: centres, counts and spreads, indexed by centre
plugin           What a clustering is, seen from the framework: a plug-in that summarises points, merges summaries and
                 reports
point_rows       What windows that count rows hold for a clustering: its rows, until it is known which are together
points           Rows as points: which have all their coordinates, and which are rejected
summary          What a pane keeps of a group's points: the plug-in's summary, and other aggregates of each of its rows
taken_rows       Rows of a batch, each by itself: which batch it came in, and where there
weighted_means   K-means over weighted rows, the same for the same rows
"""

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
