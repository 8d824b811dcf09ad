"""Tilted periodic cells: every way to describe them, the images in them, lists while they deform."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vicinal as vc
from cases import BOTH
from compare import ALL, assert_same_half, assert_same_pairs
from named_cells import CELLS, NamedCell
from oracle import Pairs, exact_pairs
from structures import STRUCTURES, Structure
from vicinal import dem
from vicinal.cell import read_cell

every_cell = pytest.mark.parametrize("cell", CELLS, ids=str)
every_closed_cell = pytest.mark.parametrize("cell", [cell for cell in CELLS if all(cell.periodic)], ids=str)
FCC = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]], float)
HEXAGONAL = np.array([[1, 0, 0], [0.5, 3**0.5 / 2, 0], [0, 0, 1.6]])


def full(points: Any, **space: Any) -> Pairs:
    return Pairs(*vc.pairs(points, **space, want=ALL, half=False, sort=True))


@every_cell
def test_ase_finds_the_same_images(cell: NamedCell) -> None:
    ase = pytest.importorskip("ase")
    neighborlist = pytest.importorskip("ase.neighborlist")
    rows = cell.vectors
    for n, cutoff in ((1, 1.31), (2, 1.87), (17, 0.71))[: 1 if cell.name == "very tilted" else 3]:  # ASE takes minutes
        points = cell.points(n, seed=n, spread=2)
        atoms = ase.Atoms(f"H{n}", positions=points, cell=rows, pbc=cell.periodic)
        i, j, S, D = neighborlist.neighbor_list("ijSD", atoms, cutoff)
        order = np.lexsort((*S.T[::-1], j, i))
        ours = vc.pairs(points, cutoff=cutoff, box=rows, periodic=cell.periodic, want="ijSD", half=False, sort=True)
        for mine, theirs in zip(ours[:3], (i[order], j[order], S[order]), strict=True):
            assert np.array_equal(mine, theirs)
        assert np.allclose(ours[3], D[order], atol=1e-9)
        assert np.allclose(ours[3], points[ours[1]] - points[ours[0]] + ours[2] @ rows, atol=1e-9)


def found_by_matscipy(points: Any, cutoff: float, cell: NamedCell) -> Any:
    neighbours = pytest.importorskip("matscipy.neighbours")
    pbc = np.array(cell.periodic)
    return neighbours.neighbour_list("ijSD", positions=points, cell=cell.closed, pbc=pbc, cutoff=cutoff)


def found_by_vesin(points: Any, cutoff: float, cell: NamedCell) -> Any:
    vesin = pytest.importorskip("vesin")
    made = vesin.NeighborList(cutoff=cutoff, full_list=True)
    return made.compute(points=points, box=cell.closed, periodic=list(cell.periodic), quantities="ijSD")


@every_cell
@pytest.mark.parametrize("peer", [found_by_matscipy, found_by_vesin], ids=["matscipy", "vesin"])
def test_peers_find_the_same_images(cell: NamedCell, peer: Callable[..., Any]) -> None:
    for n, cutoff in ((1, 1.31), (2, 1.87), (17, 0.71), (60, 0.4)):
        points = cell.points(n, seed=n, spread=2)
        i, j, S, D = peer(points, cutoff, cell)
        order = np.lexsort((*np.asarray(S).T[::-1], j, i))
        ours = vc.pairs(points, cutoff, box=cell.rows, periodic=cell.periodic, want="ijSD", half=False, sort=True)
        for mine, theirs in zip(ours[:3], (i, j, S), strict=True):
            assert np.array_equal(mine, np.asarray(theirs)[order])
        assert np.allclose(ours[3], np.asarray(D)[order], atol=1e-9)


def in_standard_form(cell: NamedCell) -> Any:
    """The cell turned in space, and mirrored if it is left-handed, so that its vectors form a lower triangle.

    freud and MDAnalysis describe all cells in this way.
    """
    triangle = np.linalg.qr(cell.closed.T)[1]
    return (triangle * np.sign(np.diag(triangle))[:, None]).T


@every_closed_cell
def test_freud_finds_the_same_bonds(cell: NamedCell) -> None:
    """freud works in float32, and with cutoffs below half the distance of the faces."""
    freud = pytest.importorskip("freud")
    rows = in_standard_form(cell)
    box = freud.box.Box(*np.diag(rows), rows[1, 0] / rows[1, 1], rows[2, 0] / rows[2, 2], rows[2, 1] / rows[2, 2])
    box.periodic = cell.periodic
    cutoff = 0.45 * min(1 / np.linalg.norm(np.linalg.inv(rows), axis=0))
    places = np.random.default_rng(9).random((200, 3))
    points = places @ rows
    bonds = freud.locality.AABBQuery(box, points - rows.sum(axis=0) / 2).query(
        points - rows.sum(axis=0) / 2, {"r_max": cutoff, "exclude_ii": True}
    )
    theirs = bonds.toNeighborList()
    i, j, d = vc.pairs(places @ cell.closed, cutoff, box=cell.rows, periodic=cell.periodic, want="ijd", half=False)
    sure = np.abs(d / cutoff - 1) > 1e-5
    certain = np.abs(theirs.distances / cutoff - 1) > 1e-5
    assert set(zip(i[sure].tolist(), j[sure].tolist(), strict=True)) == set(
        map(tuple, np.asarray(theirs[:])[certain].tolist())
    )


@every_closed_cell
def test_mdanalysis_finds_the_same_distances(cell: NamedCell) -> None:
    distances = pytest.importorskip("MDAnalysis.lib.distances")
    mdamath = pytest.importorskip("MDAnalysis.lib.mdamath")
    dimensions = mdamath.triclinic_box(*cell.closed)
    rows = mdamath.triclinic_vectors(dimensions).astype(float)
    cutoff = 0.45 * min(1 / np.linalg.norm(np.linalg.inv(rows), axis=0))
    points = (np.random.default_rng(10).random((150, 3)) @ rows).astype(np.float32)
    near, apart = distances.self_capped_distance(points, cutoff, box=dimensions, method="bruteforce")
    i, j, d = vc.pairs(points, cutoff, box=dimensions.tolist(), want="ijd")
    sure, certain = np.abs(d / cutoff - 1) > 1e-5, np.abs(apart / cutoff - 1) > 1e-5
    numbered = {tuple(sorted(pair)) for pair in near[certain].tolist()}
    assert {tuple(sorted(pair)) for pair in zip(i[sure].tolist(), j[sure].tolist(), strict=True)} == numbered
    assert np.allclose(np.sort(d[sure]), np.sort(apart[certain]), rtol=1e-4, atol=1e-6)


@every_cell
def test_every_structure_answers_as_the_oracle_does(cell: NamedCell) -> None:
    """With several blocks of bodies, in one and in both precisions."""
    for dtype in BOTH:
        points = cell.points(150, seed=3).astype(dtype)
        space = {"cutoff": 0.4, "box": cell.rows, "periodic": cell.periodic}
        expected = exact_pairs(points, **space)
        for structure in STRUCTURES:
            if structure.periodic and not structure.label:
                index = structure.build(points, **space)
                assert_same_pairs(Pairs(*index.pairs(want=ALL, half=False, sort=True)), expected)
                assert_same_half(Pairs(*index.pairs(want=ALL)), expected)


def test_a_diagonal_matrix_is_a_box_of_lengths() -> None:
    points = np.random.default_rng(5).uniform(-1, 3, (300, 3))
    lengths = (1.1, 0.9, 1.3)
    expected = full(points, cutoff=0.3, box=lengths)
    assert_same_pairs(full(points, cutoff=0.3, box=np.diag(lengths)), expected)
    assert_same_pairs(full(points, cutoff=0.3, box=(*lengths, 90, 90, 90)), expected)
    slab = full(points, cutoff=0.3, box=(1.1, None, 1.3))
    for box in (lengths, np.diag(lengths), np.diag([1.1, 0, 1.3]), [[1.1, 0, 0], [5, 6, 7], [0, 0, 1.3]]):
        assert_same_pairs(full(points, cutoff=0.3, box=box, periodic=(True, False, True)), slab)
    assert_same_pairs(full(points, cutoff=0.3, box=lengths, periodic=False), full(points, cutoff=0.3))


@pytest.mark.parametrize(
    ("numbers", "box", "periodic"),
    [
        ((0, 0, 0, 0, 0, 0), None, None),
        ((0, 0, 0, 90, 90, 90), None, None),
        ((1.1, 0.9, 0, 90, 90, 90), (1.1, 0.9, None), None),
        ((0, 0.9, 1.3, 80, 90, 90), (1.0, 0.9, 1.3, 80, 90, 90), (False, True, True)),
        ((1.1, 0.9, 0, 75, 82, 66), (1.1, 0.9, 7.0, 75, 82, 66), (True, True, False)),
    ],
)
def test_lengths_of_0_are_open_edges(numbers: Any, box: Any, periodic: Any) -> None:
    points = np.random.default_rng(3).random((200, 3))
    found = vc.pairs(points, 0.3, box=numbers, want="ijdS", sort=True)
    for column, expected in zip(
        found, vc.pairs(points, 0.3, box=box, periodic=periodic, want="ijdS", sort=True), strict=True
    ):
        assert np.array_equal(column, expected)


@pytest.mark.parametrize("angles", [(60, 60, 60), (90, 90, 120), (90, 107.5, 90), (75, 82, 66), (100, 95, 110)])
def test_lengths_and_angles_describe_the_same_cell_as_vectors(angles: tuple[float, float, float]) -> None:
    geometry = pytest.importorskip("ase.geometry")
    numbers = (1.1, 0.9, 1.3, *angles)
    points = np.random.default_rng(6).uniform(-1, 2, (100, 3))
    expected = full(points, cutoff=0.5, box=geometry.cellpar_to_cell(numbers))
    actual = full(points, cutoff=0.5, box=numbers)
    for name in "ijS":
        assert np.array_equal(getattr(actual, name), getattr(expected, name))
    assert np.allclose(actual.d, expected.d)


def test_the_vectors_of_a_lattice_do_not_matter() -> None:
    """Vectors of the same lattice give the same distances, however tilted they are, and shifts in their own units."""
    points = np.random.default_rng(7).uniform(-1, 2, (120, 3))
    plain = full(points, cutoff=0.6, box=HEXAGONAL)
    for turn in (
        [[1, 0, 0], [7, 1, 0], [0, 0, 1]],
        [[1, 0, 0], [-3, -1, 0], [40, 9, 1]],
        [[0, 1, 0], [0, 0, 1], [1, 5, 2]],
    ):
        rows = np.array(turn) @ HEXAGONAL
        tilted = full(points, cutoff=0.6, box=rows)
        assert len(tilted) == len(plain) > 500
        assert np.allclose(np.sort(tilted.d), np.sort(plain.d))
        assert np.allclose(tilted.D, points[tilted.j] - points[tilted.i] + tilted.S @ rows)


def test_cells_are_reduced() -> None:
    """The vectors that the core sees are nearly perpendicular, and made of the given ones."""
    rng = np.random.default_rng(8)
    for _ in range(200):
        rows = rng.normal(size=(3, 3)) * rng.choice([0.1, 1.0, 10.0], 3)[:, None]
        rows[2] += rng.integers(-300, 300) * rows[0] + rng.integers(-300, 300) * rows[1]
        cell = read_cell(rows, None, 3, np.dtype(np.float64))
        short = np.array(cell.vectors)
        assert np.allclose(np.array(cell.basis) @ rows, short, atol=1e-9 * np.abs(rows).max())
        assert round(abs(np.linalg.det(np.array(cell.basis)))) == 1
        assert np.all(np.array(cell.edges) > 0.7 * np.linalg.norm(short, axis=1))
        assert np.allclose(np.array(cell.inverse) @ short.T, np.eye(3), atol=1e-9)


@pytest.mark.parametrize("count", [1, 2, 12])
def test_a_primitive_cell_smaller_than_the_cutoff_holds_every_image(count: int) -> None:
    """12 nearest neighbours in fcc, then 6, 24, 12: the shells of the crystal."""
    shells = {1: 12, 2: 18, 12: 54}
    distance = {1: 1.42, 2: 2.01, 12: 2.83}[count]
    assert vc.count(np.array([[0.3, 0.4, 0.5]]), cutoff=distance, box=FCC).tolist() == [shells[count]]


@pytest.mark.parametrize("kind", ["points", "spheres", "boxes"])
def test_indexes_follow_bodies_in_a_cell(kind: str) -> None:
    """Update, insert and remove, for every structure, in a cell and in a slab."""
    rng = np.random.default_rng(9)
    for cell in (CELLS[6], CELLS[11], CELLS[13]):
        space: dict[str, Any] = {"box": cell.rows, "periodic": cell.periodic}
        first, second = cell.points(40, seed=10), cell.points(40, seed=11)
        sizes = rng.uniform(0.02, 0.2, 100)
        steps = [first, first + rng.normal(size=first.shape) * 0.02, second, second[:30]]

        def bodies(points: Any, sizes: Any = sizes, kind: str = kind) -> dict[str, Any]:
            if kind == "boxes":
                return {"boxes": (points, points + sizes[: len(points), None])}
            radii = {"radii": sizes[: len(points)]} if kind == "spheres" else {}
            return {"points": points, **radii}

        cutoff = {"cutoff": 0.35} if kind == "points" else {}
        for structure in STRUCTURES:
            if not structure.periodic or structure.label or kind not in structure.kinds:
                continue
            index = structure.build(**bodies(steps[0]), **cutoff, **space, size=0.4)
            for points in steps[1:]:
                index.update(**bodies(points))
                check(index, exact_pairs(**bodies(points), **cutoff, **space), kind)
            grown = np.concatenate([steps[-1], first[:3]])
            index.insert(**{k: v[30:] if k != "boxes" else (v[0][30:], v[1][30:]) for k, v in bodies(grown).items()})
            check(index, exact_pairs(**bodies(grown), **cutoff, **space), kind)
            index.remove([0, 7, 31])
            rest = np.delete(np.arange(33), [0, 7, 31])
            kept = {k: v[rest] if k != "boxes" else (v[0][rest], v[1][rest]) for k, v in bodies(grown).items()}
            check(index, exact_pairs(**kept, **cutoff, **space), kind)
            check(copy.copy(index), exact_pairs(**kept, **cutoff, **space), kind)


def check(index: Any, expected: Pairs, kind: str) -> None:
    want = "ijS" if kind == "boxes" else ALL
    columns = index.pairs(want=want, half=False, sort=True)
    for name, column in zip(want, columns, strict=True):
        assert np.array_equal(column, getattr(expected, name)), (index, name)


@pytest.mark.parametrize("structure", [s for s in STRUCTURES if s.periodic and not s.label], ids=str)
def test_cells_do_not_depend_on_threads_or_instruction_sets(structure: Structure) -> None:
    points = CELLS[6].points(3000, seed=12, spread=1)
    space = {"cutoff": 0.2, "box": CELLS[6].rows}
    with vc.threads(1):
        expected = Pairs(*structure.build(points, **space).pairs(want=ALL, half=False, sort=True))
    for isa in vc._core.available_isas():
        before = vc._core.get_isa()
        vc._core.set_isa(isa)
        try:
            assert_same_pairs(Pairs(*structure.build(points, **space).pairs(want=ALL, half=False, sort=True)), expected)
        finally:
            vc._core.set_isa(before)


@every_cell
def test_lists_follow_a_cell_that_deforms(cell: NamedCell) -> None:
    """Bodies that move, and a cell that is sheared step by step."""
    rng = np.random.default_rng(14)
    places = rng.random((60, 3))
    rows = cell.vectors
    made = vc.NeighborList(cutoff=0.4, skin=0.1, box=rows, periodic=cell.periodic, half=False, layout="pairs")
    for step in range(6):
        if step % 2:
            rows = rows + 0.01 * rows[[1, 2, 0]] * np.array(cell.periodic)[:, None]
        places = places + rng.normal(size=places.shape) * 0.002 + rng.integers(-1, 2, places.shape) * cell.periodic
        points = places @ rows
        built = made.update(points, box=rows) if step % 2 else made.update(points)
        assert built or step % 2 == 0
        expected = exact_pairs(points, 0.4, rows, periodic=cell.periodic)
        assert_same_pairs(Pairs(*made.exact(want=ALL)), expected)
        near = made.distances <= 0.4
        kept = Pairs(made.i, made.j, made.shifts, made.distances, made.vectors)[near]
        assert_same_pairs(kept.sorted(), expected)


def test_a_plane_must_be_parallel_to_a_tilted_cell() -> None:
    slab = CELLS[11]
    points = slab.points(30, seed=15)
    floor = ([[0, 0, -1.0]], [[0, 0, 2.0]])
    space: dict[str, Any] = {"cutoff": 0.5, "box": slab.rows, "periodic": slab.periodic}
    actual = full(points, planes=floor, **space)
    assert_same_pairs(actual, exact_pairs(points, planes=floor, **space))
    with pytest.raises(vc.InputError, match="planes must run along every periodic axis"):
        vc.pairs(points, planes=([[0, 0, 0]], [[1, 0, 1]]), **space)


def test_a_spatial_order_of_a_cell_is_a_permutation() -> None:
    points = CELLS[6].points(500, seed=16)
    order = vc.spatial_order(points, box=CELLS[6].rows)
    assert sorted(order.tolist()) == list(range(500))


def test_grains_refuse_a_tilted_box() -> None:
    with pytest.raises(vc.InputError, match="orthogonal box"):
        dem.Simulation(materials={"m": dem.Material(density=1.0, kn=1.0, restitution=0.9)}, law="linear", box=FCC)
