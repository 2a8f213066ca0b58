"""An index as a sink: tasks write sorted runs, and a manifest that the driver replaces whole says which are valid."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

from windrow.indexes.facts import TIME, IndexFacts
from windrow.indexes.published import MANIFEST, Manifest, RunFacts, shared_folder
from windrow.indexes.runs import WORD, RunFile, encode_run, merged, pane_runs
from windrow.places.place import Place
from windrow.plan.sink import INDEX, Sink
from windrow.spark.sinks.files import FileSink
from windrow.spark.sinks.staged_files import StagedFile

MERGED_AT = 32
"""So many runs of one pane and one level become one: a look-up asks each."""


@dataclass(frozen=True, slots=True)
class StagedRuns:
    """Where a task writes the runs of a batch: under names that no other attempt has, and that no manifest has yet."""

    home: Place
    facts: IndexFacts

    def write(self, rows: pa.Table, batch: int, kind: int = 0) -> list[StagedFile]:
        context = TaskContext.get()
        assert context is not None
        return self.put(rows, batch, f"{context.partitionId():05d}-{context.taskAttemptId()}-{uuid.uuid4().hex[:8]}")

    def put(self, rows: pa.Table, batch: int, name: str) -> list[StagedFile]:
        """Write a run for each pane; what is known of a run goes along in place of a folder."""
        staged = []
        for number, (pane, run) in enumerate(pane_runs(rows, self.facts)):
            place = self.home / f"run-{batch:09d}-{name}-{number:03d}.arrow"
            place.write(encode_run(run))
            known = _run_facts(place.name, pane, batch, run)
            newest = int(run[TIME].cast(pa.int64()).to_numpy().max())
            staged.append(StagedFile(place.path, json.dumps([*known, newest])))
        return staged


class IndexSink(FileSink):
    """Publishes the rows of an index: of each batch its runs, then a manifest with them and with the clock.

    A reader takes the manifest and the runs in it, and sees a batch whole or not at all. A batch that runs again leaves
    out what it had brought. Runs that expire are not in the next manifest, and their files are deleted with the one
    after, so that who reads has the time to end.
    """

    takes_empty = False

    def __init__(self, facts: IndexFacts, folder: Place, spark: SparkSession, prefix: str) -> None:
        super().__init__(Sink(INDEX, (("path", str(folder)),)), prefix, spark, folder)
        self._facts, self._home = facts, folder.absolute()
        self._manifest = Manifest()

    def by_tasks(self, schema: pa.Schema) -> StagedRuns:  # type: ignore[override]
        return StagedRuns(self._home, self._facts)

    def stage(self, rows: pa.Table, batch: int) -> list[StagedFile]:
        return self.by_tasks(rows.schema).put(rows, batch, f"driver-{uuid.uuid4().hex[:8]}")

    def stage_by_spark(self, rows: DataFrame, batch: int) -> list[StagedFile]:
        found = rows.toArrow()
        return self.stage(found, batch) if found.num_rows else []

    def clear(self, batch: int) -> None:
        """Go on from what is published, and delete what attempts have left that are in no manifest."""
        for folder in (self._home.parent, self._home):
            folder.make_folder()
        place = self._home / MANIFEST
        content = place.read() if place.exists() else None
        shared = None if content is None else shared_folder(content)
        if shared is not None:
            self._manifest = self._taken_over(self._home.parent / shared)
        else:
            self._manifest = Manifest() if content is None else Manifest.decoded(content)[0]
        kept = {MANIFEST, *self._manifest.gone, *(run.file for run in self._manifest.runs)}
        for entry in self._home.entries():
            if entry.name not in kept and entry.name.startswith(("run-", "merged-")):
                entry.delete()

    def commit(self, staged: Sequence[StagedFile], batch: int, clock_us: int | None) -> None:
        """Publish what a batch has brought, as of the clock that it has come to."""
        before = self._manifest.before(batch)
        facts = [json.loads(file.folder) for file in staged]
        runs = [*before.runs, *(RunFacts(*known[:-1]) for known in facts)]
        clocks = [before.clock_us, clock_us, *(known[-1] + 1 for known in facts)]
        clock = max((each for each in clocks if each is not None), default=None)
        held = Manifest(clock_us=clock, runs=tuple(runs)).since(self._facts.range_us, self._facts.slide_us)
        kept = self._merged(list(held.runs), batch)
        files = {run.file for run in kept}
        gone = tuple(run.file for run in self._manifest.runs if run.file not in files)
        manifest = replace(before, batch=batch, clock_us=clock, runs=tuple(kept), gone=gone)
        (self._home / MANIFEST).write(manifest.encoded(self._facts))
        for name in self._manifest.gone:
            (self._home / name).delete()
        self._manifest = manifest

    def _taken_over(self, wide: Place) -> Manifest:
        """What was in the runs of a wider index, which is gone from the job, as runs of its own."""
        if not (wide / MANIFEST).exists():
            return Manifest()
        manifest, facts = Manifest.decoded((wide / MANIFEST).read())
        runs = []
        for run in manifest.since(self._facts.range_us, facts.slide_us).runs:
            rows = RunFile(wide / run.file).table().select(self._facts.rows.names)
            for pane, own in pane_runs(rows, self._facts):
                place = self._home / f"run-{run.batch:09d}-taken-{uuid.uuid4().hex[:12]}.arrow"
                place.write(encode_run(own))
                runs.append(RunFacts(*_run_facts(place.name, pane, run.batch, own)))
        return Manifest(manifest.batch, manifest.clock_us, tuple(runs))

    def _merged(self, runs: list[RunFacts], batch: int) -> list[RunFacts]:
        """Runs of which none but those of the batch itself are many: those of earlier batches never go back."""
        levels: dict[tuple[int, int], list[RunFacts]] = {}
        for run in runs:
            if run.batch < batch:
                levels.setdefault((run.pane_us, run.level), []).append(run)
        for (pane, level), many in levels.items():
            if len(many) >= MERGED_AT:
                whole = merged([RunFile(self._home / run.file).table() for run in many], self._facts)
                last = max(run.batch for run in many)
                place = self._home / f"merged-{batch:09d}-{uuid.uuid4().hex[:12]}.arrow"
                place.write(encode_run(whole))
                gone = {run.file for run in many}
                known = RunFacts(*_run_facts(place.name, pane, last, whole), level=level + 1)
                runs = [*(run for run in runs if run.file not in gone), known]
        return runs


def _run_facts(file: str, pane: int, batch: int, run: pa.Table) -> tuple[str, int, int, int, int, int]:
    words = run[WORD]
    return file, pane, batch, run.num_rows, words[0].as_py(), words[-1].as_py()
