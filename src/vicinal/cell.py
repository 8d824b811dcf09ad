"""The periodic cell: one length, lengths, edge vectors, or lengths and angles; checked and ready for the core."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError

BoxLike: TypeAlias = float | Sequence[float | None] | Sequence[Sequence[float]] | npt.NDArray[Any] | None
PeriodicLike: TypeAlias = bool | Sequence[bool] | npt.NDArray[np.bool_] | None
Vector: TypeAlias = tuple[float, ...]
Vectors: TypeAlias = tuple[Vector, ...]
Basis: TypeAlias = tuple[tuple[int, ...], ...]

# Longest periodic edge: that of an image, and the rounding of its coordinates, must not overflow.
LONGEST_EDGE = {"float32": 3e32, "float64": 1e296}
# Longest and shortest vector of a tilted cell: products of three lengths must neither overflow nor underflow.
LONGEST_VECTOR = {"float32": 3e32, "float64": 1e90}
SHORTEST_VECTOR = 1e-90
# Of linearly dependent vectors, rounding leaves about this share.
DEPENDENT = 1e-12
# A vector counts as shorter than another if its square is below this share: equal ones differ by rounding.
SHORTER = 1 - 1e-9
# Longest coefficient of a reduction: shifts, in units of the given vectors, must fit 32 bits.
STEEPEST = 2**20
RIGHT_ANGLE = 90.0


@dataclass(frozen=True)
class Cell:
    """A checked periodic cell.

    Parameters
    ----------
    edges
        Period along each axis, 0 where it is open. Of a tilted cell: the distance of opposite faces, once reduced.
    vectors
        Reduced edge vectors of a tilted cell; 0 along open axes. Empty if the cell is orthogonal.
    inverse
        ``x . inverse[k]`` is the position of x along vector k in units of its length; along an open axis a unit vector.
    basis
        The integers that combine the given vectors to the reduced ones: ``shifts @ basis`` are those of the given cell.
    """

    edges: list[float]
    vectors: Vectors = ()
    inverse: Vectors = ()
    basis: Basis = ()

    @property
    def tilted(self) -> bool:
        """Whether the cell is described by vectors."""
        return bool(self.vectors)

    @property
    def periodic(self) -> bool:
        """Whether some axis is periodic."""
        return any(self.edges)

    @property
    def size(self) -> float:
        """The sum of the lengths of the periodic edges."""
        return sum(math.hypot(*row) for row in self.vectors) if self.tilted else sum(self.edges)

    @property
    def for_core(self) -> list[float]:
        """The cell as the compiled core takes it."""
        matrices = (self.vectors, self.inverse, self.basis)
        return [*self.edges, *(float(x) for matrix in matrices for row in matrix for x in row)]

    def reach(self, reach: list[float], far: list[float], eps: float, *, boxes: bool) -> list[float]:
        """Return how far a pair reaches along the axes of the cell, from its reach along the axes of space.

        `far` bounds the coordinates of the bodies, `eps` is that of their dtype: in a tilted cell rounding adds what
        the core calls `lattice_slack`, which can be many edges of a very thin cell.
        """
        if not self.tilted:
            return reach
        normals = [[abs(x) / math.hypot(*row) for x in row] for row in self.inverse]
        reaches = [sum(map(operator.mul, normal, reach)) if boxes else reach[0] for normal in normals]
        return [
            r + 32 * eps * sum(map(operator.mul, normal, self._extents(r, far, normals)))
            for r, normal in zip(reaches, normals, strict=True)
        ]

    def _extents(self, reach: float, far: list[float], normals: list[list[float]]) -> list[float]:
        """Return bounds of the coordinates of wrapped bodies and of images within reach."""
        extents = [0.0] * len(far)
        for edge, vector, normal in zip(self.edges, self.vectors, normals, strict=True):
            along = 2 * (sum(map(operator.mul, normal, far)) + reach)
            for a, x in enumerate(vector):
                extents[a] += (reach // edge + 3) * abs(x) if edge else along * normal[a]
        return extents

    def steepest(self) -> int:
        """Return the largest number of times that a given vector is in a reduced one."""
        return max((abs(entry) for row in self.basis for entry in row), default=1)

    def extent(self, low: list[float], high: list[float]) -> list[float]:
        """Return the length of the space of bodies within these bounds along every axis of the cell."""
        if not self.tilted:
            return [edge or h - b for edge, b, h in zip(self.edges, low, high, strict=True)]
        return [
            edge or sum(abs(x) * (h - b) for x, b, h in zip(row, low, high, strict=True))
            for edge, row in zip(self.edges, self.inverse, strict=True)
        ]

    def shortest(self, vectors: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return differences of positions without whole periods; exact for those below half of every edge."""
        if self.tilted:
            along = np.array(self.edges) > 0
            wraps = np.round(vectors @ np.array(self.inverse).T) * along
            return np.asarray(vectors - wraps @ np.array(self.vectors))
        edges = np.array(self.edges)
        return np.asarray(vectors - np.round(vectors / np.where(edges > 0, edges, 1)) * edges)

    def __str__(self) -> str:
        """Return the cell for messages: lengths, or the given vectors."""
        if not self.tilted:
            return str([edge or None for edge in self.edges])
        return f"with faces {', '.join(f'{edge:g}' if edge else 'infinitely' for edge in self.edges)} apart"


