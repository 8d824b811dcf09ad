"""Meshes, and the plain definition of a contact with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oracle import Array


def closest_points(place: Array, triangles: Array) -> Array:
    """The closest point of each triangle, by trying its plane and its three edges."""
    best = np.full((len(triangles), 3), np.inf)
    square = np.full(len(triangles), np.inf)

    def offer(points: Array, which: Array) -> None:
        d = ((points - place) ** 2).sum(axis=1)
        better = which & (d < square)
        best[better], square[better] = points[better], d[better]

    a, b, c = triangles.transpose(1, 0, 2)
    everywhere = np.ones(len(triangles), bool)
    for start, end in ((a, b), (b, c), (c, a)):
        along = end - start
        length = (along * along).sum(axis=1)
        t = ((place - start) * along).sum(axis=1) / np.where(length > 0, length, 1)
        offer(start + np.clip(t, 0, 1)[:, None] * along, everywhere)
    gram = np.stack([b - a, c - a], axis=1)
    matrix = gram @ gram.transpose(0, 2, 1)
    solid = np.linalg.det(matrix) > 1e-20 * np.trace(matrix, axis1=1, axis2=2) ** 2
    right = (gram @ (place - a)[:, :, None])[solid]
    weights = np.full((len(triangles), 2), -1.0)
    weights[solid] = np.linalg.solve(matrix[solid], right)[:, :, 0]
    inside = (weights >= 0).all(axis=1) & (weights.sum(axis=1) <= 1)
    offer(a + (weights[:, :, None] * gram).sum(axis=1), inside)
    return best


def contact_points(place: Array, radius: float, triangles: Array, tolerance: float = 1e-7) -> Array:
    """Local minima of the distance to the surface, by definition, nearest first.

    A closest point on an edge is not a minimum if it lies on another triangle with a closer point: the distance then
    decreases along that triangle. (Triangles that intersect do not hide each other's faces.) Equal points
    count as one.
    """
    points = closest_points(place, triangles)
    distance = np.sqrt(((points - place) ** 2).sum(axis=1))
    near = np.argsort(distance)[: np.count_nonzero(distance <= radius)]
    minima: list[Array] = []
    for k in near:
        nearer = near[distance[near] < distance[k] - tolerance**2]
        on = closest_points(points[k], triangles[nearer]) - points[k] if len(nearer) else np.zeros((0, 3))
        sides = np.stack([triangles[k], np.roll(triangles[k], -1, axis=0), triangles[k]], axis=1)
        rim = ((closest_points(points[k], sides) - points[k]) ** 2).sum(axis=1).min() < tolerance**2
        ends = rim and np.any((on * on).sum(axis=1) < tolerance**2)
        if not ends and all(np.abs(points[k] - p).max() > tolerance for p in minima):
            minima.append(points[k])
    return np.array(minima).reshape(-1, 3)


@dataclass(frozen=True)
class Form:
    """A mesh with a name."""

    name: str
    triangles: Array

    def __str__(self) -> str:
        return self.name


def quads(corners: Array) -> Array:
    """Two triangles of each quadrilateral (m, 4, 3)."""
    return np.concatenate([corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]])


def terrain(heights: Array) -> Array:
    """Triangles over the squares of a grid with these heights."""
    n, m = heights.shape
    x, y = np.meshgrid(np.arange(n), np.arange(m), indexing="ij")
    at = np.stack([x, y, heights], axis=-1).astype(float)
    return quads(np.stack([at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]], axis=2).reshape(-1, 4, 3))


def cube() -> Array:
    """The surface of the cube from 0 to 1."""
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    shifts = np.array([[0.0, 0, 0], [0, 0, 1]])
    return quads(np.array([np.roll(square + shift, axis, axis=1) for axis in range(3) for shift in shifts]))


def ball(level: int) -> Array:
    """A sphere of radius 1 about the origin: an octahedron, divided."""
    one = np.eye(3)
    t = np.array([[sx * one[0], sy * one[1], sz * one[2]] for sx in (1, -1) for sy in (1, -1) for sz in (1, -1)])
    for _ in range(level):
        a, b, c = t.transpose(1, 0, 2)
        ab, bc, ca = a + b, b + c, c + a
        t = np.concatenate([np.stack(s, axis=1) for s in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
        t /= np.sqrt((t * t).sum(axis=-1, keepdims=True))
    return t


def rotation(rng: np.random.Generator) -> Array:
    """Any rotation."""
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    return q * np.linalg.det(q)


RNG = np.random.default_rng(11)
FORMS = [
    Form("soup", RNG.random((40, 1, 3)) * 4 + RNG.normal(size=(40, 3, 3)) * 0.5),
    Form("terrain", terrain(RNG.integers(0, 4, (7, 7)) * 0.5)),
    Form("wild terrain", terrain(RNG.normal(size=(6, 6)))),
    Form("cube", cube() * 3),
    Form("ball", ball(2) * 2),
    Form(
        "fan",
        np.array([[[0, 0, 1], [np.cos(a), np.sin(a), 0], [np.cos(a + 0.5), np.sin(a + 0.5), 0]] for a in range(6)]),
    ),
]
