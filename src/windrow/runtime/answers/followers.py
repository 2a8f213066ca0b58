"""The clusters of a space's answers, followed from answer to answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from windrow.clustering import Clustering
from windrow.kernels import Kernel
from windrow.plan.name_parts import short
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.spaces import Space
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.answers.cluster_rows import ClusterRows, FoundClusters
from windrow.runtime.answers.follow import ClusterFates, Follower, known_slots
from windrow.runtime.answers.windows import Answers, AskedClusters
from windrow.storage.blocks import Blocks, Snapshot

Given = tuple[Answers, Mapping[int, int]]
"""Answers of one window, and their numbers, in order, with the rows of each."""

Line = tuple[TimeWindow, int | None, ClusterPartial, ClusterPartial | None]
"""A window that closes, how often it is answered while it fills, what is kept, and what is asked for if not that."""


class Followers:
    """One follower for each clustering of each window that some query asks for.

    Who is told early answers has numbers of their own: a cluster that is seen early has its number in the final too.
    Who asks for finals alone has the numbers of these, whoever else asks for more.
    """

    def __init__(
        self,
        space: Space,
        queries: Sequence[QueryPlan],
        kernels: Mapping[str, Kernel],
        blocks: Blocks,
        snapshot: Mapping[str, Snapshot],
    ) -> None:
        self._kernels = kernels
        self._followers: dict[Line, Follower] = {}
        for query in queries:
            if query.clusters is not None:
                assert isinstance(query.window, TimeWindow)
                kernel = self._clustering(query.clusters)
                for part in space.parts_of(query.window):
                    line = (part.closes, query.window.every_us, query.clusters, query.asked)
                    if line not in self._followers:
                        place, kept = f"{space.name}.{_name(line)}.clusters", snapshot.get(_name(line))
                        reach = kernel.reach((query.asked or query.clusters).parameters)
                        made = Follower(place, kernel.dimensions, reach, bool(space.keys), blocks, kept)
                        self._followers[line] = made
        self._left = [np.empty(0, np.int64)]
        for name in sorted(snapshot.keys() - {_name(line) for line in self._followers}):  # of queries that are no more
            self._left.append(known_slots(f"{space.name}.{name}.clusters", blocks, snapshot[name]))
            blocks.delete_all(f"{space.name}.{name}.")

    @property
    def early(self) -> bool:
        """Whether clusters are followed from early answers to finals: these must then come in order of time."""
        return any(every is not None for _, every, *_ in self._followers)

    def with_clusters(self, given: Sequence[Given]) -> list[Answers]:
        """The answers with their clusters, which are followed by time through all that is `given`."""
        found = [self._found(answers, sizes) for answers, sizes in given]
        clusters: list[dict[AskedClusters, ClusterRows]] = [{} for _ in given]
        for (closes, every, partial, asked), follower in self._followers.items():
            turns: list[tuple[int, int, int]] = []
            followed: dict[int, dict[int, ClusterFates]] = {}
            for place, (answers, sizes) in enumerate(given):
                window = answers.window
                assert isinstance(window, TimeWindow)
                if (
                    (partial, asked) in found[place]
                    and window.closes == closes
                    and window.is_early <= (window.slide_us == every)
                ):
                    turns += [(window.end(number), place, number) for number in sizes]
                    followed[place] = {}
            for _, place, number in sorted(turns):
                window = given[place][0].window
                assert isinstance(window, TimeWindow)
                seen = found[place][partial, asked].seen(number)
                followed[place][number] = follower.follow(window.filling(number), seen, final=not window.is_early)
            for place, told in followed.items():
                clusters[place][partial, asked, every] = found[place][partial, asked].numbered(told)
        return [replace(answers, clusters=own) for (answers, _), own in zip(given, clusters)]

    def turned(self, clock: int) -> tuple[np.ndarray, np.ndarray]:
        """The slots of groups whose clusters are known from now on, at `clock`, and of those whose are no more.

        A slot is among them once for each follower.
        """
        turns = [follower.lapse(window.last_ended(clock)) for (window, *_), follower in self._followers.items()]
        left, self._left = self._left, [np.empty(0, np.int64)]
        came, went = [came for came, _ in turns], [went for _, went in turns]
        return np.concatenate([*left[:1], *came]), np.concatenate([*left, *went])

    def release(self, slots: np.ndarray) -> None:
        """The groups in `slots` are gone; the slots will be given to others."""
        for follower in self._followers.values():
            follower.release(slots)

    def leave_out(self, slots: np.ndarray) -> None:
        """The groups in `slots` are of another shard now, with their clusters."""
        self._left = [left[~np.isin(left, slots)] for left in self._left]
        for follower in self._followers.values():
            follower.leave_out(slots)

    @property
    def nbytes(self) -> int:
        return sum(follower.nbytes for follower in self._followers.values())

    def save(self, version: int) -> None:
        for follower in self._followers.values():
            follower.save(version)

    def snapshot(self) -> Snapshot:
        return {_name(line): follower.snapshot() for line, follower in self._followers.items()}

    def _found(
        self, answers: Answers, sizes: Mapping[int, int]
    ) -> dict[tuple[Partial, ClusterPartial | None], FoundClusters]:
        kept = dict(zip(answers.kept, answers.partials))
        window = answers.window
        assert isinstance(window, TimeWindow)
        wanted = dict.fromkeys(
            (partial, asked)
            for closes, every, partial, asked in self._followers
            if partial in kept and closes == window.closes and window.is_early <= (window.slide_us == every)
        )
        return {
            (partial, asked): FoundClusters.of(
                partial, self._clustering(partial), kept[partial], answers.slots, sizes, asked
            )
            for partial, asked in wanted
        }

    def _clustering(self, partial: Partial) -> Clustering:
        kernel = self._kernels[partial.name]
        assert isinstance(kernel, Clustering)
        return kernel


def _name(line: Line) -> str:
    window, every, partial, asked = line
    early = "" if every is None else f"-early-{every}"
    served = "" if asked is None else f"-{short(asked.method)[:8]}"
    return f"follow-{window.label}{early}-{partial.name}{served}"
