"""Which runs a checkpoint has: how many stages each has is in the name of its folder."""

from __future__ import annotations

import re
from collections.abc import Iterable

from windrow.compile.join_runs import StagesThere
from windrow.places.place import Place
from windrow.plan.nodes.run_names import CHANGES_OF, run_name
from windrow.spark.job.batches import last_begun
from windrow.spark.job.file_names import file_name


def runs_there(checkpoint: Place, running: Iterable[str] = ()) -> StagesThere:
    """How many stages the runs over some streams have of which a batch has begun, or which are `running`."""
    there = [checkpoint.at(entry) for entry in checkpoint.listed() if entry.is_folder]
    folders = {*(place.name for place in there if last_begun(place) >= 0), *map(file_name, running)}
    numbers = {1, *(int(found[1]) for name in folders if (found := re.match(rf"{CHANGES_OF}(\d+)-", name)))}

    def stages_there(sources: tuple[str, ...]) -> set[int]:
        runs = {stages: run_name(sources, stages) for stages in numbers}
        return {stages for stages, run in runs.items() if folders & {run, file_name(run)}}

    return stages_there
