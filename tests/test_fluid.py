"""The fluid: its law compared with plain NumPy, conservation, and trajectories that depend on the law alone."""

from __future__ import annotations

import copy
import pickle
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vicinal as vc
from vicinal import _core
from vicinal.fluid import Fluid

if TYPE_CHECKING:
    from collections.abc import Iterator

PLANE = [
    vc.Exhaustive,
    vc.LinkedCells,
    vc.CellSorting,
    vc.SpatialHash,
    vc.HashGrid,
    vc.Octree,
    vc.BVH,
    vc.SweepAndPrune,
    vc.Delaunay,
    partial(vc.Delaunay, slack=3.0),
]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Use one thread: steps of few particles do not benefit from more. Tests of threads set their own number."""
    with vc.threads(1):
        yield


def scattered(n: int = 300, dim: int = 2, dtype: Any = np.float64, size: float = 60.0, seed: int = 1) -> Any:
    return (np.random.default_rng(seed).random((n, dim)) * size).astype(dtype)


def plain_step(points: Any, moving: int, radius: float, *, reaction: bool) -> tuple[Any, Any, Any]:
    """Densities and displacements as figure 5.1 and listing A.2 of the paper define them, over all pairs."""
    towards = points[None, :, :] - points[:, None, :]
    distance = np.sqrt((towards**2).sum(axis=2))
    weight = np.maximum(1 - distance / radius, 0)
    np.fill_diagonal(weight, 0)
    density, near = (weight**2).sum(axis=1), (weight**3).sum(axis=1)
    pressure, near_pressure = 0.005 * (density - 6), 0.4 * near
    push = pressure[:, None] * weight + near_pressure[:, None] * weight**2
    if reaction:
        push = push + push.T
    direction = np.divide(towards, distance[..., None], out=np.zeros_like(towards), where=distance[..., None] > 0)
    return density[:moving], near[:moving], -(push[..., None] * direction / 2).sum(axis=1)[:moving]


@given(
    n=st.integers(0, 60),
    fixed=st.integers(0, 20),
    dim=st.sampled_from([2, 3]),
    dtype=st.sampled_from([np.float32, np.float64]),
    reaction=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_step_is_the_published_one(n: int, fixed: int, dim: int, dtype: Any, reaction: bool, seed: int) -> None:
    places = np.round(scattered(n + fixed, dim, dtype, 20.0, seed), 1)  # on a lattice some coincide
    fluid = Fluid(places[:n], radius=7.0, walls=places[n:], reaction=reaction, gravity=0.8)
    fluid.step()
    density, near, displacement = plain_step(places.astype(np.float64), n, 7.0, reaction=reaction)
    close = partial(np.testing.assert_allclose, rtol=1e-9 if dtype == np.float64 else 2e-4, atol=1e-3)
    close(fluid.density, density)
    close(fluid.near_density, near)
    close(fluid.points, places[:n] + displacement)
    velocity = 60 * displacement
    velocity[:, -1] -= 60 * 0.8
    np.testing.assert_allclose(fluid.velocities, velocity, rtol=1e-3, atol=1e-2)
    assert fluid.points.dtype == fluid.density.dtype == fluid.velocities.dtype == dtype


def test_two_particles_by_hand() -> None:
    fluid = Fluid([[0.0, 0.0], [1.0, 0.0]], radius=2.0, rest_density=0.0, stiffness=8.0, near_stiffness=16.0, dt=0.5)
    step = fluid.step()
    assert fluid.density.tolist() == [0.25, 0.25]
    assert fluid.near_density.tolist() == [0.125, 0.125]
    push = (8 * 0.25 * 0.5 + 16 * 0.125 * 0.25) / 2
    assert fluid.points.tolist() == [[-push, 0.0], [1 + push, 0.0]]
    assert fluid.velocities.tolist() == [[-2 * push, 0.0], [2 * push, 0.0]]
    assert step.neighbors == 1.0
    assert step.total_seconds >= step.query_seconds + step.update_seconds > 0


def test_below_the_rest_density_particles_draw_together() -> None:
    fluid = Fluid([[0.0, 0.0], [1.0, 0.0]], radius=2.0, near_stiffness=0.0)
    fluid.step()
    assert 0 < fluid.points[0, 0] < fluid.points[1, 0] < 1


def test_a_lone_particle_falls_as_in_the_paper_at_one_speed() -> None:
    fluid = Fluid([[5.0, 7.0]], radius=1.0, gravity=0.5, dt=0.25)
    heights = []
    for _ in range(4):
        fluid.step()
        heights.append(fluid.points[0, 1])
    assert heights == [7.0, 6.5, 6.0, 5.5]
    assert fluid.steps == 4


def test_with_inertia_it_falls_faster_and_faster() -> None:
    fluid = Fluid([[5.0, 7.0]], radius=1.0, gravity=0.5, dt=0.25, inertia=1.0)
    heights = []
    for _ in range(4):
        fluid.step()
        heights.append(fluid.points[0, 1])
    assert heights == [7.0, 6.5, 5.5, 4.0]


def momentum(fluid: Fluid) -> Any:
    return np.abs(fluid.velocities.sum(axis=0)).max()


@pytest.mark.parametrize("dim", [2, 3])
def test_momentum_is_conserved_where_particles_push_back(dim: int) -> None:
    velocities = np.random.default_rng(3).normal(size=(400, dim))
    fluid = Fluid(scattered(400, dim), radius=9.0, velocities=velocities, reaction=True, inertia=1.0)
    start = velocities.sum(axis=0)
    speeds = 0.0
    for _ in range(50):
        fluid.step()
        speeds = max(speeds, float(np.abs(fluid.velocities).sum()))
        # Each of 400 particles sums some ten neighbours, each sum is accurate to a few units in the last place.
        np.testing.assert_allclose(fluid.velocities.sum(axis=0), start, rtol=0, atol=1e-12 * speeds)
    assert speeds > 5 * np.abs(velocities).sum(), "the particles interact"


def test_without_reaction_momentum_is_not_conserved() -> None:
    listing, conserving = (Fluid(scattered(), radius=9.0, reaction=reaction) for reaction in (False, True))
    listing.step()
    conserving.step()
    assert momentum(conserving) < 1e-10 * np.abs(conserving.velocities).sum() < momentum(listing)


def test_walls_stay_and_push() -> None:
    walls = np.array([[0.0, -1.0], [1.0, -1.0]])
    fluid = Fluid([[0.5, 0.0]], radius=3.0, walls=walls, rest_density=0.0)
    fluid.step()
    assert fluid.points[0, 1] > 0
    assert fluid.walls.tolist() == walls.tolist()
    assert repr(fluid).startswith("Fluid(1 particles, 2 in walls")


def test_densities_of_scattered_particles_are_those_of_the_integral() -> None:
    # Over a disc the mean of (1 - q)² is 1/6 and of (1 - q)³ 1/10; over a ball 1/10 and 1/20.
    for dim, n, radius, shares in ((2, 20_000, 4.0, (1 / 6, 1 / 10)), (3, 20_000, 9.0, (1 / 10, 1 / 20))):
        points = scattered(n, dim, size=100.0)
        fluid = Fluid(points, radius=radius)
        inside = ((points > radius) & (points < 100 - radius)).all(axis=1)
        neighbors = vc.count(points, cutoff=radius)[inside].mean()
        for density, share in zip((fluid.density, fluid.near_density), shares, strict=True):
            assert density[inside].mean() == pytest.approx(share * neighbors, rel=0.03)
        assert (fluid.density >= fluid.near_density).all()
        assert (fluid.near_density >= 0).all()


def test_a_dense_fluid_spreads_evenly() -> None:
    fluid = Fluid(scattered(400, size=40.0), radius=8.0)
    before = fluid.density.copy()
    for _ in range(200):
        last = fluid.step()
    assert fluid.density.std() < 0.5 * before.std()
    assert last.neighbors < vc.count(scattered(400, size=40.0), cutoff=8.0).mean()


def trajectory(structure: Any, points: Any, *, threads: int = 1, steps: int = 5, **options: Any) -> bytes:
    with vc.threads(threads):
        fluid = Fluid(points, radius=6.0, gravity=0.1, structure=structure, **options)
        for _ in range(steps):
            fluid.step()
    return b"".join(part.tobytes() for part in (fluid.points, fluid.velocities, fluid.density, fluid.near_density))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("options", [{}, {"reaction": True, "inertia": 0.9}], ids=["listing", "conserving"])
def test_the_structure_and_the_threads_do_not_change_a_bit(dtype: Any, options: dict[str, Any]) -> None:
    for dim in (2, 3):
        points = scattered(800, dim, dtype, 50.0 if dim == 2 else 25.0)
        walls = scattered(50, dim, dtype, seed=2)
        structures = PLANE if dim == 2 else PLANE[:-2]
        want = trajectory(None, points, walls=walls, **options)
        for structure in structures:
            for threads in (1, 3):
                assert trajectory(structure, points, walls=walls, threads=threads, **options) == want


@pytest.mark.parametrize("skin", [0.0, 2.0, "auto"])
def test_a_neighbour_list_gives_the_same_trajectory(skin: Any) -> None:
    points, walls = scattered(800, dtype=np.float32), scattered(50, seed=2)
    want = trajectory(None, points, walls=walls, steps=12)
    for structure in (None, vc.Delaunay):
        assert trajectory(structure, points, walls=walls, steps=12, skin=skin) == want


def test_a_list_with_a_skin_is_not_built_in_every_step() -> None:
    fluid, searched = (Fluid(scattered(1500), radius=6.0, near_stiffness=0.01, skin=skin) for skin in (3.0, None))
    steps = [(fluid.step(), searched.step()) for _ in range(10)]
    assert isinstance(fluid.index, vc.NeighborList)
    assert 1 <= fluid.index.stats.builds < 5
    assert all(with_list.neighbors == without.neighbors for with_list, without in steps), "the skin is not counted"


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_rows_are_put_into_ascending_order(threads: int) -> None:
    for n in (0, 1, 7, 2000):
        points = scattered(n)
        points[: n // 4] *= 0.1  # rows of very different lengths
        with vc.threads(threads):
            # Rows that are short on average are sorted, long ones are filled in order.
            for kind, cutoff in product((vc.LinkedCells, vc.Delaunay), (1.0, 12.0)):
                want = vc.neighbors(points, cutoff=cutoff, sort=True)
                rows = kind(points, cutoff=cutoff).neighbors()
                ordered = np.full(len(rows.indices) + 3, -7, np.int32)
                _core.fluid_order(rows.offsets, rows.indices, ordered)
                assert ordered[: len(rows.indices)].tolist() == want.indices.tolist()
                assert ordered[len(rows.indices) :].tolist() == [-7] * 3


def test_an_empty_fluid_steps() -> None:
    fluid = Fluid(np.empty((0, 2)), radius=1.0)
    assert fluid.step().neighbors == 0.0
    assert fluid.points.shape == (0, 2)


def test_the_arrays_of_a_fluid_are_its_own() -> None:
    points = scattered(10)
    given_points = points.copy()
    fluid = Fluid(points, radius=9.0)
    before = fluid.points
    fluid.step()
    assert (points == given_points).all()
    assert (before == given_points).all(), "arrays that were returned do not change"
    for array in (fluid.points, fluid.walls, fluid.velocities, fluid.density, fluid.near_density):
        with pytest.raises(ValueError, match="read-only"):
            array[:1] = 0


TWO = [[0.0, 0.0], [1.0, 0.0]]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"points": [[0.0, np.nan]]}, "points must be finite .* in row 0"),
        ({"radius": 0.0}, "radius must be a positive, finite number, got 0.0"),
        ({"radius": "wide"}, "radius must be a number, got 'wide'"),
        ({"walls": [[0.0, 0.0, 0.0]]}, "walls must have 2 columns, .* got 3"),
        ({"walls": [[np.inf, 0.0]]}, "walls must be finite .* in row 0"),
        ({"points": np.float32(TWO), "walls": [[1e300, 0.0]]}, "walls must be finite in float32"),
        ({"velocities": [[0.0, 0.0]]}, r"velocities must have shape \(2, 2\), got \(1, 2\)"),
        ({"gravity": np.nan}, "gravity must be finite .* got nan"),
        ({"rest_density": np.inf}, "rest_density must be finite .* got inf"),
        ({"stiffness": None}, "stiffness must be a number, got None"),
        ({"near_stiffness": np.nan}, "near_stiffness must be finite .* got nan"),
        ({"points": np.float32(TWO), "stiffness": 1e40}, "stiffness must be finite in float32, got 1e.40"),
        ({"dt": 0.0}, "dt must be a positive number, got 0.0"),
        ({"inertia": 1.5}, "inertia must lie from 0 to 1, got 1.5"),
        ({"reaction": 2}, "reaction must be True or False, got 2"),
        ({"skin": -1.0}, "skin must be a finite length of at least 0, got -1.0"),
        (
            {"skin": 1.0, "structure": partial(vc.Delaunay, slack=1.0)},
            "structure must be a structure or its name.* got functools",
        ),
        ({"structure": "Grid"}, "structure must be a structure or its name.* got 'Grid'"),
        ({"structure": lambda points, cutoff: None}, "structure must be .* returns an index.* got <function"),
        ({"structure": partial(vc.LinkedCells, box=5.0)}, "structure must be .* in open space"),
        ({"structure": lambda points, cutoff: vc.LinkedCells(points, cutoff=2 * cutoff)}, "with that cutoff"),
        ({"structure": lambda points, cutoff: vc.LinkedCells(points[:1], cutoff=cutoff)}, "of those points"),
        ({"structure": lambda points, cutoff: vc.LinkedCells(points, radii=cutoff)}, "with that cutoff"),
        (
            {"structure": partial(vc.LinkedCells, planes=([[0.0, 0.0]], [[0.0, 1.0]]))},
            "structure must be .* in open space",
        ),
    ],
)
def test_bad_input_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(vc.InputError, match=message):
        Fluid(**({"points": TWO, "radius": 1.0} | arguments))


def test_a_fluid_that_diverges_raises_an_error_and_keeps_its_state() -> None:
    fluid = Fluid(np.float32(TWO), radius=2.0, gravity=1e38)
    fluid.step()
    before = fluid.points.copy()
    with pytest.raises(vc.InputError, match=r"points must be finite .* in row 0"):
        fluid.step()
    assert (fluid.points == before).all()
    assert fluid.steps == 1


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps], ids=["copy", "deepcopy", "pickle"])
def test_copying_a_fluid_raises_a_clear_error(copied: Any) -> None:
    with pytest.raises(TypeError, match="a Fluid can be neither copied nor pickled"):
        copied(Fluid(TWO, radius=2.0))


def test_a_structure_may_be_named() -> None:
    assert repr(Fluid(TWO, radius=2.0, structure="Octree").index) == repr(vc.Octree(TWO, 2.0))
