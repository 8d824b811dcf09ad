"""Many small systems in one call: bodies of different systems form no pairs, and each system has its own box."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal._check import Bodies
from vicinal.bodies import BodyArguments, check_points
from vicinal.cell import LONGEST_EDGE, LONGEST_VECTOR, Cell, are_reduced, inverses, read_cell, vectors_of_angles
from vicinal.errors import InputError
from vicinal.filters import Filter
from vicinal.index import Index
from vicinal.rows import columns_in, columns_of
from vicinal.settings import Settings, check_settings

# Of a cell given by three lengths and three angles.
NUMBERS = 6
Columns = dict[str, npt.NDArray[Any]]
Offsets = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Systems:
    """Checked systems: the bodies of system k are offsets[k] to offsets[k + 1] - 1 of the bodies of the settings.

    `boxes` are rows as the core takes them, one per system or one for all: edges, 0 where a box is open, and the
    matrices of tilted cells, 0 for others.
    """

    settings: Settings
    offsets: Offsets
    boxes: npt.NDArray[np.float64]

    @property
    def bodies(self) -> Bodies:
        """The bodies of all systems."""
        return self.settings.bodies

    def filter(self, first: int, last: int) -> Filter | None:
        """Return the conditions on the pairs of bodies `first` to `last - 1`."""
        kept = self.settings.filter
        return None if kept is None else kept.part(first, last)

    def __len__(self) -> int:
        """Return the number of systems."""
        return len(self.offsets) - 1

    def cell(self, system: int) -> Cell:
        """Return the cell of a system."""
        dim = self.bodies.dim
        row = self.boxes[0 if len(self.boxes) == 1 else system].tolist()
        if not any(row[dim:]):
            return Cell(row[:dim])
        rows = [tuple(row[k : k + dim]) for k in range(dim, len(row), dim)]
        basis = tuple(tuple(int(x) for x in one) for one in rows[2 * dim :])
        return Cell(row[:dim], tuple(rows[:dim]), tuple(rows[dim : 2 * dim]), basis)


@dataclass(frozen=True)
class RowOptions:
    """Checked options of a search for rows; `most` is the largest number of neighbours, 0 for all."""

    half: bool
    sort: bool
    self_pairs: bool
    most: int


def check_systems(
    points: object, cutoff: object, batch: object, box: Any, periodic: Any, conditions: BodyArguments
) -> Systems:
    """Check the bodies of several systems, and one box for all or one for each."""
    settings = check_settings(points, cutoff, **conditions)  # type: ignore[arg-type]
    bodies = settings.bodies
    given = _several(box, periodic, bodies)
    if given is None:
        cell = _check.check_box(box, bodies, settings.cutoff, periodic)
        offsets = _check_batch(batch, len(bodies), None)
        return Systems(settings, offsets, np.array([cell.for_core]))
    systems = Systems(settings, _check_batch(batch, len(bodies), len(given)), np.zeros((0, 0)))
    along = _check_along(periodic, given[:, : bodies.dim])
    if given.shape[1:] == (NUMBERS,):
        given, along = _matrices_of_angles(given, None if periodic is None else along)
    check = _check_lengths if given.ndim == 2 else _check_matrices
    return replace(systems, boxes=check(given, along, systems))


def _several(box: Any, periodic: Any, bodies: Bodies) -> npt.NDArray[np.float64] | None:
    """Return boxes of several systems: shape (k, dim), (k, dim, dim) or (k, 6); None for one box.

    They are lengths, edge vectors or, in three dimensions, lengths and angles. One matrix of edge vectors and lengths
    of `dim` systems have the same shape: lengths are positive, or NaN where an axis is open, and edge vectors have no
    NaN.
    """
    if box is None or np.ndim(box) < 2:
        return None
    try:
        given = np.asarray(box, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"box must be numbers, or NaN for an open axis, with batch=, got {box!r}") from None
    dim = bodies.dim
    if given.shape == (dim, dim) and not np.isnan(given).any():
        if (given > 0).all() and (periodic is None or np.ndim(periodic) < 2):
            raise InputError(
                f"box must be either lengths of {dim} systems or one matrix of edge vectors with batch=, got {box!r}, "
                f"which can be both; pass one matrix of edge vectors for each system, shape (k, {dim}, {dim})"
            )
        return None
    angles = ", or (k, 6), lengths and angles" if dim == 3 else ""
    if given.shape[1:] not in ((dim,), (dim, dim), *([(NUMBERS,)] if angles else [])):
        raise InputError(
            f"box must have shape (k, {dim}), lengths of k systems, or (k, {dim}, {dim}), edge vectors{angles}, with "
            f"batch=, got {given.shape}"
        )
    return given


def _matrices_of_angles(
    given: npt.NDArray[np.float64], along: npt.NDArray[np.bool_] | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the edge vectors of cells given by lengths and angles, and along which of them each is periodic."""
    matrices = np.zeros((len(given), 3, 3))
    periodic = np.zeros((len(given), 3), bool)
    for system, numbers in enumerate(given.tolist()):
        try:
            cell, axes = vectors_of_angles(numbers, None if along is None else along[system].tolist())
        except InputError as error:
            raise InputError(f"in system {system}, {error}") from None
        if np.ndim(cell) == 1:
            axes = [length is not None and (axes is None or axes[k]) for k, length in enumerate(cell)]
            cell = np.diag([length or 0.0 for length in cell])
        matrices[system], periodic[system] = cell, axes
    return matrices, periodic


