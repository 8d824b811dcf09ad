"""Searches of points that do not fit into memory: space-ordered tiles on disk, and one task per tile.

`write` sorts points into tiles. The tasks of `Tiles` are independent: a loop, Dask or MPI ranks can run them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal.cell import BoxLike, PeriodicLike
from vicinal.distributed.axes import along_axes, bodies_along_axes, farthest
from vicinal.distributed.bisection import bisect, wrapped
from vicinal.distributed.ghost_search import BodySet, GhostSearch
from vicinal.distributed.halo import keeps_pair
from vicinal.errors import InputError
from vicinal.io.parquet import ParquetPoints
from vicinal.structures import StructureLike

Array = npt.NDArray[Any]

MANIFEST = "tiles.json"
# Points read at once. A few arrays of this many rows are in memory while tiles are written.
CHUNK = 1_000_000
# Points that the division into tiles rests on.
SAMPLES = 100_000


@dataclass(frozen=True)
class TileResult:
    """What a task found.

    Parameters
    ----------
    tile
        Number of the tile.
    ids
        int64, row numbers in the source, of the points of the tile; with pairs also of the ghosts after them.
    columns
        One array per letter of `want`, with row numbers of the source in place of i and j; or the counts.
    """

    tile: int
    ids: npt.NDArray[np.int64]
    columns: tuple[Array, ...]


@dataclass(frozen=True)
class TileSearch:
    """The search of one tile; calling it returns a `TileResult`. It can be pickled."""

    tiles: Tiles
    tile: int
    cutoff: float
    want: str
    structure: StructureLike = None

    def __call__(self) -> TileResult:
        """Read the tile and its ghosts, and search."""
        return self.tiles.search(self)


@dataclass(frozen=True)
class Tiles:
    """Points in a folder, divided into tiles. Use `write` or `Tiles.open`.

    Parameters
    ----------
    folder
        The folder.
    dtype, dim
        Type and number of coordinates.
    box, periodic
        The periodic cell, as for `vicinal.pairs`.
    sizes
        Points per tile.
    hulls
        Least and largest coordinates of each tile, inside the periodic cell and along its axes.
    far
        At least the distance of any point from the origin.
    """

    folder: Path
    dtype: str
    dim: int
    box: Any
    periodic: Any
    sizes: tuple[int, ...]
    hulls: tuple[tuple[float, ...], ...]
    far: float

    @classmethod
    def open(cls, folder: str | Path) -> Tiles:
        """Open a folder that `write` has made."""
        place = _check.check_path(folder, "folder")
        try:
            entries = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"folder must hold tiles, got {place} ({error}); make them with tiles.write") from error
        hulls = tuple(tuple(float(x) for x in hull) for hull in entries["hulls"])
        return cls(place, **{**entries, "sizes": tuple(entries["sizes"]), "hulls": hulls})

    def __len__(self) -> int:
        """Return the number of points."""
        return sum(self.sizes)

    def tasks(self, cutoff: float, *, want: str = "ij", structure: StructureLike = None) -> list[TileSearch]:
        """Return one task per tile that is not empty; together they find every pair once.

        Parameters
        ----------
        cutoff
            Largest distance of a pair.
        want
            Columns of the pairs, as for `vicinal.pairs`; or ``"n"`` for the number of neighbours of each point.
        structure
            As for `vicinal.pairs`.
        """
        none = _no_points(self.dim, self.dtype)
        checked = _check.check_cutoff(cutoff, none)
        _check.check_box(self.box, none, checked, self.periodic)
        if want != "n":
            _check.check_want(want, "ijdDS")
        return [TileSearch(self, tile, checked, want, structure) for tile, size in enumerate(self.sizes) if size]

    def pairs(self, cutoff: float, *, want: str = "ij", structure: StructureLike = None) -> Iterator[tuple[Array, ...]]:
        """Find all pairs, tile by tile: yields columns of bounded size, with row numbers of the source as int64."""
        for task in self.tasks(cutoff, want=want, structure=structure):
            yield task().columns

    def count(self, cutoff: float, *, structure: StructureLike = None) -> npt.NDArray[np.int32]:
        """Count the neighbours of every point, in the order of the source."""
        counts = np.zeros(len(self), np.int32)
        for task in self.tasks(cutoff, want="n", structure=structure):
            result = task()
            counts[result.ids] = result.columns[0]
        return counts

    def search(self, task: TileSearch) -> TileResult:
        """Run a task of these tiles."""
        counting = task.want == "n"
        own, ids = self._read(task.tile)
        mine = self._meeting(own, task.cutoff, [other for other in range(len(self.sizes)) if other != task.tile])
        near = np.zeros(len(own), np.bool_)
        ghosts, ghost_ids = [own[:0]], [ids[:0]]
        for tile, rows in mine.items():
            if not (counting or keeps_pair(task.tile, tile)) or not len(rows):
                continue
            near[rows] = True
            points, numbers = self._read(tile)
            (arriving,) = self._meeting(points, task.cutoff, [task.tile]).values()
            ghosts.append(points[arriving])
            ghost_ids.append(numbers[arriving])
        body, ghost = (BodySet(points, None, task.cutoff) for points in (own, np.concatenate(ghosts)))
        search = GhostSearch(body, ghost, np.flatnonzero(near), self.box, self.periodic, task.structure)
        if counting:
            return TileResult(task.tile, ids, (search.count(),))
        both_ids = np.concatenate([ids, *ghost_ids])
        columns = search.pairs(task.want, half=True, sort=False)
        named = tuple(both_ids[c] if w in "ij" else c for w, c in zip(task.want, columns, strict=True))
        return TileResult(task.tile, both_ids, named)

    def _meeting(self, points: Array, cutoff: float, tiles: list[int]) -> dict[int, npt.NDArray[np.int64]]:
        """Return, by tile, the points that can form pairs with its points."""
        hulls = np.array([self.hulls[tile] for tile in tiles]).reshape(len(tiles), 2, self.dim)
        cell = _check.check_box(self.box, _no_points(self.dim, self.dtype), 0.0, self.periodic)
        bodies, reach = bodies_along_axes(_check.check_points(points), cutoff, cell, self.far)
        found = _core.meeting_hulls(bodies.for_core, reach, cell.edges, hulls, len(tiles))
        return dict(zip(tiles, found, strict=True))

    def _read(self, tile: int) -> tuple[Array, npt.NDArray[np.int64]]:
        points = np.fromfile(_points_file(self.folder, tile), self.dtype).reshape(-1, self.dim)
        ids = np.fromfile(_ids_file(self.folder, tile), np.int64)
        if not len(points) == len(ids) == self.sizes[tile]:
            raise InputError(f"folder must hold {self.sizes[tile]} points in tile {tile}, got {len(points)}")
        return points, ids


def _no_points(dim: int, dtype: Any) -> _check.Bodies:
    return _check.Bodies(np.zeros((0, dim), dtype), [0.0] * dim, [0.0] * dim)


def _points_file(folder: Path, tile: int) -> Path:
    return folder / f"{tile:06d}.points"


def _ids_file(folder: Path, tile: int) -> Path:
    return folder / f"{tile:06d}.ids"


def write(
    source: npt.ArrayLike | str | Path,
    folder: str | Path,
    *,
    box: BoxLike = None,
    periodic: PeriodicLike = None,
    points_per_tile: int = 1_000_000,
    overwrite: bool = False,
) -> Tiles:
    """Sort points into tiles on disk. Needs memory for a few million points, for any number of points.

    Parameters
    ----------
    source
        The points: an array, such as a memory map; or a npy or Parquet file (columns x, y and z), which is read piece
        by piece. Row numbers of the source are the ids of the points.
    folder
        Folder for the tiles: about 8 bytes per point more than the source.
    box, periodic
        The periodic cell, as for `vicinal.pairs`; it may be tilted.
    points_per_tile
        Mean number of points of a tile. Memory of a search is proportional to it.
    overwrite
        Replace tiles that are already in the folder.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> points = np.random.default_rng(0).random((5000, 3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tiles = vicinal.tiles.write(points, f"{folder}/tiles", box=1.0, points_per_tile=1000)
    ...     found = sum(len(i) for i, j in tiles.pairs(0.1))
    >>> found == len(vicinal.pairs(points, 0.1, box=1.0)[0])
    True
    """
    per_tile = _check.check_integer(points_per_tile, "points_per_tile", least=1, most=_check.MOST_BODIES)
    place = _check.check_path(folder, "folder")
    if place.exists() and not (overwrite and (place / MANIFEST).exists()):
        raise InputError(f"folder must not exist, got {place}; remove it, or pass overwrite=True if it holds tiles")
    part = place.with_name(place.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        with _open(source) as rows:
            _fill(rows, part, box, periodic, max(1, -(-len(rows) // per_tile)))
        if place.exists():  # old tiles are removed only now that the new ones are complete
            shutil.rmtree(place)
        part.rename(place)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return Tiles.open(place)


class _ArrayRows:
    """The points of an array, piece by piece; there is at least one piece."""

    def __init__(self, rows: Array) -> None:
        if rows.ndim != 2 or rows.shape[1] not in (2, 3):
            raise InputError(f"source must have shape (n, 2) or (n, 3), got {rows.shape}")
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def pieces(self, size: int) -> Iterator[Array]:
        for begin in range(0, max(1, len(self._rows)), size):
            yield self._rows[begin : begin + size]


@contextmanager
def _open(source: npt.ArrayLike | str | Path) -> Iterator[_ArrayRows | ParquetPoints]:
    if not isinstance(source, (str, Path)):
        yield _ArrayRows(_check.as_array(source, "source"))
        return
    path = Path(source)
    if path.suffix not in (".npy", ".parquet"):
        raise InputError(
            f"source must be an array, a .npy or a .parquet file, got {source}; convert it with numpy.save"
        )
    if path.suffix == ".npy":
        try:
            rows: Array = np.load(path, mmap_mode="r")
        except (OSError, ValueError) as error:
            raise InputError(f"source must be a readable .npy file, got {source} ({error})") from error
        yield _ArrayRows(rows)
        return
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(f"source must be a readable .parquet file, got {source} ({error})") from error
    with file:
        yield ParquetPoints(path, file)


def _sample(rows: _ArrayRows | ParquetPoints) -> Array:
    """Every n-th point, such that there are about SAMPLES of them."""
    step, taken, begin = max(1, len(rows) // SAMPLES), [], 0
    for piece in rows.pieces(CHUNK):
        taken.append(np.array(piece[-begin % step :: step]))
        begin += len(piece)
    return _check.check_points(np.concatenate(taken), "source").array


def _fill(rows: _ArrayRows | ParquetPoints, folder: Path, box: BoxLike, periodic: PeriodicLike, tiles: int) -> None:
    sample = _sample(rows)
    dtype, dim = sample.dtype, sample.shape[1]
    cell = _check.check_box(box, _no_points(dim, dtype), 0.0, periodic)
    parts = bisect(wrapped(along_axes(sample, cell), cell.edges), np.ones(len(sample)), tiles)
    sizes = np.zeros(tiles, np.int64)
    hulls = np.stack([np.full((tiles, dim), np.inf), np.full((tiles, dim), -np.inf)], axis=1)
    begin, far = 0, 0.0
    for piece in rows.pieces(CHUNK):
        chunk = _check.check_points(piece, "source", dtype)
        _check.check_wraps(chunk, cell, "source")
        far = max(far, farthest(chunk.array))
        owners = parts.owners(wrapped(along_axes(chunk.array, cell), cell.edges))
        order = np.argsort(owners, kind="stable")
        ends = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=tiles))])
        for tile in np.flatnonzero(np.diff(ends)).tolist():
            mine = order[ends[tile] : ends[tile + 1]]
            points = chunk.array[mine]
            with _points_file(folder, tile).open("ab") as file:
                points.tofile(file)
            with _ids_file(folder, tile).open("ab") as file:
                (mine + begin).astype(np.int64).tofile(file)
            sizes[tile] += len(mine)
            bodies, _ = bodies_along_axes(_check.check_points(points), 0.0, cell, 0.0)
            hull = np.reshape(_core.hull_of_extents(bodies.for_core, 0.0, cell.edges), (2, dim))
            hulls[tile] = np.minimum(hulls[tile, 0], hull[0]), np.maximum(hulls[tile, 1], hull[1])
        begin += len(piece)
    entries = {"dtype": dtype.name, "dim": dim, "box": _plain(box), "periodic": _plain(periodic), "far": far}
    entries |= {"sizes": sizes.tolist(), "hulls": hulls.reshape(tiles, -1).tolist()}
    (folder / MANIFEST).write_text(json.dumps(entries), encoding="utf-8")


def _plain(value: Any) -> Any:
    """Return an argument as numbers and lists, which JSON keeps to the last bit."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else float(value)
