"""Checks of a Delaunay triangulation in plain Python, without the code under test."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal import _core

if TYPE_CHECKING:
    from oracle import Array

Place = tuple[Any, Any]


def sign(x: Any) -> int:
    return int(x > 0) - int(x < 0)


def orient2d(a: Place, b: Place, c: Place) -> int:
    """By fractions: 1 if a, b, c turn left."""
    (ax, ay), (bx, by), (cx, cy) = [(Fraction(x), Fraction(y)) for x, y in (a, b, c)]
    return sign((ax - cx) * (by - cy) - (ay - cy) * (bx - cx))


def incircle(a: Place, b: Place, c: Place, d: Place) -> int:
    """By fractions: 1 if d is inside the circle through a, b, c, which turn left."""
    o = Fraction(d[0]), Fraction(d[1])
    (ax, ay), (bx, by), (cx, cy) = [(Fraction(x) - o[0], Fraction(y) - o[1]) for x, y in (a, b, c)]
    return sign(
        (ax * ax + ay * ay) * (bx * cy - by * cx)
        + (bx * bx + by * by) * (cx * ay - cy * ax)
        + (cx * cx + cy * cy) * (ax * by - ay * bx)
    )


def canonical(triangles: Array) -> list[tuple[int, ...]]:
    """Triangles in canonical order, each starting with its smallest corner."""
    first = np.argmin(triangles, axis=1)[:, None]
    turned = np.take_along_axis(triangles, (first + np.arange(3)) % 3, axis=1)
    return sorted(map(tuple, turned.tolist()))


def sides(triangles: Array) -> Array:
    """The directed sides of all triangles."""
    return np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])


def hull(places: list[Place]) -> list[Place]:
    """The convex hull counter-clockwise, with the points on its edges (monotone chain)."""

    def chain(ordered: list[Place]) -> list[Place]:
        kept: list[Place] = []
        for p in ordered:
            while len(kept) > 1 and _core.orient2d(kept[-2], kept[-1], p) < 0:
                kept.pop()
            kept.append(p)
        return kept[:-1]

    ordered = sorted(set(places))
    return chain(ordered) + chain(ordered[::-1])


def check_structure(index: Any, points: Array) -> None:
    """Symmetric neighbours, all points present, Euler's formula, the convex hull, all triangles turn left."""
    triangles, edges = index.triangles, index.edges
    for array, width in ((triangles, 3), (edges, 2)):
        assert array.dtype == np.int32
        assert array.shape[1:] == (width,)
    places = list(map(tuple, points.tolist()))
    first: dict[Place, int] = {}
    for k, place in enumerate(places):
        first.setdefault(place, k)
    twins = {(first[place], k) for k, place in enumerate(places) if first[place] != k}
    listed = list(map(tuple, edges.tolist()))
    assert len(set(listed)) == len(listed)
    assert all(i < j for i, j in listed)
    assert twins <= set(listed)
    joined = set(listed) - twins
    assert {k for edge in joined for k in edge} == (set(first.values()) if len(first) > 1 else set())
    if len(triangles) == 0:  # on a line
        ordered = sorted(first)
        assert joined == {tuple(sorted((first[a], first[b]))) for a, b in pairwise(ordered)}
        assert all(_core.orient2d(ordered[0], ordered[-1], p) == 0 for p in ordered)
        return
    assert all(_core.orient2d(places[a], places[b], places[c]) > 0 for a, b, c in triangles.tolist())
    directed = list(map(tuple, sides(triangles).tolist()))
    assert len(set(directed)) == len(directed)
    assert {tuple(sorted(side)) for side in directed} == joined
    assert len(first) - len(joined) + len(triangles) == 1
    border = {(places[a], places[b]) for a, b in set(directed) - {(b, a) for a, b in directed}}
    ring = hull(places)
    assert border == set(zip(ring, [*ring[1:], ring[0]], strict=True))


def check_circles(triangles: Array, points: Array) -> None:
    """No point inside the circle of any triangle, by fractions; for a few dozen points."""
    places = [(Fraction(x), Fraction(y)) for x, y in points.tolist()]
    for a, b, c in triangles.tolist():
        assert orient2d(places[a], places[b], places[c]) > 0
        assert all(incircle(places[a], places[b], places[c], p) <= 0 for p in places)
