"""The corners of the convex hull of points in space."""

from __future__ import annotations

import numpy as np
from numba import njit

from windrow.clustering.hull_in_plane import hull_of_sorted

ROUNDING = 8e-16
"""A determinant of differences is off by at most so much of the sum of its terms' magnitudes (Shewchuk, 1997)."""


def corners_in_space(points: np.ndarray) -> np.ndarray:
    """The corners in order of x, y and z. Points of a plane have those of their polygon, those of a line its two ends.

    A face is grown outwards from a tetrahedron, point by point (the incremental algorithm: de Berg et al., 2008,
    chapter 11). What lies within rounding of a plane lies on it: no sign is guessed, so that a corner is one of more
    than two faces for sure.

    >>> cube = np.array([[x, y, z] for x in (0.0, 2.0) for y in (0.0, 2.0) for z in (0.0, 2.0)])
    >>> len(corners_in_space(np.concatenate([cube, cube / 2, [[1.0, 0.0, 0.0], [1.0, 1.0, 2.0]]])))
    8
    """
    points = np.unique(points + 0.0, axis=0)  # in order, and -0.0 is 0.0
    first = _tetrahedron(points)
    if first[1] < 0:
        return points[:1]
    if first[2] < 0:
        return points[[0, -1]]
    if first[3] < 0:
        return _corners_in_plane(points, first[:3])
    middle = points[first].mean(axis=0)
    order = np.argsort(-((points - middle) ** 2).sum(axis=1), kind="stable")  # most of the hull is found at once
    return points[np.flatnonzero(_corners(points, first, order))]


def _corners_in_plane(points: np.ndarray, first: np.ndarray) -> np.ndarray:
    """The corners of points that lie in one plane: those of their shadow along the axis that it is steepest to."""
    a, b, c = points[first]
    axes = np.delete(np.arange(3), np.argmax(np.abs(np.cross(b - a, c - a))))
    order = np.lexsort((points[:, axes[1]], points[:, axes[0]]))
    flat = np.ascontiguousarray(points[order][:, axes])
    kept = {tuple(corner) for corner in hull_of_sorted(flat).tolist()}
    return points[[tuple(point) in kept for point in points[:, axes].tolist()]]


@njit(cache=True, nogil=True)
def _side(p: np.ndarray, a: int, b: int, c: int, d: int) -> float:
    """Positive where d lies outside of the face a, b, c, whose corners turn left as seen from outside; 0 if on it."""
    bx, by, bz = p[b, 0] - p[a, 0], p[b, 1] - p[a, 1], p[b, 2] - p[a, 2]
    cx, cy, cz = p[c, 0] - p[a, 0], p[c, 1] - p[a, 1], p[c, 2] - p[a, 2]
    dx, dy, dz = p[d, 0] - p[a, 0], p[d, 1] - p[a, 1], p[d, 2] - p[a, 2]
    found = dx * (by * cz - bz * cy) + dy * (bz * cx - bx * cz) + dz * (bx * cy - by * cx)
    sure = abs(dx) * (abs(by * cz) + abs(bz * cy)) + abs(dy) * (abs(bz * cx) + abs(bx * cz))
    sure += abs(dz) * (abs(bx * cy) + abs(by * cx))
    return found if abs(found) > ROUNDING * sure else 0.0


@njit(cache=True, nogil=True)
def _tetrahedron(p: np.ndarray) -> np.ndarray:
    """Four points that are not in one plane, -1 for those that there are not; the points are in order."""
    first = np.full(4, -1)
    first[0] = 0
    if len(p) < 2:
        return first
    first[1] = len(p) - 1
    widest = 0.0
    ax, ay, az = p[first[1], 0] - p[0, 0], p[first[1], 1] - p[0, 1], p[first[1], 2] - p[0, 2]
    for i in range(1, len(p) - 1):
        x, y, z = p[i, 0] - p[0, 0], p[i, 1] - p[0, 1], p[i, 2] - p[0, 2]
        wide = 0.0
        for left, right in ((ay * z, az * y), (az * x, ax * z), (ax * y, ay * x)):
            if abs(left - right) > ROUNDING * (abs(left) + abs(right)):
                wide += (left - right) ** 2
        if wide > widest:
            widest, first[2] = wide, i
    if first[2] < 0:
        return first
    farthest = 0.0
    for i in range(1, len(p) - 1):
        far = abs(_side(p, first[0], first[1], first[2], i))
        if far > farthest:
            farthest, first[3] = far, i
    return first


@njit(cache=True, nogil=True)
def _corners(p: np.ndarray, first: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Which points are corners, of which four that are not in one plane are `first`."""
    a, b, c, d = first
    if _side(p, a, b, c, d) > 0:
        b, c = c, b
    faces = np.empty((64, 3), np.int64)
    faces[0], faces[1] = (a, b, c), (a, c, d)
    faces[2], faces[3] = (a, d, b), (b, d, c)
    count = 4
    seen = np.empty((64, 3), np.int64)
    for point in order:
        if point in (a, b, c, d):
            continue
        visible, kept = 0, 0
        for face in range(count):
            if _side(p, faces[face, 0], faces[face, 1], faces[face, 2], point) > 0:
                if visible == len(seen):
                    seen = np.concatenate((seen, np.empty_like(seen)))
                seen[visible] = faces[face]
                visible += 1
            else:
                faces[kept] = faces[face]
                kept += 1
        count = kept
        while count + 3 * visible > len(faces):
            faces = np.concatenate((faces, np.empty_like(faces)))
        for face in range(visible):
            for side in range(3):
                begin, end = seen[face, side], seen[face, (side + 1) % 3]
                inner = False  # a side that two visible faces have goes with them
                for other in range(visible):
                    for back in range(3):
                        if seen[other, back] == end and seen[other, (back + 1) % 3] == begin:
                            inner = True
                if not inner:
                    faces[count] = (begin, end, point)
                    count += 1
    return _of_three_planes(p, faces[:count])


@njit(cache=True, nogil=True)
def _of_three_planes(p: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Which points are corners of faces in more than two planes: others lie within a face or a side."""
    planes = np.full((len(p), 2), -1)
    corner = np.zeros(len(p), np.bool_)
    for face in range(len(faces)):
        for side in range(3):
            point = faces[face, side]
            known = False
            for i in range(2):
                plane = planes[point, i]
                if plane < 0:
                    planes[point, i], known = face, True
                    break
                same = True
                for other in range(3):
                    same &= _side(p, faces[plane, 0], faces[plane, 1], faces[plane, 2], faces[face, other]) == 0.0
                if same:
                    known = True
                    break
            corner[point] |= not known
    return corner
