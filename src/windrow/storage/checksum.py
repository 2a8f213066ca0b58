"""A checksum of a block, at the speed of memory."""

from __future__ import annotations

import numpy as np
from numba import njit

_PRIME = np.uint64(0x9E3779B97F4A7C15)
_LANES = 4


def checksum(block: bytes) -> int:
    """64 bits of a block's bytes and length: the words of four lanes, each mixed in by xor and an odd factor.

    Both can be undone, so that no change of a single word goes unseen, and other changes do by one chance in 2**64
    (after FNV-1a: Fowler, Noll, Vo; in lanes, so that factors do not wait for each other).

    >>> checksum(b"abc") == checksum(b"abc"), checksum(b"abc") == checksum(b"abd"), checksum(b"") == checksum(b"\\0")
    (True, False, False)
    """
    whole = len(block) // 8
    words = np.frombuffer(block, np.uint64, whole)
    rest = int.from_bytes(memoryview(block)[8 * whole :], "little")
    return int(_mixed(words, np.uint64(rest), np.uint64(len(block))))


@njit("uint64(Array(uint64, 1, 'C', readonly=True), uint64, uint64)", cache=True, nogil=True)
def _mixed(words, rest, length):
    a, b, c, d = length * _PRIME, rest, _PRIME, ~_PRIME
    fours = words.size // _LANES * _LANES
    for i in range(0, fours, _LANES):
        a = (a ^ words[i]) * _PRIME
        b = (b ^ words[i + 1]) * _PRIME
        c = (c ^ words[i + 2]) * _PRIME
        d = (d ^ words[i + 3]) * _PRIME
    for i in range(fours, words.size):
        a = (a ^ words[i]) * _PRIME
    for lane in (b, c, d):
        a = ((a ^ (a >> np.uint64(29))) ^ lane) * _PRIME
    return a ^ (a >> np.uint64(32))
