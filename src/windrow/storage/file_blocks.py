"""Blocks in a local file, every one of them checked when it is read."""

from __future__ import annotations

import errno
import json
import os
from collections import deque
from pathlib import Path
from typing import Any

from xxhash import xxh3_64_intdigest as checksum

from windrow.errors import StorageError
from windrow.storage.block_places import BlockPlace, BlockPlaces, Runs, runs_of, slots_in

SLOT_BYTES = 17 * 1024
"""The file is cut into slots of this size; a block takes as many as it needs, wherever they are free. Four of them hold
64 KB of rows with what is said about their columns."""


class FileBlocks:
    """Blocks in the slots of one file; a slot that is free again is reused, the least recently released first.

    A write that fails leaves the block as it was: it goes into free slots, and the old ones are released afterwards.
    With `recoverable`, slots that the last `commit` knew are not reused before the next one, so that after a crash the
    file is read as it was committed (shadow pages: Lorie 1977). Without it the file lives as long as this object.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     blocks = FileBlocks(Path(folder) / "window")
    ...     blocks.write("rows", 7, b"abc")
    ...     blocks.read("rows", 7)
    ...     blocks.close()
    b'abc'
    """

    pays = 0.4
    """A disk takes a block in less time than it takes to compress it, so that much must be saved."""

    def __init__(self, path: Path | str, slot_bytes: int = SLOT_BYTES, *, recoverable: bool = False) -> None:
        self.path, self._slot_bytes, self._recoverable = Path(path), slot_bytes, recoverable
        self._places = BlockPlaces()
        self._free: deque[tuple[int, int]] = deque()
        self._released: list[tuple[int, int]] = []
        self._slots = 0
        known = self._index() if recoverable else None
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | (0 if known is not None else os.O_TRUNC), 0o600)
        except OSError as error:
            raise StorageError(f"{self.path} cannot be opened for blocks: {error.strerror}") from error
        for family, number, slots, length, known_sum in known or ():
            self._places[family, number] = BlockPlace(runs_of(slots), length, known_sum)
        for first, count in sorted(run for _, place in self._places.items() for run in place.runs):
            if first > self._slots:
                self._free.append((self._slots, first - self._slots))
            self._slots = first + count

    def read(self, family: str, number: int) -> bytes:
        place = self._places.get((family, number))
        if place is None:
            raise StorageError(f"{self.path} has no block {number} of {family}")
        parts, left = [], place.length
        for first, count in place.runs:
            parts.append(self._read_at(first, min(count * self._slot_bytes, left), family, number))
            left -= len(parts[-1])
        block = parts[0] if len(parts) == 1 else b"".join(parts)
        if checksum(block) != place.checksum:
            raise StorageError(f"{self.path} is damaged: block {number} of {family} is not what was written there")
        return block

    def write(self, family: str, number: int, block: bytes) -> None:
        end = self._slots
        runs = self._taken(-(-len(block) // self._slot_bytes))
        try:
            written = 0
            for first, count in runs:
                part = memoryview(block)[written : written + count * self._slot_bytes]
                self._write_at(first, part, family, number)
                written += len(part)
        except StorageError:
            self._free.extendleft(run for run in reversed(runs) if run[0] < end)
            self._slots = end
            raise
        self.delete(family, number)
        self._places[family, number] = BlockPlace(runs, len(block), checksum(block))

    def delete(self, family: str, number: int) -> None:
        place = self._places.pop((family, number))
        if place is not None:
            (self._released if self._recoverable else self._free).extend(place.runs)

    def delete_all(self, prefix: str) -> None:
        for family, number in list(self._places.of(prefix)):
            self.delete(family, number)

    def commit(self) -> None:
        """From now on a crash leads back to the blocks as they are now."""
        told = self._places.items()
        rows = [[*address, slots_in(place.runs), place.length, place.checksum] for address, place in told]
        text = json.dumps([self._slot_bytes, rows])
        waiting = self._index_path.with_suffix(".new")
        try:
            os.fsync(self._file)
            with open(waiting, "w") as file:
                file.write(f"{checksum(text.encode())}\n{text}")
                file.flush()
                os.fsync(file.fileno())
            os.replace(waiting, self._index_path)
        except OSError as error:
            raise self._trouble(error, f"the index {self._index_path} cannot be written") from error
        self._free.extend(self._released)
        self._released.clear()

    def close(self) -> None:
        os.close(self._file)

    def __len__(self) -> int:
        return len(self._places)

    @property
    def bytes_on_disk(self) -> int:
        """How long the file is, free slots included."""
        return self._slots * self._slot_bytes

    @property
    def _index_path(self) -> Path:
        return self.path.with_name(self.path.name + ".index")

    def _index(self) -> list[list[Any]] | None:
        """What the last commit has written; None if there was none."""
        try:
            written, text = self._index_path.read_text().split("\n", 1)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise StorageError(f"{self._index_path} cannot be read: {error}") from error
        if str(checksum(text.encode())) != written:
            raise StorageError(f"{self._index_path} is damaged: it is not what was written there")
        rows: list[list[Any]]
        slot_bytes, rows = json.loads(text)
        if slot_bytes != self._slot_bytes:
            raise StorageError(f"{self.path} has slots of {slot_bytes} bytes, not of {self._slot_bytes}")
        return rows

    def _taken(self, count: int) -> Runs:
        """Free slots, those released first before any other, then new ones at the end of the file."""
        runs: list[tuple[int, int]] = []
        while self._free and count:
            first, free = self._free.popleft()
            if free > count:
                self._free.appendleft((first + count, free - count))
                free = count
            runs.append((first, free))
            count -= free
        if count:
            runs.append((self._slots, count))
            self._slots += count
        return tuple(runs)

    def _read_at(self, slot: int, wanted: int, family: str, number: int) -> bytes:
        try:
            found = os.pread(self._file, wanted, slot * self._slot_bytes)
        except OSError as error:
            raise self._trouble(error, f"block {number} of {family} cannot be read") from error
        if len(found) < wanted:
            raise StorageError(
                f"{self.path} is cut off: block {number} of {family} lacks {wanted - len(found)} of its bytes"
            )
        return found

    def _write_at(self, slot: int, part: memoryview, family: str, number: int) -> None:
        position = slot * self._slot_bytes
        try:
            while part:
                done = os.pwrite(self._file, part, position)
                part, position = part[done:], position + done
        except OSError as error:
            raise self._trouble(error, f"block {number} of {family} cannot be written") from error

    def _trouble(self, error: OSError, what: str) -> StorageError:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return StorageError(f"{self.path}: the disk is full, {what}: free some space, or name another folder")
        return StorageError(f"{self.path}: {what}: {error.strerror}")
