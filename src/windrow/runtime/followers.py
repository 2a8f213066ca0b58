"""The clusters of a space's answers, followed from window to window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from windrow.clustering import Clustering
from windrow.kernels import Kernel
from windrow.plan.aggregates import Partial
from windrow.plan.clusters import ClusterPartial
from windrow.plan.spaces import Space
from windrow.plan.window import TimeWindow
from windrow.runtime.answers import Answers
from windrow.runtime.cluster_rows import ClusterRows, found_clusters
from windrow.runtime.follow import Follower
from windrow.storage.blocks import Blocks


class Followers:
    """One follower for each clustering of each window of a space."""

    def __init__(
        self, space: Space, kernels: Mapping[str, Kernel], blocks: Blocks, snapshot: Mapping[str, dict]
    ) -> None:
        self._kernels = kernels
        self._followers: dict[tuple[TimeWindow, Partial], Follower] = {}
        names = set()
        for fold in space.folds:
            for partial in fold.partials:
                if isinstance(partial, ClusterPartial):
                    kernel, name = self._clustering(partial), _name(fold.window, partial)
                    place, kept = f"{space.name}.{name}.clusters", snapshot.get(name)
                    made = Follower(place, kernel.dimensions, kernel.reach, bool(space.keys), blocks, kept)
                    self._followers[fold.window, partial] = made
                    names.add(name)
        for name in snapshot.keys() - names:  # of queries that are no more
            blocks.delete_all(f"{space.name}.{name}.")

    def with_clusters(self, answers: Answers, sizes: Mapping[int, int]) -> Answers:
        """The answers with their clusters; `sizes` are the numbers of the windows, in order, and of rows of each."""
        assert isinstance(answers.window, TimeWindow)
        clusters: dict[Partial, ClusterRows] = {}
        for partial, fields in zip(answers.kept, answers.partials):
            if isinstance(partial, ClusterPartial):
                follower = self._followers[answers.window, partial]
                kernel = self._clustering(partial)
                clusters[partial] = found_clusters(partial, kernel, fields, answers.slots, sizes, follower)
        return replace(answers, clusters=clusters) if clusters else answers

    def release(self, slots: np.ndarray) -> None:
        """The groups in `slots` have left every window; the slots will be given to others."""
        for follower in self._followers.values():
            follower.release(slots)

    @property
    def nbytes(self) -> int:
        return sum(follower.nbytes for follower in self._followers.values())

    def save(self, version: int) -> None:
        for follower in self._followers.values():
            follower.save(version)

    def snapshot(self) -> dict:
        return {_name(window, partial): follower.snapshot() for (window, partial), follower in self._followers.items()}

    def _clustering(self, partial: Partial) -> Clustering:
        kernel = self._kernels[partial.name]
        assert isinstance(kernel, Clustering)
        return kernel


def _name(window: TimeWindow, partial: Partial) -> str:
    return f"follow-{window.label}-{partial.name}"
