"""The rows that have come into a folder since somebody looked last."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


@dataclass(slots=True)
class NewFiles:
    """Reads each Parquet file of a folder once."""

    folder: Path
    _seen: set[Path] = field(default_factory=set)

    def rows(self) -> pa.Table | None:
        """The rows of the files that have come since, in the order of their names; None where there are none."""
        files = sorted(set(self.folder.glob("[!._]*.parquet")) - self._seen)
        if not files:
            return None
        self._seen.update(files)
        return pa.concat_tables(pq.read_table(file) for file in files)
