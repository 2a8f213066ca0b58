"""Names that people give to streams and queries, as names of files: whatever is in them, they lead nowhere else."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import quote

from windrow.places.place import AnyPlace, Place, place_of

OWN_FOLDERS = ("letters", "answers", "indexes")
"""What Windrow itself calls folders of a checkpoint, or once did (`letters`). Its other names have a dot, and no plain
name has one."""

LONGEST = 100
"""So many characters of a name are kept; file systems take 255 bytes, and Spark puts words of its own around."""

_PLAIN = re.compile(rf"[a-z0-9_][a-z0-9_+-]{{0,{LONGEST - 1}}}")
_DEVICE = re.compile(r"con|prn|aux|nul|(com|lpt)[0-9]")
"""What some systems take for a device, whatever the folder."""


def file_name(name: str) -> str:
    """The name of a file, or folder, for what is called `name`: a plain name is its own.

    Any other is escaped with per cent signs, and cut where it is long. A hash of the whole follows, so that two names
    that differ in case only are two files everywhere, and none is one that Windrow uses itself.

    >>> file_name("ticks"), file_name("changes-a+b")
    ('ticks', 'changes-a+b')
    >>> file_name("../../evil")
    '%2E%2E%2F%2E%2E%2Fevil~0fbfd372a48342dc'
    >>> file_name("letters") == "letters", file_name("Ticks").lower() == file_name("TICKS").lower()
    (False, False)
    """
    if is_plain(name):
        return name
    escaped = quote(name, safe="+", errors="surrogatepass").replace(".", "%2E").replace("~", "%7E")
    cut = re.sub(r"%.?$", "", escaped[:LONGEST])  # not within an escape
    return f"{cut}~{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def is_plain(name: str) -> bool:
    return bool(_PLAIN.fullmatch(name)) and name not in OWN_FOLDERS and not _DEVICE.fullmatch(name)


def folder_of(checkpoint: AnyPlace, stream: str) -> Place:
    """The folder of a stream in a checkpoint: one that has it by its bare name, as all once did, keeps it there."""
    name, folder = file_name(stream), place_of(checkpoint)
    if name != stream and _has_bare(folder, stream):
        name = stream
    return folder / name


def _has_bare(checkpoint: Place, stream: str) -> bool:
    """Whether a folder of this very name, not of one that only looks like it, is that of a stream."""
    return stream not in OWN_FOLDERS and stream in checkpoint.names() and (checkpoint / stream / "control").is_folder()
