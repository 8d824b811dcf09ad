"""The peers, one small adapter each. Every library is used in the fastest way that its documentation describes."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

import vicinal as vc
from contestants import Call, Contestant, IntArray, Listing, listing_of_rows
from workloads import Cloud, FloatArray


def solid(cloud: Cloud, dtype: str | None = None) -> Any:
    """Return points with three coordinates (z = 0 in 2D) for libraries that support 3D only."""
    points = cloud.points if dtype is None else cloud.points.astype(dtype, copy=False)
    if cloud.dim == 3:
        return np.ascontiguousarray(points)
    flat = np.zeros((len(points), 3), dtype=points.dtype)
    flat[:, :2] = points
    return flat


def lengths(cloud: Cloud, dtype: str = "float64") -> Any:
    """Edges of a box around the cloud; a 2D cloud gets a slab thick enough for every grid."""
    return np.array([cloud.edge] * cloud.dim + [4 * cloud.cutoff] * (3 - cloud.dim), dtype=dtype)


class Scipy(Contestant):
    """cKDTree; rows as a CSR matrix, twice as fast as the lists of ``query_ball_point``."""

    name = "scipy"
    distribution = "scipy"
    arithmetic = "float64"

    def prepare(self, cloud: Cloud, task: str, threads: int) -> Call:
        """Build the tree and search it."""
        tree_of = import_module("scipy.spatial").cKDTree
        points, r = cloud.points, cloud.cutoff

        def pairs() -> Any:
            return tree_of(points, boxsize=cloud.box).query_pairs(r, output_type="ndarray")

        def rows() -> Any:
            tree = tree_of(points, boxsize=cloud.box)
            return tree.sparse_distance_matrix(tree, r, output_type="coo_matrix").tocsr()

        def count() -> Any:
            tree = tree_of(points, boxsize=cloud.box)
            return tree.query_ball_point(points, r, return_length=True, workers=threads)

        return {"pairs": pairs, "rows": rows, "count": count}[task]

    def listing(self, result: Any, task: str) -> Listing:
        """Read pairs, or the structure of the sparse matrix."""
        if task == "pairs":
            return Listing(result[:, 0], result[:, 1], full=False)
        i = np.repeat(np.arange(result.shape[0]), np.diff(result.indptr))
        return Listing(i, result.indices, full=True)

    def counts(self, result: Any) -> IntArray:
        """Subtract the body itself."""
        return np.asarray(result) - 1


class Vesin(Contestant):
    """Cell lists; works in float64 and copies its 16-byte pairs into two arrays."""

    name = "vesin"
    distribution = "vesin"
    tasks = ("pairs", "vectors", "rows")
    arithmetic = "float64"
    closed = False

    def prepare(self, cloud: Cloud, task: str, threads: int) -> Call:
        """Half list for pairs, full list sorted by the first index for rows."""
        make = import_module("vesin").NeighborList
        points = solid(cloud)
        box = np.diag(lengths(cloud)).astype(points.dtype)
        full = task == "rows"
        columns = "ijdDS" if task == "vectors" else "ij"

        def call() -> Any:
            lister = make(cutoff=cloud.cutoff, full_list=full, sorted=full, n_threads=threads)
            return lister.compute(points, box, cloud.box is not None, columns)

        return call

    def listing(self, result: Any, task: str) -> Listing:
        """The first two arrays hold unsigned 64-bit indices."""
        return Listing(result[0], result[1], full=task == "rows")


class Freud(Contestant):
    """AABB tree (the linked cells are far slower); always periodic, so an open cloud gets a wide box."""

    name = "freud"
    distribution = "freud-analysis"
    tasks = ("pairs", "rows")
    arithmetic = "float32"
    closed = False
    remark = "no half list: the full list is timed; coordinates shifted to a centred box in float32"

    def prepare(self, cloud: Cloud, task: str, threads: int) -> Call:
        """Full neighbour list, sorted by the query index."""
        del task
        freud = import_module("freud")
        freud.parallel.set_num_threads(threads)
        # 2.5 cutoffs of empty space keep the images of an open cloud out of reach.
        edge = cloud.edge if cloud.box is not None else cloud.edge + 2.5 * cloud.cutoff
        box = freud.box.Box.cube(edge) if cloud.dim == 3 else freud.box.Box.square(edge)
        centred = solid(cloud, "float64").copy()
        centred[:, : cloud.dim] -= cloud.edge / 2
        points = centred.astype(np.float32)
        arguments = {"r_max": cloud.cutoff, "exclude_ii": True}
        return lambda: freud.locality.AABBQuery(box, points).query(points, arguments).toNeighborList()

    def listing(self, result: Any, task: str) -> Listing:
        """Views of the two index columns."""
        del task
        return Listing(result.query_point_indices, result.point_indices, full=True)


class FullList(Contestant):
    """Functions of one kind: a full list in float64, sorted by the first index, with the letters of ASE for columns."""

    tasks = ("pairs", "vectors", "rows")
    arithmetic = "float64"
    closed = False
    remark = "no half list: the full list is timed"

    def search(
        self,
        columns: str,
        points: FloatArray,
        cutoff: float,
        cell: FloatArray,
        *,
        periodic: bool,
    ) -> Call:
        """Return the call for these columns."""
        raise NotImplementedError

    def prepare(self, cloud: Cloud, task: str, threads: int) -> Call:
        """Full list sorted by the first index."""
        del threads
        columns = "ijdDS" if task == "vectors" else "ij"
        cell = np.diag(lengths(cloud))
        return self.search(columns, solid(cloud, "float64"), cloud.cutoff, cell, periodic=cloud.box is not None)

    def listing(self, result: Any, task: str) -> Listing:
        """The first two arrays hold the indices."""
        del task
        return Listing(result[0], result[1], full=True)


class Matscipy(FullList):
    """Cell lists; strict and with positions rounded on the way into its cell frame."""

    name = "matscipy"
    distribution = "matscipy"

    def search(
        self,
        columns: str,
        points: FloatArray,
        cutoff: float,
        cell: FloatArray,
        *,
        periodic: bool,
    ) -> Call:
        """Return the call for these columns."""
        find, pbc = import_module("matscipy.neighbours").neighbour_list, np.full(3, periodic)
        return lambda: find(columns, positions=points, cutoff=cutoff, cell=cell, pbc=pbc)


class ScikitLearn(Contestant):
    """KDTree; one array per body."""

    name = "scikit-learn"
    distribution = "scikit-learn"
    periodic = False
    arithmetic = "float64"
    remark = "no pair list: the rows are timed, gathering them is not"

    def prepare(self, cloud: Cloud, task: str, threads: int) -> Call:
        """Radius query of every point."""
        del threads
        tree_of = import_module("sklearn.neighbors").KDTree
        points = cloud.points.astype(np.float64, copy=False)
        only = task == "count"
        return lambda: tree_of(points).query_radius(points, cloud.cutoff, count_only=only)

    def listing(self, result: Any, task: str) -> Listing:
        """Array of arrays."""
        del task
        return listing_of_rows(result)

    def counts(self, result: Any) -> IntArray:
        """Subtract the body itself."""
        return np.asarray(result) - 1


class MDAnalysis(Contestant):
    """FastNS, the grid behind ``self_capped_distance``."""

    name = "MDAnalysis"
    distribution = "MDAnalysis"
    tasks = ("pairs", "rows")
    arithmetic = "float32"

    def prepare(self, cloud: Cloud, task: str, threads: int) -> Call:
        """Self search gives each pair once; the search of all points among themselves gives rows."""
        del threads
        grid_of = import_module("MDAnalysis.lib.nsgrid").FastNS
        points = solid(cloud, "float32")
        edges = lengths(cloud, "float32")
        if cloud.box is None:
            edges *= np.float32(1.1)  # as its documentation advises for a cloud without a box
        box = np.concatenate([edges, np.full(3, 90, dtype=np.float32)])

        def call() -> Any:
            grid = grid_of(cloud.cutoff, points, box, pbc=cloud.box is not None)
            result = grid.self_search() if task == "pairs" else grid.search(points)
            return result.get_pairs()

        return call

    def listing(self, result: Any, task: str) -> Listing:
        """An (m, 2) array of 64-bit indices."""
        return Listing(result[:, 0], result[:, 1], full=task == "rows")


class Ase(FullList):
    """The NumPy implementation in ASE, the reference many codes are tested against."""

    name = "ase"
    distribution = "ase"

    def search(
        self,
        columns: str,
        points: FloatArray,
        cutoff: float,
        cell: FloatArray,
        *,
        periodic: bool,
    ) -> Call:
        """Return the call for these columns."""
        find = import_module("ase.neighborlist").primitive_neighbor_list
        return lambda: find(columns, [periodic] * 3, cell, points, cutoff)


class MDTraj(Contestant):
    """``compute_neighborlist``; one array per body."""

    name = "mdtraj"
    distribution = "mdtraj"
    tasks = ("pairs", "rows")
    arithmetic = "float32"
    remark = "no pair list: the rows are timed, gathering them is not"

    def prepare(self, cloud: Cloud, task: str, threads: int) -> Call:
        """One frame without a topology."""
        del task, threads
        mdtraj = import_module("mdtraj")
        cell: dict[str, Any] = {}
        if cloud.box is not None:
            cell = {"unitcell_lengths": [[cloud.box] * 3], "unitcell_angles": [[90.0] * 3]}
        frame = mdtraj.Trajectory(solid(cloud, "float32")[None], None, **cell)
        periodic = cloud.box is not None
        return lambda: mdtraj.compute_neighborlist(frame, cloud.cutoff, periodic=periodic)

    def listing(self, result: Any, task: str) -> Listing:
        """List of arrays."""
        del task
        return listing_of_rows(result)


class Napf(Contestant):
    """nanoflann through napf; indices and distances as C++ vectors that Python can index."""

    name = "napf"
    distribution = "napf"
    tasks = ("pairs", "rows")
    periodic = False
    closed = False
    remark = "no pair list: the rows are timed, gathering or converting them is not"

    def prepare(self, cloud: Cloud, task: str, threads: int) -> Call:
        """Radius query of every point; nanoflann takes the squared radius."""
        del task
        tree_of = import_module("napf").KDT
        points, squared = cloud.points, cloud.cutoff**2
        return lambda: tree_of(points, nthread=threads).radius_search(points, squared, False, threads)

    def listing(self, result: Any, task: str) -> Listing:
        """Vector of vectors."""
        del task
        return listing_of_rows(result[0])


class PyNanoflann(Contestant):
    """nanoflann through pynanoflann; a list of arrays."""

    name = "pynanoflann"
    distribution = "pynanoflann"
    tasks = ("pairs", "rows")
    periodic = False
    closed = False
    remark = "no pair list: the rows are timed, gathering them is not"

    def prepare(self, cloud: Cloud, task: str, threads: int) -> Call:
        """Radius query of every point."""
        del task
        tree_of = import_module("pynanoflann").KDTree

        def call() -> Any:
            tree = tree_of(radius=cloud.cutoff)
            tree.fit(cloud.points)
            return tree.radius_neighbors(cloud.points, return_distance=False, n_jobs=threads)

        return call

    def listing(self, result: Any, task: str) -> Listing:
        """List of arrays."""
        del task
        return listing_of_rows(result)


class TorchCluster(Contestant):
    """``radius_graph`` on the CPU: nanoflann behind tensors."""

    name = "torch-cluster"
    distribution = "torch-cluster"
    tasks = ("pairs", "rows")
    periodic = False
    closed = False
    remark = "no half list: the full list is timed"

    def prepare(self, cloud: Cloud, task: str, threads: int) -> Call:
        """Edges in both directions; the largest number of neighbours has to be known."""
        del task
        torch, find = import_module("torch"), import_module("torch_cluster").radius_graph
        torch.set_num_threads(threads)
        points, most = torch.from_numpy(np.ascontiguousarray(cloud.points)), most_neighbors(cloud) + 1
        return lambda: find(points, cloud.cutoff, max_num_neighbors=most, num_workers=threads)

    def listing(self, result: Any, task: str) -> Listing:
        """A tensor of shape (2, m)."""
        del task
        return Listing(result[1].numpy(), result[0].numpy(), full=True)


class Nvalchemiops(Contestant):
    """The cell lists of nvalchemi-toolkit-ops on the CPU."""

    name = "nvalchemiops"
    distribution = "nvalchemi-toolkit-ops"
    tasks = ("pairs", "rows")
    dims = (3,)
    closed = False
    remark = "a matrix of neighbours, turned into a list of edges"

    def prepare(self, cloud: Cloud, task: str, threads: int) -> Call:
        """Half list for pairs; the largest number of neighbours has to be known."""
        torch = import_module("torch")
        find = import_module("nvalchemiops.torch.neighbors").neighbor_list
        torch.set_num_threads(threads)
        points = torch.from_numpy(np.ascontiguousarray(cloud.points))
        options = {
            "cell": torch.diag(torch.from_numpy(lengths(cloud, str(cloud.points.dtype))))[None],
            "pbc": torch.full((1, 3), cloud.box is not None),
            "max_neighbors": most_neighbors(cloud) + 1,
            "half_fill": task == "pairs",
        }
        return lambda: find(points, cloud.cutoff, method="cell_list", return_neighbor_list=True, **options)

    def listing(self, result: Any, task: str) -> Listing:
        """A tensor of shape (2, m) first."""
        return Listing(result[0][0].numpy(), result[0][1].numpy(), full=task == "rows")


def most_neighbors(cloud: Cloud) -> int:
    """Return the largest number of neighbours of a point."""
    return int(vc.count(cloud.points, cloud.cutoff, box=cloud.box).max(initial=0))


PEERS: tuple[type[Contestant], ...] = (
    Scipy, Vesin, Freud, Matscipy, ScikitLearn, MDAnalysis, MDTraj, Napf, PyNanoflann, Ase, TorchCluster, Nvalchemiops,
)  # fmt: skip
