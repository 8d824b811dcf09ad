"""Adapters give the answers of the packages whose place they take."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ase import Atoms
from ase.build import bulk
from ase.neighborlist import neighbor_list as ase_neighbor_list
from scipy.spatial import cKDTree

import vicinal as vc
from vicinal.adapters import mdanalysis
from vicinal.adapters.ase import neighbor_list
from vicinal.adapters.scipy import KDTree
from vicinal.io import read_points, write_pairs

RNG = np.random.default_rng(6)
CLOUDS = {
    "space": (RNG.random((400, 3)), None),
    "plane": (RNG.random((300, 2)), None),
    "periodic": (RNG.random((400, 3)), (1.0, 1.0, 1.0)),
    "slab": (RNG.random((300, 3)), (1.0, 0.0, 1.0)),
    "line": (RNG.random((50, 1)), None),
    "five dimensions": (RNG.random((60, 5)), None),
}
every_cloud = pytest.mark.parametrize(("points", "boxsize"), CLOUDS.values(), ids=CLOUDS)


@every_cloud
def test_a_tree_finds_the_pairs_of_scipy(points: Any, boxsize: Any) -> None:
    ours, theirs = KDTree(points, boxsize=boxsize), cKDTree(points, boxsize=boxsize)
    half = len(points) // 3
    others = KDTree(points[:half], boxsize=boxsize), cKDTree(points[:half], boxsize=boxsize)
    for r in (0.0, 0.1, 0.3, 0.6):
        assert ours.query_pairs(r) == theirs.query_pairs(r)
        found = ours.query_pairs(r, output_type="ndarray")
        assert found.dtype == np.intp
        assert set(map(tuple, found.tolist())) == theirs.query_pairs(r)
        distances = ours.sparse_distance_matrix(others[0], r)
        expected = theirs.sparse_distance_matrix(others[1], r)
        assert distances.shape == expected.shape
        assert abs(distances - expected).max() < 1e-14
        listed = ours.sparse_distance_matrix(others[0], r, output_type="ndarray")
        assert len(listed) == len(theirs.sparse_distance_matrix(others[1], r, output_type="ndarray"))
        assert ours.count_neighbors(others[0], r) == theirs.count_neighbors(others[1], r)
        assert [sorted(row) for row in others[0].query_ball_tree(ours, r)] == [
            sorted(row) for row in others[1].query_ball_tree(theirs, r)
        ]


@every_cloud
def test_a_tree_finds_the_points_around_others(points: Any, boxsize: Any) -> None:
    ours, theirs = KDTree(points, boxsize=boxsize), cKDTree(points, boxsize=boxsize)
    queries = np.random.default_rng(1).random((30, points.shape[1]))
    radii = np.random.default_rng(2).choice([0.0, 0.1, 0.4], 30)
    for x, r in ((queries, 0.2), (queries, radii), (queries[0], 0.3), (queries.reshape(5, 6, -1), 0.2), (points, 0.1)):
        found, expected = ours.query_ball_point(x, r), theirs.query_ball_point(x, r)
        if np.ndim(x) == 1:
            assert sorted(found) == sorted(expected)
        else:
            assert found.shape == expected.shape
            assert all(a == b for a, b in zip(found.ravel(), expected.ravel(), strict=True))
        lengths = ours.query_ball_point(x, r, return_length=True)
        assert np.array_equal(lengths, theirs.query_ball_point(x, r, return_length=True))
    assert ours.query_ball_point(queries[:0], 0.1).shape == (0,)
    for p in (1.0, np.inf):
        assert ours.query_pairs(0.1, p=p) == theirs.query_pairs(0.1, p=p)


@every_cloud
def test_a_tree_finds_the_nearest_points(points: Any, boxsize: Any) -> None:
    ours, theirs = KDTree(points, boxsize=boxsize), cKDTree(points, boxsize=boxsize)
    queries = np.random.default_rng(1).random((30, points.shape[1]))
    for x in (queries, queries[0], queries.reshape(5, 6, -1), queries[:0]):
        for k, bound in ((1, np.inf), (3, np.inf), ([1, 4], np.inf), (5, 0.1), (len(points) + 2, np.inf), ([2], 0.2)):
            found, expected = (
                ours.query(x, k, distance_upper_bound=bound),
                theirs.query(x, k, distance_upper_bound=bound),
            )
            for a, b in zip(found, expected, strict=True):
                assert np.shape(a) == np.shape(b)
                assert np.allclose(a, b, rtol=1e-14)
    assert np.array_equal(ours.query(points, 2)[1], theirs.query(points, 2)[1])


def test_a_tree_counts_with_weights() -> None:
    points, others = np.random.default_rng(3).random((2, 200, 3))
    ours, theirs = (KDTree(points), KDTree(others)), (cKDTree(points), cKDTree(others))
    radii = np.array([0.1, 0.05, 0.3, 0.3])
    assert np.array_equal(ours[0].count_neighbors(ours[1], radii), theirs[0].count_neighbors(theirs[1], radii))
    bins = np.sort(radii)
    single = ours[0].count_neighbors(ours[1], bins[:3], cumulative=False)
    assert np.array_equal(single, theirs[0].count_neighbors(theirs[1], bins[:3], cumulative=False))
    equal = np.array([0.1, 0.1, 0.3, 0.3, 0.3])
    for kind in (True, False):
        found = ours[0].count_neighbors(ours[1], equal, cumulative=kind)
        assert np.array_equal(found, theirs[0].count_neighbors(theirs[1], equal, cumulative=kind))
    mine, yours = np.random.default_rng(4).random((2, 200))
    for weights in ((mine, yours), (mine, None)):
        found = ours[0].count_neighbors(ours[1], radii, weights=weights)
        assert np.allclose(found, theirs[0].count_neighbors(theirs[1], radii, weights=weights))


def test_a_tree_compares_squares_where_it_counts() -> None:
    points, others = np.random.default_rng(6).random((2, 300, 3))
    ours = KDTree(points), KDTree(others)
    x, y, z = (others[None] - points[:, None]).T
    squares = np.sort((x * x + y * y + z * z).ravel())
    radii = np.sqrt(squares[:2000])
    # Roots and their squares are rounded, so some of these radii do not reach the pair that they come from.
    expected = np.searchsorted(squares, radii * radii, side="right")
    assert np.count_nonzero(expected < np.arange(1, 2001)) > 100
    found = ours[0].count_neighbors(ours[1], radii)
    assert np.array_equal(found, expected)
    theirs = cKDTree(points).count_neighbors(cKDTree(others), radii)
    assert np.count_nonzero(found != theirs) < 10  # SciPy also compares squares, but leaves out boxes by rounded bounds
    assert found[7] == ours[0].count_neighbors(ours[1], radii[7])
    for weights in ((None, None), (np.ones(300, int), None)):
        found = ours[0].count_neighbors(ours[1], radii, weights=weights)
        assert found.dtype == np.float64
        assert np.array_equal(found, expected)
    nothing = ours[0].count_neighbors(ours[1], [0.0, 1e-9], weights=(np.ones(300), np.ones(300)))
    assert nothing.dtype == np.float64
    assert nothing.tolist() == [0.0, 0.0]


def test_a_tree_refuses_counts_that_scipy_refuses() -> None:
    points, others = np.random.default_rng(7).random((2, 20, 3))
    for kind in (KDTree, cKDTree):
        tree, other = kind(points), kind(others)
        with pytest.raises(ValueError, match="weights for both in a tuple"):
            tree.count_neighbors(other, 0.3, weights=np.ones(20))
        with pytest.raises(ValueError, match="non-decreasing"):
            tree.count_neighbors(other, [0.3, 0.1], cumulative=False)
        with pytest.raises(ValueError, match="one-dimensional"):
            tree.count_neighbors(other, [[0.3, 0.1]])


CRYSTALS = {
    "cubic": bulk("Cu", "fcc", a=3.6, cubic=True) * (2, 2, 2),
    "molecule": Atoms("OH2CO", RNG.random((5, 3)) * 2),
    "salt": bulk("NaCl", "rocksalt", a=5.64, cubic=True),
    "slab": Atoms("Au20", RNG.random((20, 3)) * 5, cell=(5, 5, 5), pbc=(True, False, True)),
    "one atom": Atoms("Po", [[0.3, 0.2, 0.1]], cell=(3.3, 3.3, 3.3), pbc=True),
    "primitive": bulk("Cu", "fcc", a=3.6),
    "hexagonal": bulk("Mg", "hcp", a=3.2, c=5.2),
    "tilted slab": Atoms(
        "Au20", RNG.random((20, 3)) * 5, cell=[[5, 0, 0], [2, 5, 0], [1, 1, 5]], pbc=(True, True, False)
    ),
}


@pytest.mark.parametrize("atoms", CRYSTALS.values(), ids=CRYSTALS)
def test_the_neighbours_of_atoms_are_those_of_ase(atoms: Any) -> None:
    radii = np.random.default_rng(5).uniform(0.5, 1.9, len(atoms))
    elements = dict.fromkeys([("Cu", "Cu"), ("Na", "Cl"), ("O", "H"), (6, 8), ("Au", "Au")], 3.1)
    for cutoff in (2.0, 4.3, radii, elements):
        for own in (False, True):
            ours = neighbor_list("ijdDS", atoms, cutoff, own)
            theirs = ase_neighbor_list("ijdDS", atoms, cutoff, own)
            one, other = (np.lexsort((*found[4].T, found[1], found[0])) for found in (ours, theirs))
            for a, b, exact in zip(ours, theirs, (True, True, False, False, True), strict=True):
                assert len(a) == len(b)
                assert a.dtype == b.dtype
                assert np.array_equal(a[one], b[other]) if exact else np.allclose(a[one], b[other], atol=1e-12)
    assert len(neighbor_list("d", atoms, 1.5)) == len(ase_neighbor_list("d", atoms, 1.5))


def test_wrong_arguments_of_ase_are_refused() -> None:
    atoms = CRYSTALS["molecule"]
    with pytest.raises(vc.InputError, match="cutoff must be one number, or one radius"):
        neighbor_list("i", atoms, [1.0, 2.0])
    with pytest.raises(vc.InputError, match="quantities must consist of"):
        neighbor_list("x", atoms, 1.0)
    with pytest.raises(vc.InputError, match="cutoff must have symbols or numbers of elements in its keys, got 'Xx'"):
        neighbor_list("i", atoms, {("Xx", "H"): 1.0})
    with pytest.raises(vc.InputError, match=r"cutoff must have pairs of elements as keys.*got 'H'"):
        neighbor_list("i", atoms, {"H": 1.0})
    with pytest.raises(vc.InputError, match="a must be Atoms of ASE, got ndarray"):
        neighbor_list("i", np.zeros((3, 3)), 1.0)  # type: ignore[arg-type]


def test_a_least_distance_does_not_replace_the_nearest_image() -> None:
    # Across the border the points are 0.2 apart; their next image is 0.8 away, also within the cutoff.
    points, box = [[0.1, 0.5, 0.5], [0.9, 0.5, 0.5]], [1.0, 9.0, 9.0, 90.0, 90.0, 90.0]
    assert len(mdanalysis.self_capped_distance(points, 0.85, 0.3, box)[0]) == 0
    assert len(mdanalysis.capped_distance(points[:1], points[1:], 0.85, 0.3, box)[0]) == 0
    found, d = mdanalysis.self_capped_distance(points, 0.85, 0.1, box)
    assert found.tolist() == [[0, 1]]
    assert d.round(12).tolist() == [0.2]


def test_the_functions_of_mdanalysis() -> None:
    distances = pytest.importorskip("MDAnalysis.lib.distances", reason="MDAnalysis is not installed")
    points, others = (np.random.default_rng(7).random((2, 300, 3)) * 10).astype(np.float32)
    for box in (None, np.array([10, 11, 12, 90, 90, 90], np.float32), np.array([10, 11, 12, 80, 95, 70], np.float32)):
        for least in (None, 0.7):
            ours = mdanalysis.self_capped_distance(points, 1.5, least, box)
            theirs = distances.self_capped_distance(points, 1.5, least, box)
            assert_same_distances(ours, theirs)
            ours = mdanalysis.capped_distance(others, points, 1.5, least, box)
            theirs = distances.capped_distance(others, points, 1.5, least, box)
            assert_same_distances(ours, theirs)
    universe = pytest.importorskip("MDAnalysis").Universe.empty(300, trajectory=True)
    universe.atoms.positions = points
    universe.dimensions = [10, 11, 12, 90, 90, 90]
    i, _ = mdanalysis.pairs(universe.atoms, 1.5)
    assert len(i) == len(distances.self_capped_distance(points, 1.5, box=universe.dimensions)[0])


def assert_same_distances(ours: Any, theirs: Any) -> None:
    assert {tuple(sorted(pair)) for pair in ours[0].tolist()} == {tuple(sorted(pair)) for pair in theirs[0].tolist()}
    assert np.allclose(np.sort(ours[1]), np.sort(theirs[1]), atol=1e-5)


def test_the_lists_of_freud() -> None:
    freud = pytest.importorskip("freud", reason="freud is not installed")
    from vicinal.adapters.freud import from_neighbor_list
    from vicinal.adapters.freud import neighbor_list as freud_list

    box, points = freud.data.make_random_system(10, 500, seed=1)
    flat, places = freud.data.make_random_system(10, 200, is2D=True, seed=2)
    for system in ((box, points), (flat, places)):
        for exclude in (True, False):
            query = freud.locality.AABBQuery(*system).query(system[1], {"r_max": 1.5, "exclude_ii": exclude})
            theirs = query.toNeighborList(sort_by_distance=False)
            ours = freud_list(system, 1.5, exclude_ii=exclude)
            assert sorted(map(tuple, ours[:].tolist())) == sorted(map(tuple, theirs[:].tolist()))
            assert np.allclose(np.sort(ours.distances), np.sort(theirs.distances), atol=1e-6)
            rows = from_neighbor_list(theirs)
            assert np.array_equal(rows.counts, theirs.neighbor_counts)
            assert len(freud.locality.NeighborList.from_arrays(1, 1, [0], [0], [[0, 0, 0]])) == 1


def test_the_graphs_of_torch() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from vicinal.adapters.torch import knn_graph, radius_graph

    torch.manual_seed(0)
    x = torch.rand(240, 3, requires_grad=True)
    batch = torch.arange(12).repeat_interleave(20)
    distances = torch.cdist(x.detach().double(), x.detach().double())
    same = batch[:, None] == batch[None, :]
    for loop in (False, True):
        edges = radius_graph(x, 0.4, batch, loop=loop, max_num_neighbors=1000)
        assert edges.dtype == torch.int64
        wanted = (distances <= 0.4) & same
        if not loop:
            wanted &= ~torch.eye(len(x), dtype=torch.bool)
        expected = wanted.nonzero().T
        assert torch.equal(edges, expected.flip(0))
        assert torch.equal(radius_graph(x, 0.4, batch, loop, 1000, "target_to_source"), expected)
        near = knn_graph(x, 4, batch, loop=loop)
        away = distances.masked_fill(~same, np.inf)
        if not loop:
            away.fill_diagonal_(np.inf)
        nearest = away.topk(4, largest=False).indices.sort(dim=1).values
        assert torch.equal(near[1].view(-1, 4), torch.arange(240).repeat_interleave(4).view(-1, 4))
        assert torch.equal(near[0].view(-1, 4), nearest)
    many = torch.rand(1300, 3, dtype=torch.float64)
    parts = torch.cat([torch.zeros(1200, dtype=torch.int64), torch.ones(100, dtype=torch.int64)])
    away = torch.cdist(many, many).masked_fill(parts[:, None] != parts[None, :], np.inf).fill_diagonal_(np.inf)
    expected = away.topk(4, largest=False).indices.sort(dim=1).values
    assert torch.equal(knn_graph(many, 4, parts)[0].view(-1, 4), expected)
    few = radius_graph(x, 0.4, batch, max_num_neighbors=3)
    assert int(few[1].bincount().max()) == 3
    length = (x[few[0]] - x[few[1]]).norm(dim=1)
    length.sum().backward()
    assert x.grad is not None
    away = x.detach()[few[0]] - x.detach()[few[1]]
    unit = away / away.norm(dim=1, keepdim=True)
    expected = torch.zeros(240, 3).index_add_(0, few[0], unit).index_add_(0, few[1], -unit)
    assert torch.allclose(x.grad, expected, atol=1e-5)


def test_torch_cluster_finds_the_same_edges() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    cluster = pytest.importorskip("torch_cluster", reason="torch-cluster, which has no wheel for every torch")
    from vicinal.adapters.torch import knn_graph, radius_graph

    x = torch.tensor(RNG.random((240, 3)), dtype=torch.float32)
    batch = torch.arange(240) // 80
    pairs = [
        (radius_graph(x, 0.4, batch, False, 1000), cluster.radius_graph(x, 0.4, batch, False, 1000)),
        (knn_graph(x, 6, batch), cluster.knn_graph(x, 6, batch)),
        (knn_graph(x, 6, batch, loop=True), cluster.knn_graph(x, 6, batch, loop=True)),
    ]
    for ours, theirs in pairs:
        assert set(map(tuple, ours.T.tolist())) == set(map(tuple, theirs.T.tolist()))


def test_the_signatures_are_those_of_torch_cluster() -> None:
    from vicinal.adapters.torch import knn_graph, radius_graph

    shared = []
    for function in (radius_graph, knn_graph):
        parameters = [p for p in inspect.signature(function).parameters.values() if p.kind != p.KEYWORD_ONLY]
        shared.append(", ".join(p.name if p.default is p.empty else f"{p.name}={p.default}" for p in parameters))
    assert shared == [
        "x, r, batch=None, loop=False, max_num_neighbors=32, flow=source_to_target, num_workers=1, batch_size=None",
        "x, k, batch=None, loop=False, flow=source_to_target, cosine=False, num_workers=1, batch_size=None",
    ]


@pytest.mark.parametrize("n", [50, 1500])
def test_a_loop_is_kept_among_many_coincident_points(n: int) -> None:
    """torch-cluster counts a loop as a neighbour, and may drop it."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from vicinal.adapters.torch import knn_graph, radius_graph

    x = torch.zeros(n, 3)
    numbers = torch.arange(n)
    for most in (1, 4):
        edges = radius_graph(x, 0.1, loop=True, max_num_neighbors=most)
        assert torch.equal(edges[0][edges[0] == edges[1]], numbers)
        assert torch.equal(edges[1].bincount(), torch.full((n,), most + 1))
        without = edges[:, edges[0] != edges[1]]
        assert torch.equal(without, radius_graph(x, 0.1, max_num_neighbors=most))
        near = knn_graph(x, most, loop=True, flow="target_to_source")
        assert torch.equal(near[1][near[0] == near[1]], numbers)
        assert torch.equal(near[0], numbers.repeat_interleave(most))
        assert bool((near[1].view(n, most).diff(dim=1) > 0).all())


