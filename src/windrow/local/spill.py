"""Where the blocks of a replay lie: in memory, or in a file that is there as long as it runs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from windrow.errors import StorageError
from windrow.storage.blocks import Blocks, MemoryBlocks
from windrow.storage.file_blocks import FileBlocks


@contextmanager
def blocks_in(folder: str | Path | None) -> Iterator[Blocks]:
    """Blocks in a file of `folder`, or without one in memory."""
    if folder is None:
        yield MemoryBlocks()
        return
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        made = tempfile.TemporaryDirectory(prefix="windrow-", dir=folder)
    except OSError as error:
        raise StorageError(
            f"spill={str(folder)!r} is no folder that blocks can be written to: {error.strerror}"
        ) from error
    with made as own:
        blocks = FileBlocks(Path(own) / "blocks")
        try:
            yield blocks
        finally:
            blocks.close()
