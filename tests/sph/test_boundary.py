"""Dummy particles continue the fluid behind its walls."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import meshes
import vicinal as vc
from refusals import Refusal, check_refusal
from sph.solids import box_mesh
from vicinal.sim.regions import CylinderRegion, SphereRegion
from vicinal.sim.wall_sections import Oscillating, Rotating, Translating
from vicinal.sim.walls import Cylinder, MeshWall, Plane, box_walls
from vicinal.sph.boundary import wall_particles
from vicinal.sph.fill import fill
from vicinal.sph.wall_motion import WallMotion

SPACING = 0.05
LAYERS = 3


def wendland_sums(fluid: np.ndarray, dummies: np.ndarray) -> np.ndarray:
    """The sum of a kernel of three spacings over all neighbours, one for an even lattice."""
    dim, reach = fluid.shape[1], 3 * SPACING
    factor = {2: 7 / np.pi, 3: 21 / (2 * np.pi)}[dim] / reach**dim * SPACING**dim
    i, d = vc.pairs(np.concatenate([fluid, dummies]), queries=fluid, cutoff=reach, want="id")
    q = d / reach
    return factor * np.bincount(i, (1 - q) ** 4 * (1 + 4 * q), len(fluid))


@pytest.mark.parametrize("dim", [2, 3])
def test_a_box_of_planes_has_no_gap_and_no_double_particle(dim: int) -> None:
    low, high = np.zeros(dim), np.array([0.5, 0.4, 0.3])[:dim]
    walls = box_walls("box", (0, 0, 0), (0.5, 0.4, 0.3), "")
    dummies = wall_particles(walls, SPACING, LAYERS, dim=dim, bounds=(low, high))
    fluid = fill((low, high), SPACING)
    both = np.concatenate([fluid, dummies.positions])
    sides = np.round((high - low) / SPACING).astype(int)
    assert len(both) == np.prod(sides + 2 * LAYERS)
    assert len(np.unique(np.floor(both / SPACING + 1e-6), axis=0)) == len(both)
    sums = wendland_sums(fluid, dummies.positions)
    assert np.ptp(sums) < 1e-12
    # A dummy particle belongs to the wall that it is deepest behind.
    first = dummies.positions[dummies.wall == 0]
    assert (first[:, 0] < 0).all()
    assert np.allclose(np.linalg.norm(dummies.normals, axis=1), 1)


def test_planes_at_any_distance_are_half_a_spacing_from_the_lattice() -> None:
    walls = box_walls("box", (0, 0, 0), (0.513, 0.4, 1), "", sides=["-x", "+x", "-y"])
    dummies = wall_particles(walls, SPACING, LAYERS, dim=2, bounds=((0, 0), (0.513, 0.4)))
    for wall, axis, place in ((0, 0, 0.0), (1, 0, 0.513), (2, 1, 0.0)):
        depth = np.abs(dummies.positions[dummies.wall == wall][:, axis] - place) / SPACING
        assert np.abs(depth % 1 - 0.5).max() < 1e-9
        assert set(np.floor(depth)) == {0.0, 1.0, 2.0}


def test_particles_follow_cylinders_balls_and_tilted_planes() -> None:
    cases = [
        ([Cylinder(name="c", material="", start=(0, 0, -1), end=(0, 0, 1), radius=0.5)],
         fill(CylinderRegion(start=(0, 0, -1), end=(0, 0, 1), radius=0.5), SPACING, dim=2),
         lambda p: np.linalg.norm(p, axis=1) - 0.5, 0.03),
        ([Plane(name="t", material="", point=(0, 0, 0), normal=(-0.3, 1, 0))], np.zeros((0, 2)),
         lambda p: p @ np.array([0.3, -1.0]) / np.hypot(0.3, 1), 0.0),
        ([MeshWall(name="b", material="", vertices=0.3 * meshes.ball(3).reshape(-1, 3),
                   faces=np.arange(1536).reshape(-1, 3))],
         fill(SphereRegion(centre=(0, 0, 0), radius=0.3), SPACING),
         lambda p: np.linalg.norm(p, axis=1) - 0.3, 0.09),
    ]  # fmt: skip
    for walls, fluid, depth_of, tolerance in cases:
        dim = fluid.shape[1]
        bounds = ((-0.6,) * dim, (0.6,) * dim)
        dummies = wall_particles(walls, SPACING, LAYERS, dim=dim, fluid=fluid, bounds=bounds)
        depth = depth_of(dummies.positions) / SPACING
        assert np.abs(depth % 1 - 0.5).max() < 0.1, walls
        assert vc.count(dummies.positions, cutoff=0.5 * SPACING).max() == 0, walls
        if len(fluid):
            sums = wendland_sums(fluid, dummies.positions)
            assert abs(sums.mean() - 1) < 0.03, walls
            assert np.abs(sums - 1).mean() < tolerance, walls


def test_a_block_on_the_floor_shares_no_particle_with_it() -> None:
    tank = box_walls("tank", (0, 0, 0), (1, 0.6, 1), "", sides=["-x", "+x", "-y"])
    block = box_mesh((0.5, -0.2, -1), (0.7, 0.2, 1))
    bounds = ((0, 0), (1, 0.6))
    dummies = wall_particles([*tank, block], SPACING, LAYERS, dim=2, bounds=bounds)
    fluid = fill(((0, 0), (1, 0.4)), SPACING, walls=[*tank, block])
    assert len(fluid) == 20 * 8 - 4 * 4
    assert vc.count(dummies.positions, cutoff=0.9 * SPACING).max() == 0
    low = fluid[fluid[:, 1] < 0.25]
    assert np.ptp(wendland_sums(fluid, dummies.positions)[fluid[:, 1] < 0.25]) < 1e-9, low


def test_a_moving_wall_has_no_particles_inside_fixed_ones() -> None:
    tank = box_walls("tank", (0, 0, 0), (1, 0.6, 1), "", sides=["-x", "+x", "-y"])
    paddle = Plane(name="paddle", material="", point=(0.2, 0, 0), normal=(1, 0, 0), velocity=(1, 0, 0))
    dummies = wall_particles([*tank, paddle], SPACING, LAYERS, dim=2, bounds=((0, 0), (1, 0.6)), slip=["paddle"])
    own = dummies.positions[dummies.wall == 3]
    assert len(own) == 3 * 12
    assert own[:, 0].max() == pytest.approx(0.2 - SPACING / 2)
    assert own.min() > 0
    assert dummies.slip.tolist() == [False, False, False, True]


@pytest.mark.parametrize(
    "motion",
    [
        Translating(velocity=(1.0, -2.0, 0.0), start=0.1, stop=0.4),
        Rotating(axis=(0, 0, 1), point=(0.3, 0.2, 0), speed=3.0),
        Oscillating(frequency=0.7, stroke=(0.1, 0.2, 0), angle=0.4, phase=0.3, point=(0.3, 0.2, 0), ramp=0.4),
    ],
)
def test_velocities_and_accelerations_are_the_derivatives_of_positions(motion: Oscillating) -> None:
    wall = Cylinder(name="c", material="", start=(0, 0, 0), end=(0, 0, 1), radius=0.4, centre=(0.3, 0.2, 0))
    dummies = wall_particles([wall], SPACING, 1, dim=2)
    moving = WallMotion(dummies, [wall], [motion])
    for time, h in itertools.product((0.05, 0.25, 0.6), (1e-5,)):
        before, now, after = (moving.at(time + k * h) for k in (-1, 0, 1))
        assert np.allclose((after.positions - before.positions) / (2 * h), now.velocities, atol=1e-7)
        assert np.allclose((after.velocities - before.velocities) / (2 * h), now.accelerations, atol=1e-6)
        moving.place(time)
        assert np.allclose(np.linalg.norm(now.positions - (wall.triangles()[:, 0].mean(axis=0))[:2], axis=1).min(),
                           0.4 + SPACING / 2, atol=0.02)  # fmt: skip


def test_wrong_input_is_refused() -> None:
    sheet = MeshWall(name="sheet", material="", vertices=np.eye(3), faces=np.array([[0, 1, 2]]))
    floor = Plane(name="floor", material="", point=(0, 0, 0), normal=(0, 1, 0))
    tilted = Plane(name="tilted", material="", point=(0, 0, 0), normal=(0, 1, 1))
    lying = Cylinder(name="lying", material="", start=(0, 0, 0), end=(1, 0, 0), radius=1)
    rising = Plane(name="rising", material="", point=(0, 0, 0), normal=(0, 1, 0), velocity=(0, 0, 1))
    for refusal in (
        Refusal("open", lambda: wall_particles([sheet], 0.1, 3), "mesh", "3 open edges"),
        Refusal("tilted", lambda: wall_particles([tilted], 0.1, 3, dim=2), "normal", "0.7"),
        Refusal("lying", lambda: wall_particles([lying], 0.1, 3, dim=2), "end", "1.0"),
        Refusal("rising", lambda: wall_particles([rising], 0.1, 3, dim=2), "rising", "1.0"),
        Refusal("slip", lambda: wall_particles([floor], 0.1, 3, slip=["flor"]), "slip", "flor"),
        Refusal("bounds", lambda: wall_particles([floor], 0.1, 3, bounds=((0, 0), (1, 1))), "bounds", "1"),
        Refusal("bodies", lambda: wall_particles([floor], 0.1, 3, bodies=[1, 2]), "bodies", "2"),
        Refusal("layers", lambda: wall_particles([floor], 0.1, 0), "layers", "0"),
    ):
        check_refusal(refusal)
