"""Position reports as the Linear Road benchmark has them: vehicles on expressways, each reporting every 30 seconds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

SEGMENTS, REPORT, MILE = 100, 30, 5280


def reports(expressways: int, seconds: int, entering: float = 0.6, seed: int = 1) -> Iterator[pa.Table]:
    """What is reported in each second: a table with ts, vid, speed, xway, dir and seg.

    On every expressway and in either direction, `entering` vehicles come in a second at first, and more as it goes on;
    each drives 30 to 60 segments at a speed of its own, slower where many are. One who leaves is gone.
    """
    random = np.random.default_rng(seed)
    lanes = 2 * expressways
    vid, lane, at, speed, left, phase = (np.empty(0, np.int64) for _ in range(6))
    number = 0
    for second in range(seconds):
        came = int(random.poisson(lanes * entering * (1 + second / 1800)))
        fresh = np.arange(number, number + came)
        number += came
        vid, lane = np.append(vid, fresh), np.append(lane, random.integers(0, lanes, came))
        at = np.append(at, random.integers(0, 60 * MILE, came))
        speed = np.append(speed, random.integers(40, 101, came))
        left = np.append(left, random.integers(30 * MILE, 60 * MILE, came))
        phase = np.append(phase, random.integers(0, REPORT, came))
        feet = speed * MILE // 3600
        at, left = at + feet, left - feet
        stays = (left > 0) & (at < SEGMENTS * MILE)
        vid, lane, at, speed, left, phase = (part[stays] for part in (vid, lane, at, speed, left, phase))
        own = np.flatnonzero(phase == second % REPORT)
        speed[own] = np.clip(speed[own] + random.integers(-5, 6, len(own)), 0, 100)
        yield pa.table(
            {
                "ts": pa.array(np.full(len(own), second * 1_000_000), pa.timestamp("us", tz="UTC")),
                "vid": vid[own].astype(np.int32),
                "speed": speed[own].astype(np.int32),
                "xway": (lane[own] // 2).astype(np.int32),
                "dir": (lane[own] % 2).astype(np.int32),
                "seg": (at[own] // MILE).astype(np.int32),
            }
        )


def packed_keys(table: pa.Table) -> np.ndarray:
    """Keys as Paper I packs them: vid + seg * 2^20 + dir * 2^27 + xway * 2^28."""
    vid, seg, way, xway = (table[name].to_numpy().astype(np.uint32) for name in ("vid", "seg", "dir", "xway"))
    packed: np.ndarray = vid + (seg << np.uint32(20)) + (way << np.uint32(27)) + (xway << np.uint32(28))
    return packed
