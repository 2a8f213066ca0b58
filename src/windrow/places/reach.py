"""Whether a place can be had, found before anything starts: it is written to, once, and the error names it."""

from __future__ import annotations

import os
import re
import uuid
from datetime import datetime

from windrow.errors import SettingsError
from windrow.places.place import Place

_CREDENTIALS = {
    "s3": "fs.s3a.access.key and fs.s3a.secret.key",
    "gs": "fs.gs.auth.service.account.json.keyfile",
    "abfs": "fs.azure.account.key.ACCOUNT.dfs.core.windows.net",
}


_SILENT = re.compile(r"host='(?P<host>[^']+)', port=(?P<port>\d+).*\[Errno -?\d+\] (?P<why>[^'\")]+)", re.DOTALL)


def check_reached(place: Place, what: str) -> None:
    """Refuse a folder that cannot be written, as `what`; a local one is looked at, and nothing is made there."""
    try:
        if place.is_local:
            _look(place.path)
        else:
            written_now(place)
    except OSError as error:
        raise unreached(place, what, error) from error


def written_now(place: Place) -> datetime:
    """Write a file into a folder elsewhere and delete it; gives what the clock of its home said then."""
    probe = place / f".windrow-{uuid.uuid4().hex}"
    probe.write(b"Windrow looks whether it can write here")
    try:
        return probe.modified()
    finally:
        probe.delete()


def unreached(place: Place, what: str, error: OSError) -> SettingsError:
    """What is told of a folder that cannot be written: which, why, and the way out."""
    way_out = "name another folder"
    protocol = getattr(place.home, "protocol", "")
    if protocol in _CREDENTIALS:
        way_out = f"see that the bucket is there, and that Spark has {_CREDENTIALS[protocol]}, as spark.hadoop.fs..."
    elif not place.is_local:
        way_out = "see that it can be reached from here, and that you may write there"
    return SettingsError(f"{what} {place} cannot be written: {reason_of(error)}; {way_out}")


def reason_of(error: OSError) -> str:
    """Why, in the words of the system or the store; of who does not answer, the address and no more.

    >>> reason_of(OSError("HTTPConnectionPool(host='a', port=9870): Max retries exceeded with url: /x?op=GETFILESTATUS"
    ...                   " (Caused by NewConnectionError('[Errno 111] Connection refused'))"))
    'a:9870: connection refused'
    """
    said = error.strerror or str(error) or type(error).__name__
    if (silent := _SILENT.search(said)) is not None:
        said = f"{silent['host']}:{silent['port']}: {silent['why']}"
    return " ".join(said.split()).rstrip(".").lower()


def _look(path: str) -> None:
    """Whether a folder of this machine could be written, or made."""
    there = os.path.abspath(path)
    while not os.path.exists(there):
        there = os.path.dirname(there)
    if not os.path.isdir(there):
        raise NotADirectoryError(20, os.strerror(20))
    if not os.access(there, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(13, os.strerror(13))
