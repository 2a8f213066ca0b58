"""Entries as a window index takes them: instants, words and values, none of which is cut to what an array can hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from windrow.errors import SettingsError

WORDS = (np.dtype(np.uint32), np.dtype(np.uint64))


def checked_window(range_us: int, slide_us: int, words: np.dtype | type) -> None:
    """Refuse a window that has no panes, and words that no structure has."""
    if slide_us < 1 or range_us < slide_us:
        message = f"a window of {range_us} with panes of {slide_us} microseconds"
        raise SettingsError(f"{message} is none\nhint: a slide is 1 or more, and no longer than the range")
    if np.dtype(words) not in WORDS:
        raise SettingsError(f"words are {np.dtype(words)}\nhint: np.uint32 or np.uint64")


def checked_entries(times: Any, words: Any, values: Any, kind: np.dtype | type) -> tuple[np.ndarray, ...]:
    """Arrays of one length: times as int64, words of their kind, and values as uint32.

    >>> [array.tolist() for array in checked_entries([7], [1], [2], np.uint32)]
    [[7], [1], [2]]
    """
    given = (("times", times, np.int64), ("words", words, kind), ("values", values, np.uint32))
    found = tuple(_as_integers(what, array, np.dtype(own)) for what, array, own in given)
    if len({len(array) for array in found}) > 1:
        lengths = ", ".join(f"{len(array)} {what}" for (what, *_), array in zip(given, found))
        raise SettingsError(f"{lengths} are no entries\nhint: each has its time, its word and its value")
    return found


def within_words(low: int, high: int, kind: np.dtype | type) -> tuple[int, int]:
    """The part of a range that words can be in; without one, a range of none.

    >>> within_words(-5, 2**40, np.uint32), within_words(-5, -1, np.uint32)
    ((0, 4294967295), (1, 0))
    """
    most = int(np.iinfo(kind).max)
    low, high = max(low, 0), min(high, most)
    return (low, high) if low <= high else (1, 0)


def _as_integers(what: str, given: Any, kind: np.dtype) -> np.ndarray:
    array = np.asarray(given)
    if array.dtype == kind:
        return array
    if array.dtype.kind not in "iu" and len(array):
        raise SettingsError(f"{what} are {array.dtype}\nhint: whole numbers, such as np.{kind}")
    least, most = np.iinfo(kind).min, np.iinfo(kind).max
    if len(array) and (int(array.min()) < least or int(array.max()) > most):
        raise SettingsError(f"{what} from {array.min()} to {array.max()} are more than {kind} holds")
    return array.astype(kind)
