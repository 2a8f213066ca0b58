"""Blocks in a file: what goes wrong with files is said, with the file's name."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.errors import StorageError
from windrow.storage.file_blocks import FileBlocks


@pytest.fixture
def filled(tmp_path):
    blocks = FileBlocks(tmp_path / "window", slot_bytes=16, recoverable=True)
    for number in range(4):
        blocks.write("rows", number, bytes([number]) * 40)
    blocks.commit()
    yield blocks
    blocks.close()


def test_a_file_that_is_cut_off_is_named(filled):
    os.truncate(filled.path, 150)
    assert filled.read("rows", 0) == bytes(40)
    with pytest.raises(StorageError, match=rf"{filled.path} is cut off: block 3 of rows lacks"):
        filled.read("rows", 3)


@pytest.mark.parametrize("position", [48, 60, 80])
def test_a_changed_byte_is_found(filled, position):
    with open(filled.path, "r+b") as file:
        file.seek(position)
        file.write(b"\xff")
    with pytest.raises(StorageError, match=rf"{filled.path} is damaged: block 1 of rows"):
        filled.read("rows", 1)
    assert filled.read("rows", 0) == bytes(40)


@given(st.binary(min_size=1, max_size=200), st.data())
def test_no_changed_bit_and_no_changed_order_goes_unseen(tmp_path_factory, block, data):
    blocks = FileBlocks(tmp_path_factory.mktemp("window") / "window")
    blocks.write("rows", 0, block)
    changed = bytearray(block)
    changed[data.draw(st.integers(0, len(block) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    for other in {bytes(changed), block[8:] + block[:8]} - {block}:
        blocks.path.write_bytes(other)
        with pytest.raises(StorageError, match="is damaged: block 0 of rows is not what was written there"):
            blocks.read("rows", 0)
    blocks.close()


def test_a_changed_index_is_found(filled):
    index = filled.path.with_name("window.index")
    index.write_text(index.read_text().replace("40", "41", 1))
    with pytest.raises(StorageError, match=r"window\.index is damaged"):
        FileBlocks(filled.path, slot_bytes=16, recoverable=True)


def test_a_block_that_is_not_there_is_named(filled):
    with pytest.raises(StorageError, match=rf"{filled.path} has no block 9 of rows"):
        filled.read("rows", 9)


def test_after_a_crash_the_file_is_as_it_was_committed(filled):
    filled.delete("rows", 0)
    filled.write("rows", 1, b"new")
    for number in range(4, 20):
        filled.write("rows", number, b"more" * 9)
    again = FileBlocks(filled.path, slot_bytes=16, recoverable=True)
    assert [again.read("rows", number) for number in range(4)] == [bytes([number]) * 40 for number in range(4)]
    with pytest.raises(StorageError):
        again.read("rows", 4)
    again.close()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_said_and_leaves_what_was_there():
    blocks = FileBlocks("/dev/full")
    with pytest.raises(StorageError, match="/dev/full: the disk is full, block 3 of rows cannot be written"):
        blocks.write("rows", 3, b"abc")
    assert len(blocks) == 0
    blocks.close()


def test_a_disk_that_fills_up_loses_nothing(tmp_path):
    """The limit of a file's length stands in for the disk's."""
    program = f"""
import resource, signal
from windrow.errors import StorageError
from windrow.storage.file_blocks import FileBlocks
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
blocks = FileBlocks({str(tmp_path / "window")!r}, slot_bytes=1000)
for number in range(9):
    try:
        blocks.write("rows", number, bytes([number]) * 1500)
    except StorageError as error:
        print(error)
        break
print([blocks.read("rows", n) == bytes([n]) * 1500 for n in range(number)])
blocks.delete("rows", 0)
blocks.write("rows", 7, b"a" * 2000)
print(blocks.read("rows", 7) == b"a" * 2000)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    said, kept, reused = done.stdout.splitlines()
    assert said.startswith(f"{tmp_path / 'window'}: the disk is full, block 2 of rows cannot be written: free some")
    assert (kept, reused) == ("[True, True]", "True")


@pytest.mark.parametrize("path", ["/proc/windrow", "/nowhere/at/all"])
def test_a_folder_that_cannot_be_written_to_is_named(path):
    with pytest.raises(StorageError, match=rf"{path} cannot be opened for blocks: "):
        FileBlocks(path)
