"""Shard keys that Spark spreads evenly: one for each shuffle partition."""

from __future__ import annotations

from functools import cache

_MASK = 0xFFFFFFFF


def shard_keys(count: int) -> list[int]:
    """For each of `count` shuffle partitions the smallest number that Spark sends there.

    >>> shard_keys(2)
    [2, 0]
    """
    keys: dict[int, int] = {}
    number = 0
    while len(keys) < count:
        keys.setdefault(spark_hash(number) % count, number)
        number += 1
    return [keys[partition] for partition in range(count)]


@cache
def shard_number(key: int, count: int) -> int:
    """Which of `count` shards has this key, counted from 0 as Spark counts partitions."""
    return shard_keys(count).index(key)


def spark_hash(number: int) -> int:
    """Spark's `hash` of an INT: Murmur 3 with seed 42 (Appleby, 2011), as a signed number.

    >>> spark_hash(1)
    -559580957
    """
    mixed = (number & _MASK) * 0xCC9E2D51 & _MASK
    mixed = _rotated(mixed, 15) * 0x1B873593 & _MASK
    result = _rotated(42 ^ mixed, 13) * 5 + 0xE6546B64 & _MASK
    result ^= 4
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        result = (result ^ result >> shift) * factor & _MASK
    result ^= result >> 16
    return result - (1 << 32) if result >> 31 else result


def _rotated(number: int, bits: int) -> int:
    return (number << bits | number >> 32 - bits) & _MASK
