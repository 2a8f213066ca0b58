"""An index as a running job publishes it: runs in a folder, and a manifest that says which of them are valid."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

import pyarrow as pa

from windrow.errors import JobError, SettingsError
from windrow.indexes.asking import KeyRange, key_range, whole_key
from windrow.indexes.facts import IndexFacts
from windrow.indexes.runs import RunFile, in_window
from windrow.places.place import Place

MANIFEST, FORMAT, SHARED = "manifest.json", 1, 2
"""The formats of a manifest: with runs of its own, and one that names the index whose runs it has."""
_TRIES = 5


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run: its file, the pane and the batch that it is of, how often it has been merged, and its words."""

    file: str
    pane_us: int
    batch: int
    rows: int
    first: int
    last: int
    level: int = 0


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an index holds as of a batch: runs, and the clock. `gone` are files that the next batch deletes."""

    batch: int = -1
    clock_us: int | None = None
    runs: tuple[RunFacts, ...] = ()
    gone: tuple[str, ...] = ()

    def encoded(self, facts: IndexFacts) -> bytes:
        return json.dumps({"format": FORMAT} | _plain(facts) | asdict(self)).encode()

    @classmethod
    def decoded(cls, content: bytes) -> tuple[Manifest, IndexFacts]:
        kept: dict[str, Any] = json.loads(content)
        if kept.get("format") != FORMAT:
            raise JobError(f"the index is of format {kept.get('format')}, and this version of Windrow reads {FORMAT}")
        runs = tuple(RunFacts(**run) for run in kept["runs"])
        return cls(kept["batch"], kept["clock_us"], runs, tuple(kept["gone"])), _facts(kept)

    def since(self, range_us: int, slide_us: int) -> Manifest:
        """With the runs of panes of so long a slide that a window of `range_us` meets."""
        begin = None if self.clock_us is None else self.clock_us - range_us - slide_us
        return replace(self, runs=tuple(run for run in self.runs if begin is None or run.pane_us > begin))

    def before(self, batch: int) -> Manifest:
        """Without what a batch, which is done again, had brought."""
        return replace(self, runs=tuple(run for run in self.runs if run.batch < batch))


def sharing_manifest(facts: IndexFacts, folder: str) -> bytes:
    """The manifest of an index that has its runs in the `folder` of a wider one, beside its own."""
    return json.dumps({"format": SHARED, "runs_of": folder} | _plain(facts)).encode()


def shared_folder(content: bytes) -> str | None:
    """The folder of the index whose runs a manifest means, where they are not its own."""
    kept: dict[str, Any] = json.loads(content)
    return str(kept["runs_of"]) if kept.get("format") == SHARED else None


def _plain(facts: IndexFacts) -> dict[str, Any]:
    schema = base64.b64encode(facts.schema.serialize().to_pybytes()).decode()
    kept: dict[str, Any] = {"name": facts.name, "keys": facts.keys, "schema": schema}
    return kept | {"range_us": facts.range_us, "slide_us": facts.slide_us}


def _facts(kept: Mapping[str, Any]) -> IndexFacts:
    schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(kept["schema"])))
    return IndexFacts(kept["name"], tuple(kept["keys"]), schema, kept["range_us"], kept["slide_us"])


class Found(NamedTuple):
    """What an index holds of some keys, and what was published when it was asked."""

    rows: pa.Table
    manifest: Manifest
    facts: IndexFacts


@dataclass(slots=True)
class PublishedIndex:
    """Reads an index beside the job that writes it: manifest and runs, never the state of the job.

    Runs that are open stay open, as long as they are in the window.
    """

    folder: Place
    _open: dict[str, RunFile] = field(default_factory=dict)

    def lookup(self, **key: Any) -> pa.Table:
        """The events of one key in the window, in order of time."""
        return self.find(lambda facts: whole_key(facts, key)).rows

    def scan(self, **key: Any) -> pa.Table:
        """The events whose keys begin with what is given, in order; the last column may be a range, (low, high)."""
        return self.find(lambda facts: key_range(facts, key)).rows

    def window(self) -> tuple[int, int] | None:
        """From when to when events are found, as of the last batch; None before the first."""
        manifest, facts = self.manifest()
        return None if manifest.clock_us is None else (manifest.clock_us - facts.range_us, manifest.clock_us)

    def manifest(self) -> tuple[Manifest, IndexFacts]:
        """What is published now."""
        manifest, facts, _ = self._published()
        return manifest, facts

    def _published(self) -> tuple[Manifest, IndexFacts, Place]:
        """What is published now, and where its runs are: of a wider index those that its own window meets."""
        try:
            content = (self.folder / MANIFEST).read()
            shared = shared_folder(content)
            if shared is None:
                return *Manifest.decoded(content), self.folder
            home, facts = self.folder.parent / shared, _facts(json.loads(content))
            manifest, wide = Manifest.decoded((home / MANIFEST).read())
            return manifest.since(facts.range_us, wide.slide_us), facts, home
        except FileNotFoundError:
            raise SettingsError(
                f"there is no index in {self.folder} yet\nhint: it is there when the job has finished its first batch"
            ) from None

    def find(self, asked: Callable[[IndexFacts], KeyRange]) -> Found:
        """The events in a range of keys, with the batch and the clock that they are of."""
        for attempt in range(_TRIES):
            manifest, facts, home = self._published()
            keys = asked(facts)
            if manifest.clock_us is None:
                return Found(facts.rows.empty_table(), manifest, facts)
            window = (manifest.clock_us - facts.range_us, manifest.clock_us)
            try:
                found = [part for run in self._runs(home, manifest.runs, keys) for part in run.find(keys)]
                return Found(in_window(found, facts, *window), manifest, facts)
            except FileNotFoundError:  # it has expired since the manifest was read
                if attempt == _TRIES - 1:
                    raise
        raise AssertionError("returned or raised")

    def _runs(self, home: Place, runs: Sequence[RunFacts], asked: KeyRange) -> list[RunFile]:
        known: Mapping[str, RunFile] = self._open
        self._open = {run.file: known.get(run.file) or RunFile(home / run.file) for run in runs}
        return [self._open[run.file] for run in runs if run.first <= asked.last and asked.first <= run.last]
