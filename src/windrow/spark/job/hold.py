"""One job a checkpoint: whoever comes second is told who has it."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

from windrow.errors import SettingsError
from windrow.spark.job.checkpoint import make_folder, not_writable

_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)
"""What a file system says that has no locks: there, nothing is held."""

_HELD: dict[str, Hold] = {}
"""What this process holds. A job that has ended by itself may not have let go yet when the next one comes."""


class Hold:
    """A checkpoint in the hands of one job, from `take` to `release`.

    It is a lock of the kernel on a file (flock), which goes with the process: after a crash nobody holds it, whatever
    the file says. Two jobs of one process exclude each other, too.
    """

    def __init__(self, checkpoint: str) -> None:
        self._checkpoint = checkpoint
        self._place = os.path.join(os.path.realpath(checkpoint), "lock.json")
        self._file: int | None = None
        self.lives: Callable[[], bool] = lambda: True
        """Whether the job that holds it still runs."""

    def take(self) -> None:
        """Hold the checkpoint, which is made where there is none; raises who else does."""
        if self._file is not None:
            return
        before = _HELD.get(self._place)
        if before is not None and not before.lives():
            before.release()
        try:
            make_folder(self._checkpoint)
            file = os.open(self._place, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise not_writable(self._checkpoint, error) from error
        try:
            _lock(file, self._checkpoint)
            with suppress(PermissionError):  # it is another's, who lets us write
                os.fchmod(file, 0o600)
            os.ftruncate(file, 0)
            os.pwrite(file, json.dumps(_oneself()).encode(), 0)
        except BaseException:
            os.close(file)
            raise
        self._file = file
        _HELD[self._place] = self

    def release(self) -> None:
        """Let others have it. The file stays: who opens it while it goes would hold another one."""
        if self._file is not None:
            _HELD.pop(self._place, None)
            file, self._file = self._file, None
            os.close(file)


def check_free(checkpoint: str) -> None:
    """Raise who has `checkpoint`, if anybody, without making or holding anything."""
    try:
        file = os.open(os.path.join(checkpoint, "lock.json"), os.O_RDONLY)
    except OSError:
        return
    try:
        _lock(file, checkpoint, fcntl.LOCK_SH)
    finally:
        os.close(file)


def _lock(file: int, checkpoint: str, kind: int = fcntl.LOCK_EX) -> None:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return
        raise SettingsError(
            f"a job runs on the checkpoint {checkpoint} already{_told(file)}"
            "\nhint: stop it first, or start with another checkpoint"
        ) from None


def _oneself() -> dict[str, str | int]:
    since = datetime.now(UTC).isoformat(sep=" ", timespec="seconds")
    return {"host": socket.gethostname(), "process": os.getpid(), "since": since}


def _told(file: int) -> str:
    """Who holds the lock, by its own words; nothing in the instant before it has said so."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        holder = json.loads(os.pread(file, 4096, 0))
        return f": process {holder['process']} on {holder['host']}, since {holder['since']}"
    return ""
