"""One job a checkpoint: whoever comes second is told who has it."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from windrow.errors import JobError, SettingsError
from windrow.places.lease import LEASES, Holder, Lease, taken_over, waited
from windrow.places.place import AnyPlace, Place, place_of
from windrow.places.reach import reason_of
from windrow.spark.job.checkpoint import not_writable

_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)
"""What a file system says that has no locks: there, nothing is held."""

_LOCK = "lock.json"

_HELD: dict[str, Hold] = {}
"""What this process holds. A job that has ended by itself may not have let go yet when the next one comes."""


@dataclass(frozen=True, slots=True)
class Witness:
    """A hold as another process has it, such as the one in which a Spark Connect server writes batches."""

    checkpoint: Place
    lease: int | None
    said: Mapping[str, Any]

    def check(self) -> None:
        """Raise who has taken the checkpoint over."""
        number = self.lease
        if number is not None:
            _raise_taken(self.checkpoint, lambda: taken_over(self.checkpoint / LEASES, number))
            return
        with suppress(OSError, ValueError):  # in the instant in which it is written
            said = json.loads((self.checkpoint / _LOCK).read())
            if said != self.said:
                raise JobError(f"the checkpoint {self.checkpoint} was taken over{_who(said)}")


class Hold:
    """A checkpoint in the hands of one job, from `take` to `release`.

    On this machine it is a lock of the kernel on a file (flock), which goes with the process: after a crash nobody
    holds it, whatever the file says. Elsewhere it is a lease, which has to be renewed. Two jobs of one process exclude
    each other, too.
    """

    def __init__(self, checkpoint: AnyPlace) -> None:
        self._checkpoint = place_of(checkpoint)
        local = self._checkpoint.is_local
        self._place = os.path.join(os.path.realpath(self._checkpoint.path), _LOCK) if local else str(checkpoint)
        self._file: int | None = None
        self._lease: Lease | None = None
        self._said: Mapping[str, Any] = {}
        self.lives: Callable[[], bool] = lambda: True
        """Whether the job that holds it still runs."""

    def take(self) -> None:
        """Hold the checkpoint, which is made where there is none; raises who else does."""
        if self._file is not None or self._lease is not None:
            return
        before = _HELD.get(self._place)
        if before is not None and not before.lives():
            before.release()
        if self._checkpoint.is_local:
            self._lock_file()
        else:
            self._take_lease()
        _HELD[self._place] = self

    def check(self) -> None:
        """Raise who has taken the checkpoint over, before anything is committed: a lease that was not renewed ends."""
        if self._lease is not None:
            _raise_taken(self._checkpoint, self._lease.check)

    def __reduce__(self) -> tuple[type[Witness], tuple[Place, int | None, Mapping[str, Any]]]:
        """What goes to another process can only look whether the hold still holds."""
        number = None if self._lease is None else self._lease.number
        return Witness, (self._checkpoint.absolute(), number, self._said)

    def release(self) -> None:
        """Let others have it. The file stays: who opens it while it goes would hold another one."""
        if self._file is None and self._lease is None:
            return
        _HELD.pop(self._place, None)
        file, self._file = self._file, None
        lease, self._lease = self._lease, None
        if file is not None:
            os.close(file)
        if lease is not None:
            lease.release()

    def _lock_file(self) -> None:
        try:
            self._checkpoint.make_folder()
            file = os.open(self._place, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise not_writable(self._checkpoint, error) from error
        try:
            _lock(file, self._checkpoint)
            with suppress(PermissionError):  # it is another's, who lets us write
                os.fchmod(file, 0o600)
            os.ftruncate(file, 0)
            self._said = _oneself()
            os.pwrite(file, json.dumps(self._said).encode(), 0)
        except BaseException:
            os.close(file)
            raise
        self._file = file

    def _take_lease(self) -> None:
        lease = Lease(self._checkpoint, _oneself())
        try:
            self._checkpoint.make_folder()
            other = lease.take()
        except OSError as error:
            raise not_writable(self._checkpoint, error) from error
        if other is not None:
            raise _held(self._checkpoint, other.said)
        lease.keep()
        self._lease = lease


def check_hold(hold: Hold | Witness) -> None:
    """Raise who has taken the checkpoint over. To another process this goes with a witness in place of the hold."""
    hold.check()


def _raise_taken(checkpoint: Place, check: Callable[[], Holder | None]) -> None:
    try:
        other = check()
    except OSError as error:
        raise JobError(f"the checkpoint {checkpoint} cannot be read: {reason_of(error)}") from error
    if other is not None:
        raise JobError(
            f"the checkpoint {checkpoint} was taken over{_who(other.said)}: this job had not renewed its"
            " lease for too long, and nothing of this batch is shown by it"
        )


def check_free(checkpoint: AnyPlace) -> None:
    """Raise who has `checkpoint`, if anybody, without making or holding anything."""
    place = place_of(checkpoint)
    if not place.is_local:
        try:
            other = waited(place / LEASES)
        except OSError as error:
            raise not_writable(place, error) from error
        if other is not None and not other.is_released and other.number > 0:
            raise _held(place, other.said)
        return
    try:
        file = os.open(os.path.join(place.path, _LOCK), os.O_RDONLY)
    except OSError:
        return
    try:
        _lock(file, place, fcntl.LOCK_SH)
    finally:
        os.close(file)


def _lock(file: int, checkpoint: Place, kind: int = fcntl.LOCK_EX) -> None:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return
        raise _held(checkpoint, _told(file)) from None


def _held(checkpoint: Place, said: Mapping[str, Any]) -> SettingsError:
    return SettingsError(
        f"a job runs on the checkpoint {checkpoint} already{_who(said, ': ')}"
        "\nhint: stop it first, or start with another checkpoint"
    )


def _oneself() -> dict[str, str | int]:
    since = datetime.now(UTC).isoformat(sep=" ", timespec="seconds")
    return {"host": socket.gethostname(), "process": os.getpid(), "since": since}


def _told(file: int) -> dict[str, Any]:
    """Who holds the lock, by its own words; nothing in the instant before it has said so."""
    with suppress(OSError, ValueError):
        holder = json.loads(os.pread(file, 4096, 0))
        return holder if isinstance(holder, dict) else {}
    return {}


def _who(said: Mapping[str, Any], before: str = " by ") -> str:
    with suppress(KeyError):
        return f"{before}process {said['process']} on {said['host']}, since {said['since']}"
    return ""
