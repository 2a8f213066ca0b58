"""K-means over weighted rows, the same for the same rows."""

from __future__ import annotations

import numpy as np
from numba import njit

from windrow.clustering.micro_clusters import _merge_row


def weighted_means(centers: np.ndarray, counts: np.ndarray, k: int, rounds: int = 50) -> np.ndarray:
    """Which of at most `k` groups each row belongs to (Lloyd, 1982); no group is empty, numbers go by first row.

    Seeds are the heaviest row and then, again and again, the row whose weight times squared distance from all seeds
    is the largest: k-means++ (Arthur and Vassilvitskii, 2007) with the likeliest in place of a random one.

    >>> weighted_means(np.array([[0.0], [1.0], [10.0], [11.0]]), np.array([1, 5, 1, 1]), 2).tolist()
    [0, 0, 1, 1]
    """
    if len(centers) <= k:
        return np.arange(len(centers))
    groups = np.zeros(len(centers), np.int64)
    _lloyd(np.ascontiguousarray(centers), np.ascontiguousarray(counts), k, rounds, groups)
    _, first, numbers = np.unique(groups, return_index=True, return_inverse=True)
    ranks = np.empty(len(first), np.int64)
    ranks[np.argsort(first)] = np.arange(len(first))
    return ranks[numbers]


def grouped(
    centers: np.ndarray, counts: np.ndarray, spreads: np.ndarray, groups: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centres, counts and spreads of groups of rows; a row of group -1 is left out."""
    number = int(groups.max()) + 1 if len(groups) else 0
    into = np.zeros((number, centers.shape[1])), np.zeros(number, np.int64), np.zeros(number)
    _group(np.ascontiguousarray(centers), np.ascontiguousarray(counts), np.ascontiguousarray(spreads), groups, *into)
    return into


@njit(cache=True, nogil=True)
def _group(
    centers: np.ndarray,
    counts: np.ndarray,
    spreads: np.ndarray,
    groups: np.ndarray,
    to_centers: np.ndarray,
    to_counts: np.ndarray,
    to_spreads: np.ndarray,
) -> None:
    for row in range(len(groups)):
        group = groups[row]
        if group >= 0 and counts[row] > 0:
            if to_counts[group] == 0:
                to_centers[group], to_counts[group], to_spreads[group] = centers[row], counts[row], spreads[row]
            else:
                _merge_row(to_centers, to_counts, to_spreads, group, centers, row, counts[row], spreads[row])


@njit(cache=True, nogil=True)
def _distance(centers: np.ndarray, row: int, mean: np.ndarray) -> float:
    total = 0.0
    for axis in range(mean.size):
        gap = centers[row, axis] - mean[axis]
        total += gap * gap
    return total


@njit(cache=True, nogil=True)
def _lloyd(centers: np.ndarray, counts: np.ndarray, k: int, rounds: int, groups: np.ndarray) -> None:
    rows, axes = centers.shape
    means = np.empty((k, axes))
    means[0] = centers[np.argmax(counts)]
    far = np.full(rows, np.inf)
    for seed in range(1, k):
        best, chosen = -1.0, 0
        for row in range(rows):
            far[row] = min(far[row], _distance(centers, row, means[seed - 1]))
            if far[row] * counts[row] > best:
                best, chosen = far[row] * counts[row], row
        means[seed] = centers[chosen]
    weights = np.empty(k)
    for turn in range(rounds):
        moved = False
        for row in range(rows):
            best, chosen = np.inf, 0
            for group in range(k):
                distance = _distance(centers, row, means[group])
                if distance < best:
                    best, chosen = distance, group
            if turn == 0 or groups[row] != chosen:
                moved = True
            groups[row] = chosen
        if not moved:
            break
        weights[:] = 0.0
        for row in range(rows):
            group = groups[row]
            weights[group] += counts[row]
            if weights[group] == counts[row]:
                means[group] = centers[row]
            else:
                for axis in range(axes):
                    means[group, axis] += (centers[row, axis] - means[group, axis]) * (counts[row] / weights[group])