def test_angles_on_the_sky() -> None:
    rng = np.random.default_rng(8)
    ra, dec = rng.uniform(0, 360, 500), np.degrees(np.arcsin(rng.uniform(-1, 1, 500)))
    ra[:4], dec[:4] = [0.0, 359.99999999, 180.0, 10.0], [0.0, 0.0, 0.0, 90.0]
    a, d = np.radians(ra), np.radians(dec)
    # The haversine, in long double, is the definition of an angle on the sphere.
    wide = [np.asarray(x, np.longdouble) for x in (a, d)]
    lon, lat = (x[:, None] - x[None, :] for x in wide)
    hav = np.sin(lat / 2) ** 2 + np.cos(wide[1])[:, None] * np.cos(wide[1])[None, :] * np.sin(lon / 2) ** 2
    angles = np.degrees(2 * np.arcsin(np.sqrt(np.clip(hav, 0, 1)))).astype(float)
    for radius in (0.0, 1e-7, 0.5, 5.0, 91.0, 180.0):
        i, j, angle = vc.sky.match(ra, dec, radius, sort=True)
        expected = np.argwhere(np.triu(angles <= radius, 1))
        assert np.array_equal(np.stack([i, j], axis=1), expected)
        near = angles[i, j] < 179  # beyond, the arc sine of the haversine is the less accurate one
        assert np.allclose(angle[near], angles[i, j][near], rtol=1e-12, atol=1e-13)
        assert np.allclose(angle, angles[i, j], atol=1e-6)
        i, j, angle = vc.sky.match(ra, dec, radius, other=(ra[:50], dec[:50]), sort=True)
        assert np.array_equal(np.stack([i, j], axis=1), np.argwhere(angles[:, :50] <= radius))
    with pytest.raises(vc.InputError, match="radius must be an angle"):
        vc.sky.match(ra, dec, 200.0)
    with pytest.raises(vc.InputError, match=r"ra and dec must be .* from -90 to 90 degrees, got 1.0 and 95.0 in row 1"):
        vc.sky.match([0.0, 1.0], [0.0, 95.0], 1.0)
    with pytest.raises(vc.InputError, match=r"other\[0\] and other\[1\] must be lists of one length"):
        vc.sky.match(ra, dec, 1.0, other=([1.0], [1.0, 2.0]))
    with pytest.raises(vc.InputError, match=r"other must be a second catalogue \(ra, dec\), got float"):
        vc.sky.match(ra, dec, 1.0, other=1.0)  # type: ignore[arg-type]
    with pytest.raises(vc.InputError, match="ra must be real numbers, in degrees, got dtype <U1"):
        vc.sky.match(["a"], ["b"], 1.0)