@cache
def open_space(dim: int) -> Cell:
    """Return the cell of open space."""
    return Cell([0.0] * dim)


def read_cell(value: Any, periodic: Any, dim: int, dtype: np.dtype[Any]) -> Cell:
    """Check `box=` and `periodic=`."""
    along = _check_periodic(periodic, dim)
    if value is None:
        if along is not None and any(along):
            raise InputError(f"box must be given where periodic is True, got box=None and periodic={periodic!r}")
        return open_space(dim)
    try:
        shape = np.shape(value)
    except ValueError:
        shape = (-1,)
    if shape == (6,) and dim == 3:
        value, along = vectors_of_angles(value, along)
    elif shape == () and _as_number(value) is not None:
        value = [_check_edge(value, "box", dtype)] * dim
    elif shape not in ((dim,), (dim, dim)):
        vectors = f"a {dim} by {dim} matrix of edge vectors" + (", or 6 lengths and angles" if dim == 3 else "")
        raise InputError(f"box must be one length, {dim} lengths with None for an open axis, {vectors}, got {value!r}")
    if np.ndim(value) == 1:
        return _orthogonal(value, along, dtype)
    rows = _check_vectors(value, along or [True] * dim, dtype)
    if all(row is None or _along_axis(row, k) for k, row in enumerate(rows)):
        return _orthogonal([None if row is None else row[k] for k, row in enumerate(rows)], None, dtype)
    return _tilted(tuple(rows), dtype)


def _along_axis(row: Vector, axis: int) -> bool:
    return row[axis] > 0 and not any(x for a, x in enumerate(row) if a != axis)


def _check_periodic(value: Any, dim: int) -> list[bool] | None:
    if value is None:
        return None
    entries = list(value) if isinstance(value, Sequence) or np.ndim(value) == 1 else [value] * dim
    # 0 and 1 are accepted, too, as by `check_flag`; ASE's users write pbc=(1, 1, 0).
    if len(entries) != dim or not all(
        isinstance(entry, (int, np.bool_, np.integer)) and entry in (0, 1) for entry in entries
    ):
        raise InputError(f"periodic must be True, False or one of them per axis, {dim} in all, got {value!r}")
    return [bool(entry) for entry in entries]


def _as_number(value: Any) -> float | None:
    try:
        return None if isinstance(value, (bool, np.bool_, str)) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _number(value: Any, name: str) -> float:
    number = _as_number(value)
    if number is None:
        raise InputError(f"{name} must be a number, got {value!r}")
    return number


def _orthogonal(entries: Any, along: list[bool] | None, dtype: np.dtype[Any]) -> Cell:
    edges = []
    for axis, entry in enumerate(entries):
        if along is not None and along[axis] and entry is None:
            raise InputError(f"box[{axis}] must be a length, because periodic[{axis}] is True, got None")
        is_open = entry is None or (along is not None and not along[axis])
        edges.append(0.0 if is_open else _check_edge(entry, f"box[{axis}]", dtype))
    return Cell(edges)


def _check_edge(entry: object, name: str, dtype: np.dtype[Any]) -> float:
    edge = _number(entry, name)
    with np.errstate(over="ignore", under="ignore"):
        rounded = float(dtype.type(edge))
    if not math.isfinite(rounded) or rounded <= 0:
        raise InputError(f"{name} must be a positive, finite length, or None for an open axis, got {edge}")
    most = LONGEST_EDGE[dtype.name]
    if rounded > most:
        raise InputError(
            f"{name} must be at most {most:g} for {dtype.name}, got {edge:g}: images of a longer box "
            "overflow; use a smaller unit of length"
        )
    return rounded


