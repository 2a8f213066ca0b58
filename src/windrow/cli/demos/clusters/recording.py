"""Positions that were recorded, played again as if they happened now."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from windrow.cli.demos.live_files import SECOND_US
from windrow.errors import SettingsError

COLUMNS = ("t", "id", "x", "y", "speed")


class Recording:
    """A CSV file, perhaps packed, with the columns t (seconds since the epoch), id, x, y and speed.

    When it is over it begins anew, with times that go on.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "run.csv"
    >>> _ = file.write_text("t,id,x,y,speed\\n100,1,0,0,3\\n101.5,1,4,0,3\\n")
    >>> recording = Recording(file)
    >>> recording.positions(100 * SECOND_US, 104 * SECOND_US)["x"].to_pylist()
    [0.0, 4.0, 0.0, 4.0]
    >>> folder.cleanup()
    """

    def __init__(self, path: Path) -> None:
        rows = _read(path)
        order = np.argsort(rows["t"].to_numpy(), kind="stable")
        self._rows = rows.take(pa.array(order)).select(["id", "x", "y", "speed"])
        self._times = (rows["t"].to_numpy()[order] * SECOND_US).astype(np.int64)
        self.begin_us = int(self._times[0])
        self._length = -(-int(self._times[-1] + 1 - self.begin_us) // SECOND_US) * SECOND_US

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """The field: left, bottom, right and top, in which all but a few stray points are."""
        left, right = np.quantile(self._rows["x"].to_numpy(), [0.001, 0.999])
        bottom, top = np.quantile(self._rows["y"].to_numpy(), [0.001, 0.999])
        border = 0.03 * max(right - left, top - bottom, 1e-9)
        return float(left - border), float(bottom - border), float(right + border), float(top + border)

    def positions(self, begin_us: int, end_us: int) -> pa.Table:
        """The readings of [begin, end)."""
        parts = []
        for again in range((begin_us - self.begin_us) // self._length, (end_us - self.begin_us) // self._length + 1):
            later = again * self._length
            low, high = np.searchsorted(self._times, [begin_us - later, end_us - later])
            times = pa.array(self._times[low:high] + later, pa.timestamp("us", tz="UTC"))
            parts.append(self._rows.slice(low, high - low).add_column(0, "ts", times))
        return pa.concat_tables(parts)


def _read(path: Path) -> pa.Table:
    try:
        rows = csv.read_csv(path)  # what ends in .gz is unpacked
    except (OSError, pa.ArrowInvalid) as error:
        raise SettingsError(f"--data {path} cannot be read: {str(error).splitlines()[0]}") from None
    missing = [name for name in COLUMNS if name not in rows.column_names]
    if missing:
        raise SettingsError(
            f"--data {path} has no column {missing[0]!r}; needed: {', '.join(COLUMNS)}; there are:"
            f" {', '.join(rows.column_names)}"
        )
    try:
        numbers = pa.table({name: pc.cast(rows[name], pa.float64()) for name in COLUMNS if name != "id"})
    except pa.ArrowInvalid as error:
        raise SettingsError(f"--data {path}: t, x, y and speed have to be numbers: {error}") from None
    known = numbers.append_column("id", pc.cast(rows["id"], pa.string())).drop_null()
    if not known.num_rows:
        raise SettingsError(f"--data {path} has no positions")
    return known