def test_the_sky_of_astropy() -> None:
    coordinates = pytest.importorskip("astropy.coordinates", reason="astropy is not installed")
    units = pytest.importorskip("astropy.units")
    rng = np.random.default_rng(9)
    ra, dec = rng.uniform(0, 360, (2, 400)), np.degrees(np.arcsin(rng.uniform(-1, 1, (2, 400))))
    one, two = (coordinates.SkyCoord(ra[k] * units.deg, dec[k] * units.deg) for k in (0, 1))
    expected = coordinates.search_around_sky(one, two, 3 * units.deg)
    i, j, angle = vc.sky.match(ra[0], dec[0], 3.0, other=(ra[1], dec[1]), sort=True)
    order = np.lexsort((expected[1], expected[0]))
    assert np.array_equal(i, expected[0][order])
    assert np.array_equal(j, expected[1][order])
    assert np.allclose(angle, expected[2].deg[order], rtol=1e-9)


def test_parquet_files_in_and_out(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    pyarrow = pytest.importorskip("pyarrow")
    points = np.random.default_rng(10).random((50, 3))
    file = tmp_path / "points.parquet"
    names = ("name", "x", "y", "z")
    parquet.write_table(pyarrow.table(dict(zip(names, (["a"] * 50, *points.T), strict=True))), file)
    assert np.array_equal(read_points(file).points, points)
    parquet.write_table(
        pyarrow.table({"x": points[:, 0].astype(np.float32), "y": points[:, 1].astype(np.float32)}), file
    )
    assert np.array_equal(read_points(file).points, points[:, :2].astype(np.float32))
    arrays = vc.pairs(points, 0.4, box=(1.0, 1.0, 1.0), want="ijdDS")
    target = tmp_path / "pairs.parquet"
    write_pairs(target, arrays, want="ijdDS")
    table = parquet.read_table(target)
    assert table.column_names == ["i", "j", "d", "Dx", "Dy", "Dz", "Sx", "Sy", "Sz"]
    for name, column in zip(("i", "j", "d"), arrays, strict=False):
        assert table.column(name).to_numpy().dtype == column.dtype
        assert np.array_equal(table.column(name).to_numpy(), column)
    assert np.array_equal(table.column("Dz").to_numpy(), arrays[3][:, 2])
    for columns, message in (
        ({"a": [1.0]}, "no columns x and y"),
        ({"x": [1.0, None], "y": [1.0, 2.0]}, "no empty entries"),
        ({"x": ["a"], "y": ["b"]}, "must be numbers"),
    ):
        parquet.write_table(pyarrow.table(columns), file)
        with pytest.raises(vc.InputError, match=message):
            read_points(file)
    file.write_bytes(b"nothing")
    with pytest.raises(vc.InputError, match="not a readable Parquet file"):
        read_points(file)


def test_adapters_are_loaded_when_they_are_used() -> None:
    code = """
import sys, vicinal as vc
assert not [name for name in sys.modules if name.startswith("vicinal.adapters")]
vc.adapters
print([name for name in ("scipy", "ase", "torch", "freud", "MDAnalysis") if name in sys.modules])
print(vc.adapters.scipy.KDTree.__name__, "ase" in dir(vc.adapters))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\nKDTree True\n"