def vectors_of_angles(value: Any, along: list[bool] | None) -> tuple[Any, list[bool] | None]:
    """Return the edges of a cell given by a, b, c and the angles alpha, beta, gamma in degrees, and which are periodic.

    An edge of length 0 is not periodic.
    """
    numbers = [_number(entry, f"box[{k}]") for k, entry in enumerate(value)]
    lengths, angles = numbers[:3], numbers[3:]
    for k, length in enumerate(lengths):
        if not (math.isfinite(length) and length >= 0):
            raise InputError(f"box[{k}] must be a positive, finite length, or 0 for an open axis, got {length}")
        if length == 0 and along is not None and along[k]:
            raise InputError(f"box[{k}] must be a positive length, because periodic[{k}] is True, got 0")
    if all(angle == RIGHT_ANGLE for angle in angles) or not any(lengths):
        return [length or None for length in lengths], along
    for k, angle in enumerate(angles):
        if not 0 < angle < 2 * RIGHT_ANGLE:
            raise InputError(f"box[{k + 3}] must be an angle between 0 and 180 degrees, got {angle}")
    a, b, c = (length or 1.0 for length in lengths)
    alpha, beta, gamma = (0.0 if angle == RIGHT_ANGLE else math.cos(math.radians(angle)) for angle in angles)
    sine = math.sin(math.radians(angles[2]))
    x, y = beta, (alpha - beta * gamma) / sine
    square = 1 - x * x - y * y
    if not square > DEPENDENT:
        raise InputError(
            f"box has angles ({', '.join(f'{angle:g}' for angle in angles)}) that form no cell: their sum must be less "
            "than 360 degrees, and each must be less than the sum of the other two"
        )
    periodic = [length > 0 and (along is None or along[k]) for k, length in enumerate(lengths)]
    return [[a, 0.0, 0.0], [b * gamma, b * sine, 0.0], [c * x, c * y, c * math.sqrt(square)]], periodic


def _check_vectors(value: Any, along: list[bool], dtype: np.dtype[Any]) -> list[Vector | None]:
    """Return the vectors of the periodic axes in the dtype of the bodies, None for open axes."""
    rows: list[Vector | None] = []
    for k, row in enumerate(value):
        if not along[k]:
            rows.append(None)
            continue
        vector = tuple(_number(x, f"box[{k}]") + 0.0 for x in row)  # -0 becomes 0, so that equal cells are the same
        if dtype != np.float64:
            with np.errstate(over="ignore", under="ignore"):
                vector = tuple(np.array(vector).astype(dtype).tolist())
        length = math.hypot(*vector)
        most = LONGEST_VECTOR[dtype.name]
        if not SHORTEST_VECTOR <= length <= most:
            raise InputError(
                f"box[{k}] must be a vector whose length is between {SHORTEST_VECTOR:g} and {most:g}, got "
                f"{[float(x) for x in row]}; set periodic[{k}] to False if this axis is open"
            )
        rows.append(vector)
    return rows


@lru_cache(maxsize=64)  # programs search in the same cell again and again
def _tilted(rows: tuple[Vector | None, ...], dtype: np.dtype[Any]) -> Cell:
    dim = len(rows)
    given = {k: list(row) for k, row in enumerate(rows) if row is not None}
    if not given:
        return open_space(dim)
    basis = reduce(given, dim)
    vectors = [[0.0] * dim for _ in rows]
    for k, row in given.items():
        if basis[k] == [int(k == a) for a in range(dim)]:
            vectors[k] = list(row)
            continue
        for a in range(dim):
            exact = sum((basis[k][n] * Fraction(other[a]) for n, other in given.items()), Fraction(0))
            vectors[k][a] = float(dtype.type(float(exact)))
    longest = max(math.hypot(*row) for row in given.values())
    shortest = min(math.hypot(*vectors[k]) for k in given)
    steepest = max(abs(entry) for row in basis for entry in row)
    if shortest < DEPENDENT * longest or shortest < SHORTEST_VECTOR:
        raise _dependent(given)
    if steepest > STEEPEST:
        raise InputError(
            f"box must be tilted by at most {STEEPEST} times its size, got {list(given.values())}; "
            "subtract multiples of the other edge vectors from the longest one"
        )
    inverse = invert(vectors, sorted(given))
    edges = [float(dtype.type(1 / math.hypot(*inverse[k]))) if k in given else 0.0 for k in range(dim)]
    return Cell(edges, tuple(map(tuple, vectors)), tuple(map(tuple, inverse)), tuple(map(tuple, basis)))


def _dependent(given: dict[int, list[float]]) -> InputError:
    return InputError(
        f"box must have linearly independent edge vectors, got {list(given.values())}; set periodic to False where "
        "space is open"
    )


def reduce(given: dict[int, list[float]], dim: int) -> list[list[int]]:
    """Return the integers that combine edge vectors to the shortest ones of the same lattice (Minkowski's reduction).

    As long as that makes a vector shorter, a multiple of another one is subtracted from it, or both others are added or
    subtracted.
    """
    basis = [[int(k == a) for a in range(dim)] for k in range(dim)]
    rows = {k: list(row) for k, row in given.items()}
    changed = True
    while changed:
        changed = False
        for k in given:
            for step in _steps(rows, k):
                moved, combined = rows[k], basis[k]
                for n, times in step:
                    moved = [x + times * y for x, y in zip(moved, rows[n], strict=True)]
                    combined = [x + times * y for x, y in zip(combined, basis[n], strict=True)]
                if not any(moved):
                    raise _dependent(given)
                if dot(moved, moved) < SHORTER * dot(rows[k], rows[k]):
                    rows[k], basis[k] = moved, combined
                    changed = True
    return basis


