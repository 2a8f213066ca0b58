"""HASH and XXHASH64: Spark's hashes of several columns, each of which begins with the hash of those before it.

HASH is Murmur3 of 32 bits, with Spark's own way to take the bytes behind the last whole word (Appleby, 2008).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import xxhash

from windrow.errors import NotSupportedYet

from . import types
from .columns import column, missing, values
from .decimals import unscaled
from .registry import ANY, function

_SEED = 42
Words = np.ndarray


def _rotated(numbers: Words, bits: int) -> Words:
    width = numbers.dtype.itemsize * 8
    turned: Words = (numbers << numbers.dtype.type(bits)) | (numbers >> numbers.dtype.type(width - bits))
    return turned


def _mixed(hashes: Words, word: Words) -> Words:
    stirred = _rotated(word * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    mixed: Words = _rotated(hashes ^ stirred, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    return mixed


def _finished(hashes: Words, length: Words | int) -> Words:
    hashes = hashes ^ np.asarray(length).astype(np.uint32)
    hashes = (hashes ^ (hashes >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    hashes = (hashes ^ (hashes >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    finished: Words = hashes ^ (hashes >> np.uint32(16))
    return finished


def _murmur_words(words: Words, seeds: Words) -> Words:
    """Hashes of numbers of 32 bits, or of 64, whose low half comes first."""
    if words.dtype == np.int32:
        return _finished(_mixed(seeds, words.view(np.uint32)), 4)
    bits = words.view(np.uint64)
    low, high = bits.astype(np.uint32), (bits >> np.uint64(32)).astype(np.uint32)
    return _finished(_mixed(_mixed(seeds, low), high), 8)


def _murmur_bytes(data: np.ndarray, begins: np.ndarray, lengths: np.ndarray, seeds: Words) -> Words:
    """Hashes of bytes, one word or one byte of all rows at a time."""
    hashes = seeds.copy()
    padded = np.concatenate([data, np.zeros(4, np.uint8)])
    whole = lengths // 4
    for place in range(int(whole.max(initial=0))):
        rows = np.flatnonzero(whole > place)
        at = begins[rows] + 4 * place
        word = sum(padded[at + byte].astype(np.uint32) << np.uint32(8 * byte) for byte in range(4))
        hashes[rows] = _mixed(hashes[rows], np.asarray(word))
    for place in range(3):
        rows = np.flatnonzero(lengths % 4 > place)
        tail = data[begins[rows] + 4 * whole[rows] + place].view(np.int8).astype(np.int32).view(np.uint32)
        hashes[rows] = _mixed(hashes[rows], tail)
    return _finished(hashes, lengths)


def _xx_words(words: Words, seeds: Words) -> Words:
    """XXH64 of numbers of 4 or of 8 bytes."""
    one, two, three = np.uint64(0x9E3779B185EBCA87), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9)
    four, five = np.uint64(0x85EBCA77C2B2AE63), np.uint64(0x27D4EB2F165667C5)
    if words.dtype == np.int32:
        hashes = seeds + five + np.uint64(4)
        hashes ^= words.view(np.uint32).astype(np.uint64) * one
        hashes = _rotated(hashes, 23) * two + three
    else:
        hashes = seeds + five + np.uint64(8)
        hashes ^= _rotated(words.view(np.uint64) * two, 31) * one
        hashes = _rotated(hashes, 27) * one + four
    hashes = (hashes ^ (hashes >> np.uint64(33))) * two
    hashes = (hashes ^ (hashes >> np.uint64(29))) * three
    mixed: Words = hashes ^ (hashes >> np.uint64(32))
    return mixed


def _xx_bytes(data: np.ndarray, begins: np.ndarray, lengths: np.ndarray, seeds: Words) -> Words:
    """XXH64 of bytes, row by row: each begins with its own seed."""
    view = memoryview(data.tobytes())
    rows = zip(begins.tolist(), lengths.tolist(), seeds.tolist(), strict=True)
    return np.array([xxhash.xxh64_intdigest(view[at : at + size], seed) for at, size, seed in rows], np.uint64)


Hash = Callable[[Words, Words], Words]
BytesHash = Callable[[np.ndarray, np.ndarray, np.ndarray, Words], Words]


def _words(array: pa.Array) -> Words | None:
    """The numbers that values are hashed as, or None for those that are bytes."""
    kind = array.type
    if kind in (types.FLOAT, types.DOUBLE):
        numbers = values(array) + values(array).dtype.type(0)  # there is one zero
        numbers = np.where(np.isnan(numbers), numbers.dtype.type("nan"), numbers)
        return np.ascontiguousarray(numbers).view(np.int32 if kind == types.FLOAT else np.int64)
    if kind in (types.STRING, types.BINARY):
        return None
    if types.is_decimal(kind):
        if kind.precision > 18:
            raise NotSupportedYet(f"replay does not hash {types.sql_name(kind)}")
        return unscaled(array).astype(np.int64)
    if not types.is_atom(kind):
        raise NotSupportedYet(f"replay does not hash {types.sql_name(kind)}")
    numbers = values(array)
    return numbers.astype(np.int64 if numbers.dtype == np.int64 else np.int32)


def _hashed(columns: tuple[pa.Array, ...], of_words: Hash, of_bytes: BytesHash, hashes: Words) -> Words:
    for array in columns:
        if array.type == types.VOID:
            continue
        words, there = _words(array), np.flatnonzero(~missing(array))
        if not len(there):
            continue
        if words is not None:
            hashes[there] = of_words(np.ascontiguousarray(words[there]), hashes[there])
            continue
        held = array.cast(types.BINARY)
        offsets = np.frombuffer(held.buffers()[1], np.int32)[held.offset : held.offset + len(held) + 1].astype(np.int64)
        data = np.frombuffer(held.buffers()[2] or b"", np.uint8)
        hashes[there] = of_bytes(data, offsets[:-1][there], np.diff(offsets)[there], hashes[there])
    return hashes


@function("hash", takes=[ANY], variadic=True)
def murmur(*columns: pa.Array) -> pa.Array:
    rows = len(columns[0])
    hashes = _hashed(columns, _murmur_words, _murmur_bytes, np.full(rows, _SEED, np.uint32))
    return column(hashes.view(np.int32), np.zeros(rows, bool), types.INT)


@function("xxhash64", takes=[ANY], variadic=True)
def xx_hash(*columns: pa.Array) -> pa.Array:
    rows = len(columns[0])
    hashes = _hashed(columns, _xx_words, _xx_bytes, np.full(rows, _SEED, np.uint64))
    return column(hashes.view(np.int64), np.zeros(rows, bool), types.BIGINT)
