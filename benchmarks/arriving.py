"""Files of a stream, in the order in which Spark is to read them."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def put(folder: Path, number: int, table: pa.Table) -> None:
    """File `number` of a stream. Spark takes files by age, and two written within a millisecond are equally old."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{number:05d}.parquet"
    pq.write_table(table, folder / f".{name}")  # whole before anybody sees it
    os.utime(folder / f".{name}", (1_700_000_000 + number,) * 2)
    os.replace(folder / f".{name}", folder / name)