def _check_along(periodic: Any, boxes: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Check which axes of every system are periodic: one for all, one per axis, or one per system and axis."""
    shape = boxes.shape[:2]
    if periodic is None:
        return np.ones(shape, bool)
    given = np.asarray(periodic)
    if given.dtype.kind in "iu" and np.isin(given, (0, 1)).all():
        given = given.astype(np.bool_)
    if given.dtype != np.bool_ or given.shape not in ((), shape[1:], shape):
        raise InputError(
            f"periodic must be True or False for all, for {shape[1]} axes, or for each system with shape {shape}, got "
            f"{periodic!r}"
        )
    return np.broadcast_to(given, shape)


def _check_batch(value: object, size: int, systems: int | None) -> Offsets:
    """Return offsets of systems given by ascending numbers, one per body, or by offsets."""
    batch = _check.as_array(value, "batch")
    if batch.size == 0 and size == 0:
        return np.zeros((systems or 0) + 1, np.int64)
    wrong = batch.ndim != 1 or batch.dtype.kind not in "iu"
    numbers = np.ascontiguousarray([] if wrong else batch, np.int64)
    # The usual case, in one pass: every system has bodies.
    offsets = _core.offsets_of_systems(numbers) if len(numbers) == size else None
    if offsets is not None and systems in (None, len(offsets) - 1):
        return offsets
    if wrong or numbers.min(initial=0) < 0:
        raise InputError(
            f"batch must be the system of each body, or the offsets of systems, as whole numbers of at least 0, got "
            f"shape {batch.shape} and dtype {batch.dtype}"
        )
    return _check_numbers(numbers, size, systems)


def _check_numbers(numbers: Offsets, size: int, systems: int | None) -> Offsets:
    """Return offsets of systems given by numbers of at least 0."""
    if np.diff(numbers).min(initial=0) < 0:
        raise InputError("batch must be ascending, got numbers that fall; sort the bodies by system")
    ends = len(numbers) > 1 and numbers[0] == 0 and numbers[-1] == size
    if len(numbers) == size and ends:
        raise InputError(
            f"batch must be either systems or offsets, got {size} numbers from 0 to {size} for {size} bodies, which "
            "can be both; number the systems from 0 on without gaps"
        )
    if len(numbers) == size:
        last = int(numbers[-1]) + 1
        count = last if systems is None else systems
        if last > count:
            raise InputError(f"batch must lie from 0 to {count - 1}, as box has {count} rows, got {last - 1}")
        if last > size + 1 and systems is None:
            numbers = np.searchsorted(np.unique(numbers), numbers)
            count = int(numbers[-1]) + 1
        return np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=count))]).astype(np.int64)
    if not ends or (systems is not None and len(numbers) != systems + 1):
        want = "" if systems is None else f" and be {systems + 1} numbers, as box has {systems} rows"
        raise InputError(
            f"batch must have {size} numbers, one for each body, or be offsets that start with 0 and end with "
            f"{size}{want}, got {len(numbers)} numbers from {numbers[0] if len(numbers) else None} to "
            f"{numbers[-1] if len(numbers) else None}"
        )
    return numbers


def _check_lengths(
    given: npt.NDArray[np.float64], along: npt.NDArray[np.bool_], systems: Systems
) -> npt.NDArray[np.float64]:
    """Check the lengths of one box per system; NaN and axes that are not periodic are open."""
    bodies = systems.bodies
    dtype = bodies.array.dtype
    with np.errstate(over="ignore"):
        edges = given.astype(dtype).astype(np.float64)
    is_open = np.isnan(edges) | ~along
    wrong = np.argwhere(~is_open & ~((edges > 0) & (edges <= LONGEST_EDGE[dtype.name])))
    if len(wrong):
        row, axis = wrong[0]
        raise InputError(
            f"box must have positive, finite edges, or NaN for an open axis, got {given[row, axis]} for system {row}"
        )
    edges[is_open] = 0
    _check_images(edges, systems.settings)
    own = np.repeat(np.arange(len(systems)), np.diff(systems.offsets))
    most = _check.most_wraps(dtype)
    _check_far((edges[own] > 0) & (np.abs(bodies.array) >= most * edges[own]), most, bodies)
    return edges


def _check_images(edges: npt.NDArray[np.float64], settings: Settings, lattice: npt.NDArray[Any] | None = None) -> None:
    """Check that bodies reach few images of the box of their system.

    `lattice`: the edge vectors and the inverse of tilted cells, where rounding adds to the reach (`Cell.reach`).
    """
    reach: Any = max(settings.bodies.reach(settings.cutoff))
    periodic = edges > 0
    if lattice is not None and len(edges):
        vectors, inverse = np.abs(lattice)
        normals = inverse / np.sqrt((inverse * inverse).sum(axis=2, keepdims=True))
        extents = np.einsum("sk,ska->sa", reach // edges + 3, vectors)
        eps = float(np.finfo(settings.bodies.array.dtype).eps)
        reach = reach + 32 * eps * np.einsum("ska,sa->sk", normals, extents)
    images = np.where(periodic, 2 * (reach / np.where(periodic, edges, 1.0) + 1) + 1, 1.0).prod(axis=1)
    if len(images) and images.max() > _check.MOST_IMAGES:
        row = int(images.argmax())
        spheres = max(settings.bodies.reach(settings.cutoff)) / 2
        name, size = ("cutoff", settings.cutoff) if settings.bodies.kind == "points" else ("radii", spheres)
        raise InputError(
            f"{name} must reach at most {_check.MOST_IMAGES} periodic images, got {size}, which reaches "
            f"{images[row]:.3g} in the box {edges[row].tolist()} of system {row}; use a smaller size"
        )


def _check_far(far: npt.NDArray[np.bool_], most: float, bodies: Bodies) -> None:
    """Refuse bodies that are far outside their box along some axis."""
    rows = np.flatnonzero(far.any(axis=1))
    if len(rows):
        raise InputError(
            f"points must lie within {most:.3g} edges of their box, got {bodies.array[rows[0]].tolist()} in row "
            f"{rows[0]}; wrap the row into the box"
        )


def _check_matrices(
    given: npt.NDArray[np.float64], along: npt.NDArray[np.bool_], systems: Systems
) -> npt.NDArray[np.float64]:
    """Check the edge vectors of one box per system; return the boxes for the core."""
    bodies, offsets = systems.bodies, systems.offsets
    dim, dtype = bodies.dim, bodies.array.dtype
    diagonal = given[:, range(dim), range(dim)]
    # A row with an entry outside the diagonal, or a diagonal that is no length, belongs to a tilted cell.
    beside = (given != 0).sum(axis=2) - (diagonal != 0)
    is_tilted = (along & ((beside > 0) | ~(diagonal > 0))).any(axis=1)
    edges = _check_lengths(np.where(is_tilted[:, None], np.nan, diagonal), along, systems)
    boxes = np.zeros((len(given), dim + 3 * dim * dim))
    boxes[:, :dim] = edges
    with np.errstate(all="ignore"):
        vectors = given.astype(dtype).astype(np.float64)
        lengths = np.sqrt((vectors * vectors).sum(axis=2))
        usual = is_tilted & along.all(axis=1) & (lengths < LONGEST_VECTOR[dtype.name] / 2).all(axis=1)
        usual[usual] = are_reduced(vectors[usual])
    boxes[usual] = _reduced_boxes(vectors[usual], dtype)
    most = min(_check.most_wraps(dtype), _check.MOST_SHIFT / dim)
    lattice = boxes[usual, dim : dim + 2 * dim * dim].reshape(-1, 2, dim, dim).swapaxes(0, 1)
    _check_images(boxes[usual, :dim], systems.settings, lattice)
    own = np.repeat(np.arange(len(given)), np.diff(offsets))
    inverse = boxes[:, dim + dim * dim : dim + 2 * dim * dim].reshape(-1, dim, dim)[own]
    _check_far(np.abs(np.einsum("nka,na->nk", inverse, bodies.array)) >= most, most, bodies)
    for system in np.flatnonzero(is_tilted & ~usual).tolist():
        cell = read_cell(given[system], along[system], dim, dtype)
        mine = bodies.array[offsets[system] : offsets[system + 1]]
        if len(mine):
            alone = replace(bodies, array=mine, low=mine.min(axis=0).tolist(), high=mine.max(axis=0).tolist())
            _check.check_wraps(alone, cell, f"points of system {system}")
            _check.check_images(alone, systems.settings.cutoff, cell)
        numbers = cell.for_core
        boxes[system, : len(numbers)] = numbers
    return boxes


def _reduced_boxes(vectors: npt.NDArray[np.float64], dtype: np.dtype[Any]) -> npt.NDArray[np.float64]:
    """Return boxes for the core from edge vectors that need no reduction."""
    count, dim = vectors.shape[:2]
    inverse = inverses(vectors)
    edges = (1 / np.sqrt((inverse * inverse).sum(axis=2))).astype(dtype).astype(np.float64)
    basis = np.broadcast_to(np.eye(dim).ravel(), (count, dim * dim))
    return np.concatenate([edges, vectors.reshape(basis.shape), inverse.reshape(basis.shape), basis], axis=1)


def find_rows(systems: Systems, letters: str, options: RowOptions) -> tuple[Offsets, Columns]:
    """Return the offsets of the rows of all bodies, and the columns of their entries.

    Edges (``E``) are among the columns if all systems are small; otherwise i and j are, of which they are made.
    """
    large = np.flatnonzero(np.diff(systems.offsets) > _core.LARGEST_SYSTEM)
    if len(large) == 0:
        return _find_small(systems, 0, len(systems), letters, options)
    letters = columns_of(letters)
    parts: list[tuple[Offsets, Columns]] = []
    first = 0
    for system in [*large.tolist(), len(systems)]:
        if first < system:
            parts.append(_find_small(systems, first, system, letters, options))
        if system < len(systems):
            parts.append(_find_large(systems, system, letters, options))
        first = system + 1
    return _joined(systems, parts, letters)


def _find_small(systems: Systems, first: int, last: int, letters: str, options: RowOptions) -> tuple[Offsets, Columns]:
    """Test all pairs of each of some systems."""
    begin, end = int(systems.offsets[first]), int(systems.offsets[last])
    boxes = systems.boxes if len(systems.boxes) == 1 else systems.boxes[first:last]
    names = letters.replace("E", "")
    kept = systems.filter(begin, end)
    offsets, edges, *columns = _core.system_rows(
        _part(systems.bodies, begin, end).for_core,
        systems.offsets[first : last + 1] - begin,
        boxes,
        systems.settings.cutoff,
        names,
        options.half,
        options.sort,
        options.self_pairs,
        options.most,
        "E" in letters,
        None if kept is None else kept.for_core(),
    )
    return offsets, dict(zip(names + "E", [*columns, edges], strict=True))


def _find_large(systems: Systems, system: int, letters: str, options: RowOptions) -> tuple[Offsets, Columns]:
    """Search one system with a structure."""
    from vicinal.choose import chosen_index

    begin, end = int(systems.offsets[system]), int(systems.offsets[system + 1])
    part = _part(systems.bodies, begin, end)
    bounds = check_points(part.array)
    bodies, cell = replace(part, low=bounds.low, high=bounds.high), systems.cell(system)
    settings = replace(systems.settings, bodies=bodies, box=cell, filter=systems.filter(begin, end))
    return rows_of_index(chosen_index(settings), letters, options)


def _part(bodies: Bodies, begin: int, end: int) -> Bodies:
    """Return some of the bodies, with the bounds and sizes of all."""
    extra = None if bodies.extra is None else bodies.extra[begin:end]
    return replace(bodies, array=bodies.array[begin:end], extra=extra)


def rows_of_index(index: Index, letters: str, options: RowOptions) -> tuple[Offsets, Columns]:
    """Return rows as `find_rows` does, of one system."""
    letters = columns_of(letters)
    needed = "".join(dict.fromkeys("ij" + letters))
    if options.half:
        found = index.pairs(want=needed, sort=True, self_pairs=options.self_pairs)
        columns = dict(zip(needed, found, strict=True))
        counts = np.bincount(columns["i"], minlength=len(index))
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    else:
        rows = index.neighbors(
            want="j" + needed[2:],
            sort=options.sort,
            self_pairs=options.self_pairs,
            max_neighbors=options.most or None,
        )
        columns, offsets = columns_in(rows), rows.offsets
    return offsets, {letter: columns[letter] for letter in letters}


def _joined(systems: Systems, parts: list[tuple[Offsets, Columns]], letters: str) -> tuple[Offsets, Columns]:
    """Join the rows of consecutive systems, whose bodies are numbered from 0 on in each part."""
    dim, dtype = systems.bodies.dim, systems.bodies.array.dtype
    empty: Columns = {
        "i": np.zeros(0, np.int32),
        "j": np.zeros(0, np.int32),
        "d": np.zeros(0, dtype),
        "D": np.zeros((0, dim), dtype),
        "S": np.zeros((0, dim), np.int32),
    }
    offsets, body, entry = [np.zeros(1, np.int64)], 0, 0
    columns: dict[str, list[npt.NDArray[Any]]] = {letter: [empty[letter]] for letter in letters}
    for part, found in parts:
        offsets.append(part[1:] + entry)
        for letter in letters:
            column = found[letter]
            columns[letter].append(column + np.int32(body) if letter in "ij" else column)
        body, entry = body + len(part) - 1, entry + int(part[-1])
    return np.concatenate(offsets), {letter: np.concatenate(columns[letter]) for letter in letters}
