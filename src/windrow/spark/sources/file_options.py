"""What the format and the options of a source of files say by themselves, before Spark is asked."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping

FILES = ("parquet", "csv", "json", "orc", "text", "avro")
TEXTS = ("csv", "json")
"""Formats whose single rows may be unreadable."""

CORRUPT = "_corrupt_record"
BATCH_BYTES = 1 << 30
"""A batch reads about so many bytes of files, where a stream does not say how many; of a larger file, all of it."""

_OPTIONS = {
    *("path", "pathglobfilter", "recursivefilelookup", "basepath", "ignoremissingfiles"),
    *("maxfilespertrigger", "maxbytespertrigger", "maxcachedfiles", "discardcachedinputratio", "latestfirst"),
    *("maxfileage", "filenameonly", "cleansource", "sourcearchivedir"),
}
"""What is about names, and none of it about what is in a file."""


def bounded(format: str, options: Mapping[str, str]) -> dict[str, str]:
    """The options of a stream of files, with a bound on what a batch reads, where none is said.

    The first batch of a large backlog would else be all of it. Spark passes over `maxFileAge` where the latest files
    come first and there is a bound, so none is set there.

    >>> bounded("parquet", {"path": "in"}), bounded("parquet", {"MAXFILESPERTRIGGER": "9"})
    ({'path': 'in', 'maxBytesPerTrigger': '1073741824'}, {'MAXFILESPERTRIGGER': '9'})
    """
    said = {name.lower() for name in options}
    if format.lower() not in FILES or said & {"maxfilespertrigger", "maxbytespertrigger", "latestfirst"}:
        return dict(options)
    return {**options, "maxBytesPerTrigger": str(BATCH_BYTES)}


def missing_path(format: str, options: Mapping[str, str]) -> str | None:
    """What is wrong with the path of a source of files, if anything."""
    path = options.get("path")
    if path is None:
        return f"{format} files need a path" if format in FILES else None
    if "://" in path and not path.startswith("file:"):
        return None
    plain = path.removeprefix("file://").removeprefix("file:")
    return None if glob.glob(plain) or os.path.exists(plain) else f"there is nothing at {path!r}"


def not_by_name(format: str, options: Mapping[str, str]) -> str | None:
    """Why tasks cannot read files by their names, as far as their format and their options tell.

    >>> not_by_name("csv", {"path": "in"}), not_by_name("parquet", {"path": "in", "mergeSchema": "true"})
    ('csv is read by Spark', "the option mergeSchema is for Spark's reader")
    """
    if format.lower() != "parquet":
        return f"{format} is read by Spark"
    other = [name for name in options if name.lower() not in _OPTIONS]
    if other:
        return f"the option {other[0]} is for Spark's reader"
    path = next((value for name, value in options.items() if name.lower() == "path"), "")
    if "://" in path and not path.startswith("file:"):
        return f"{path.split('://')[0]}:// is reached by Spark"
    return None
