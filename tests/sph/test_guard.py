"""No particle leaves through a wall, however long its steps are and however the wall moves."""

from __future__ import annotations

import numpy as np
import pytest

from refusals import Refusal, check_refusal
from sph.solids import box_mesh
from vicinal.sim.meshes import SurfaceMesh
from vicinal.sim.wall_sections import Oscillating
from vicinal.sim.walls import Cylinder, MeshWall, Plane, Wall, box_walls
from vicinal.sph.boundary import wall_particles
from vicinal.sph.fill import fill
from vicinal.sph.guard import Guard
from vicinal.sph.wall_motion import WallMotion

SPACING = 0.1


def wander(walls: list[Wall], points: np.ndarray, *, steps: int = 200, stride: float, turn: float = 0.0) -> Guard:
    """Walk at random, with drift, and rotate meshes about z by an angle per step."""
    rng = np.random.default_rng(7)
    guard = Guard(walls, SPACING, points.shape[1])
    drift = 0.5 * stride * rng.standard_normal(points.shape)
    for step in range(steps):
        before = points.copy()
        points += drift + stride * rng.standard_normal(points.shape)
        if turn:
            for wall in walls:
                if isinstance(wall, MeshWall):
                    half = 0.5 * turn * (step + 1)
                    wall.orientation = np.array([np.cos(half), 0, 0, np.sin(half)])
        guard.move()
        guard.keep(before, points, drift)
    return guard


@pytest.mark.parametrize("stride", [0.01, 1.0])
@pytest.mark.parametrize("dim", [2, 3])
def test_particles_stay_in_a_box(stride: float, dim: int) -> None:
    points = fill((np.zeros(dim), np.ones(dim)), SPACING)
    guard = wander(list(box_walls("box", (0, 0, 0), (1, 1, 1), "")), points, stride=stride)
    assert points.min() > 0
    assert points.max() < 1
    assert guard.count > len(points)
    assert set(guard.counts()) == {f"box{sign}{axis}" for sign in "+-" for axis in "xyz"[:dim]}


@pytest.mark.parametrize("stride", [0.01, 1.0])
def test_particles_stay_in_a_cylinder_and_outside_of_another(stride: float) -> None:
    outer = Cylinder(name="outer", material="", start=(0, 0, 0), end=(0, 0, 1), radius=1.0)
    inner = Cylinder(name="inner", material="", start=(0, 0, 0), end=(0, 0, 1), radius=0.5, inside=False)
    ends = list(box_walls("ends", (-1, -1, 0), (1, 1, 1), "", sides=["-z", "+z"]))
    points = fill(((-1, -1, 0), (1, 1, 1)), SPACING, walls=[outer, inner])
    wander([outer, inner, *ends], points, stride=stride)
    radius = np.hypot(points[:, 0], points[:, 1])
    assert radius.max() < 1
    assert radius.min() > 0.5
    assert points[:, 2].min() > 0
    assert points[:, 2].max() < 1


@pytest.mark.parametrize("stride", [0.01, 0.3])
def test_particles_stay_on_their_side_of_a_mesh_that_rotates(stride: float) -> None:
    turn = 0.02
    cube = box_mesh((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5), "cube")
    tank = list(box_walls("tank", (-1, -1, -1), (1, 1, 1), ""))
    points = fill(((-1, -1, -1), (1, 1, 1)), SPACING)
    inside = (np.abs(points) < 0.5).all(axis=1)
    guard = wander([cube, *tank], points, stride=stride, turn=turn, steps=100)
    back = np.array([[np.cos(turn * 100), np.sin(turn * 100)], [-np.sin(turn * 100), np.cos(turn * 100)]])
    there = points.copy()
    there[:, :2] = points[:, :2] @ back.T
    assert np.array_equal((np.abs(there) < 0.5).all(axis=1), inside)
    assert np.abs(points).max() < 1
    assert guard.counts()["cube"] > 100


def test_a_piston_sweeps_particles_along() -> None:
    piston = Plane(name="piston", material="", point=(0, 0, 0), normal=(1, 0, 0))
    tank = list(box_walls("tank", (0, 0, 0), (2, 1, 1), "", sides=["-x", "+x", "-y", "+y"]))
    motion = Oscillating(frequency=1.0, stroke=(0.5, 0, 0))
    dummies = wall_particles([piston, *tank], SPACING, 3, dim=2, bodies=[1, 0, 0, 0, 0], bounds=((0, 0), (2, 1)))
    moving = WallMotion(dummies, [piston, *tank], [motion, *4 * [Oscillating(frequency=1, start=1e9)]])
    guard = Guard([piston, *tank], SPACING, 2)
    points = fill(((0, 0), (2, 1)), SPACING)
    velocities = np.zeros(points.shape)
    for step in range(1, 51):
        moving.place(step * 0.005)
        guard.move()
        guard.keep(points.copy(), points, velocities)
        assert points[:, 0].min() > 0.5 * np.sin(2 * np.pi * 0.005 * step)
    assert points[:, 0].min() == pytest.approx(0.5, abs=2e-3 * SPACING)
    assert velocities[:, 0].min() >= 0


def test_a_way_through_an_edge_or_a_corner_is_noticed() -> None:
    wall = box_mesh((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5))
    guard = Guard([wall], SPACING)
    # Ways from the middle through all edges, corners and diagonals of the faces, and back in.
    steps = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if x or y or z], float)
    for begin, end in ((0.4, 0.6), (0.6, 0.4), (0.4, 0.5), (0.6, 0.5)):
        before, after = begin * steps, end * steps
        kept = np.ascontiguousarray(after)
        count = guard.keep(np.ascontiguousarray(before), kept, np.zeros(kept.shape))
        assert count == len(steps)
        assert np.array_equal(SurfaceMesh(wall.vertices, wall.faces).contains(kept), np.full(len(steps), begin < 0.5))


def test_wrong_arrays_are_refused() -> None:
    guard = Guard(list(box_walls("box", (0, 0, 0), (1, 1, 1), "")), SPACING)
    good = np.zeros((4, 3))
    for name, arrays in (("before", (good.astype(np.float32), good, good)), ("after", (good, good[:, :2], good))):
        check_refusal(Refusal(name, lambda arrays=arrays: guard.keep(*arrays), name, r"\(4, "))
    check_refusal(Refusal("spacing", lambda: Guard([], 0.0), "spacing", "0"))
