"""`windrow compact`: small files of a sink's folder become larger ones."""

from __future__ import annotations

import typer

from windrow.errors import SettingsError
from windrow.places.outside_spark import settings_outside_spark
from windrow.places.place import place_of
from windrow.plan.memory import read_memory


def compact_folder(folder: str, size: str, header: bool | None) -> None:
    """Merge the old small files of a folder, saying what is done."""
    from windrow.spark.sinks.compact import compact

    try:
        most_bytes = read_memory(size)
    except SettingsError:
        raise SettingsError(f"--size {size} is no size from 2 MB on\nhint: write it as '128 MB'") from None
    went, came = compact(place_of(folder, settings_outside_spark()), most_bytes, header, typer.echo)
    typer.echo(f"{went} files are {came} now" if came else f"{folder} has no files to merge")