def are_reduced(cells: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Return of which cells, given by edge vectors of shape (k, dim, dim) and all periodic, no vector is replaced."""
    dim = cells.shape[1]
    squares = [_dots(cells[:, k], cells[:, k]) for k in range(dim)]
    lengths = np.sqrt(squares)
    longest, shortest = lengths.max(axis=0), lengths.min(axis=0)
    good = (shortest >= 2 * DEPENDENT * longest) & (shortest >= 2 * SHORTEST_VECTOR) & np.isfinite(longest)
    for k in range(dim):
        others = [n for n in range(dim) if n != k]
        tries = []
        for n in others:
            times = -np.round(_dots(cells[:, k], cells[:, n]) / squares[n])
            tries.append(cells[:, k] + times[:, None] * cells[:, n])
        if len(others) == 2:
            one, two = (cells[:, n] for n in others)
            tries += [(cells[:, k] + a * one) + b * two for a, b in product((1, -1), repeat=2)]
        for moved in tries:
            good &= ~(_dots(moved, moved) < SHORTER * squares[k])
    return np.asarray(good)


def inverses(cells: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return `invert` of cells of shape (k, dim, dim) that are periodic along every edge."""
    dim = cells.shape[1]
    if dim == 2:
        a, b, c, d = cells[:, 0, 0], cells[:, 0, 1], cells[:, 1, 0], cells[:, 1, 1]
        entries = np.stack([d, -c, -b, a], axis=1) / (a * d - b * c)[:, None]
        return np.asarray(entries.reshape(-1, 2, 2))
    normals = np.empty_like(cells)
    for k in range(3):
        one, two = cells[:, (k + 1) % 3], cells[:, (k + 2) % 3]
        for axis in range(3):
            y, z = (axis + 1) % 3, (axis + 2) % 3
            normals[:, k, axis] = one[:, y] * two[:, z] - one[:, z] * two[:, y]
    return np.asarray(normals / _dots(cells[:, 0], normals[:, 0])[:, None, None])


def _dots(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return `dot` of rows."""
    total = a[:, 0] * b[:, 0]
    for k in range(1, a.shape[1]):
        total = total + a[:, k] * b[:, k]
    return np.asarray(total)


def _steps(rows: dict[int, list[float]], k: int) -> list[list[tuple[int, int]]]:
    """Return the multiples of other vectors to add to vector k, as (vector, factor)."""
    others = [n for n in rows if n != k]
    steps = [[(n, -round(dot(rows[k], rows[n]) / dot(rows[n], rows[n])))] for n in others]
    steps = [step for step in steps if step[0][1] != 0]
    if len(others) == 2:
        steps += [list(zip(others, signs, strict=True)) for signs in product((1, -1), repeat=2)]
    return steps


def invert(vectors: list[list[float]], periodic: list[int]) -> list[list[float]]:
    """Return the inverse of edge vectors, as rows. Open axes are perpendicular to all others, and of length 1."""
    dim = len(vectors)
    rows = [list(row) for row in vectors]
    is_open = [k for k in range(dim) if k not in periodic]
    if dim == 2:
        if is_open:
            x, y = rows[periodic[0]]
            rows[is_open[0]] = _unit([-y, x])
        (a, b), (c, d) = rows
        determinant = a * d - b * c
        return [[d / determinant, -c / determinant], [-b / determinant, a / determinant]]
    if len(is_open) == 2:
        only = rows[periodic[0]]
        axis = min(range(3), key=lambda a: abs(only[a]))
        rows[is_open[0]] = _unit(cross(only, [float(a == axis) for a in range(3)]))
    if is_open:
        k = is_open[-1]
        rows[k] = _unit(cross(rows[(k + 1) % 3], rows[(k + 2) % 3]))
    normals = [cross(rows[(k + 1) % 3], rows[(k + 2) % 3]) for k in range(3)]
    determinant = dot(rows[0], normals[0])
    return [[x / determinant for x in normal] for normal in normals]


def dot(a: list[float], b: list[float]) -> float:
    """Return the sum of products, added from the left."""
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        total = total + x * y
    return total


def cross(a: list[float], b: list[float]) -> list[float]:
    """Return the cross product."""
    return [a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3] for k in range(3)]


def _unit(a: list[float]) -> list[float]:
    length = math.sqrt(dot(a, a))
    return [x / length for x in a]
