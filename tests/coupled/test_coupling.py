"""Bodies in a fluid: momentum is exchanged and not lost, bits do not depend on threads, wrong input is refused."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vicinal as vc
from vicinal.coupled import Coupling
from vicinal.dem import Clump, Material, Polyhedron, Tablet
from vicinal.dem import Simulation as Grains
from vicinal.errors import InputError
from vicinal.sim import load, scenes
from vicinal.sph import Artificial, Laminar
from vicinal.sph import Simulation as Fluid
from vicinal.sph.fill import fill

Array = npt.NDArray[np.float64]
SPACING = 0.1


def drop(dim: int, **options: Any) -> Coupling:
    """A drop without gravity in irregular motion, with a light ball in it that spins."""
    water = fill((np.zeros(dim), np.ones(dim)), SPACING)
    water = water[np.linalg.norm(water - 0.5, axis=1) > 0.25]
    velocities = np.random.default_rng(1).normal(0, 0.3, water.shape)
    velocities[:, 0] += 1.0
    fluid = Fluid(water, spacing=SPACING, sound_speed=10.0, velocities=velocities, **options)
    grains = Grains(materials={"m": Material(density=500, kn=1e5)}, law="linear", gravity=(0, 0, 0), dt=1e-3)
    grains.insert([[0.5, 0.5, 0.5 if dim == 3 else 0.0]], radii=0.22, spins=[[0, 0, 3.0]])
    return Coupling(grains, fluid)


def momenta(coupling: Coupling) -> Array:
    """Momentum and angular momentum about 0 of fluid and bodies; in two dimensions per metre of depth."""
    fluid, grains = coupling.fluid, coupling.grains
    places, velocities = np.zeros((2, len(fluid), 3))
    places[:, : fluid.dim], velocities[:, : fluid.dim] = fluid.positions, fluid.velocities
    linear = [fluid.masses[:, None] * velocities, grains.masses[:, None] * grains.velocities]
    turning = grains.inertias * grains.spins + np.cross(grains.positions, linear[1])
    depths = coupling.bodies.depths[:, None]
    return np.concatenate(
        [
            linear[0].sum(axis=0) + (linear[1] / depths).sum(axis=0),
            np.cross(places, linear[0]).sum(axis=0) + (turning / depths).sum(axis=0),
        ]
    )


@pytest.mark.parametrize("dim", [2, 3])
def test_momentum_is_exchanged_to_rounding(dim: int) -> None:
    for precision, rounding, viscosity in (
        ("double", 1e-14, Artificial(0.1)),
        ("single", 1e-7, Artificial(0.1)),
        ("double", 1e-14, Laminar(0.01)),
    ):
        # What shifting and control of tension do among fluid particles conserves no momentum.
        coupling = drop(dim, precision=precision, viscosity=viscosity, shifting=0.0, tensile_control=False)
        before = momenta(coupling)
        coupling.run(60)
        scale = np.abs(coupling.fluid.masses[:, None] * coupling.fluid.velocities).sum()
        change = np.abs(momenta(coupling) - before) / scale
        assert change[:3].max() < rounding
        if isinstance(viscosity, Artificial):  # laminar viscosity is not central
            assert change[3:].max() < rounding
        assert np.abs(coupling.grains.velocities[0, 0]) > 0.3


def numbers(coupling: Coupling) -> bytes:
    """All results."""
    fluid, grains = coupling.fluid, coupling.grains
    parts = (fluid.positions, fluid.velocities, fluid.densities, grains.positions, grains.velocities, grains.spins)
    return b"".join(part.tobytes() for part in (*parts, grains.orientations, coupling.loads))


@pytest.mark.parametrize("dim", [2, 3])
def test_threads_change_no_bit_and_a_restored_coupling_continues(dim: int) -> None:
    found = set()
    for threads in (1, 2):
        with vc.threads(threads):
            coupling = drop(dim)
            coupling.run(20)
            found.add(numbers(coupling))
    assert len(found) == 1
    state = pickle.loads(pickle.dumps((coupling.grains.state(), coupling.fluid.state(), coupling.state())))
    other = Coupling(Grains.restore(state[0]), Fluid.restore(state[1]), state=state[2])
    for one in (coupling, other):
        one.run(20)
    assert numbers(other) == numbers(coupling)


def box(*edges: float) -> Polyhedron:
    return Polyhedron(np.array(list(itertools.product(*([-0.5 * edge, 0.5 * edge] for edge in edges)))))


def test_wall_particles_fill_the_outer_layers_of_every_shape() -> None:
    grains = Grains(materials={"m": Material(density=1000, kn=1e5)}, law="linear", gravity=(0, 0, 0), dt=1e-3)
    grains.insert([[0, 0, 0]], radii=1.0)
    grains.insert([[5, 0, 0]], shape=box(2.0, 1.0, 4.0))
    grains.insert([[10, 0, 0]], shape=Tablet(1.0, 0.6, 0.4))
    grains.insert([[15, 0, 0]], shape=Clump([[-0.5, 0, 0], [0.5, 0, 0]], [0.7, 0.7]))
    for dim in (2, 3):
        fluid = Fluid([[30.0] * dim], spacing=0.2, sound_speed=1.0, smoothing=2.0)
        bodies = Coupling(grains, fluid).bodies
        assert bodies.layers == 4
        for row, body in enumerate(bodies.ids):
            own = bodies.owners == body
            volume = grains.masses[row] / 1000 / bodies.depths[row]
            filled = own.sum() * 0.2**dim
            # The middle of the sphere is deeper than the kernel reaches, as is that of no other body.
            hollow = np.pi * 0.2**2 if dim == 2 else 4 / 3 * np.pi * 0.2**3
            assert filled == pytest.approx(volume - (hollow if row == 0 else 0), rel=0.12), (dim, row)
            arms = bodies.arms[own]
            assert np.linalg.norm(arms, axis=1).max() < grains.radii[row]
            if row < 3:  # a clump is not convex
                assert (np.einsum("ij,ij->i", arms, bodies.normals[own]) > -1e-9).all()
        # The block is filled exactly, in the axes in which it was described.
        block = bodies.arms[bodies.owners == 1]
        assert np.abs(block).max(axis=0) == pytest.approx([0.9, 0.4, 1.9 if dim == 3 else 0.0])


def test_bodies_come_and_go_during_a_run() -> None:
    coupling = drop(2)
    coupling.run(5)
    fluid, grains = coupling.fluid, coupling.grains
    other = grains.insert([[3.0, 0.5, 0.0]], radii=0.15)
    coupling.run(5)
    assert len(coupling.loads) == 2
    assert (coupling.loads[1] == 0).all()
    assert (coupling.loads[0] != 0).any()
    grains.remove([0])
    coupling.run(5)
    assert coupling.bodies.ids.tolist() == other.tolist()
    assert len(fluid.wall_positions) == (coupling.bodies.owners == other).sum()
    grains.remove(other)
    coupling.run(5)
    assert len(coupling.loads) == 0


def test_a_run_ends_at_its_end() -> None:
    grains = Grains(materials={"m": Material(density=500, kn=1e5)}, law="linear", dt=1e-3, gravity=(0, 0, 0))
    grains.insert([[0, 0, 0]], radii=0.3)
    coupling = Coupling(grains, Fluid([[5.0, 5.0]], spacing=0.1, sound_speed=1.0))
    coupling.run_until(0.123)
    assert coupling.time == 0.123
    assert grains.time == pytest.approx(0.123, rel=1e-12)
    with pytest.raises(InputError, match=r"time must be at least 0\.123, the present time, got 0\.12"):
        coupling.run_until(0.12)


def test_wrong_input_is_refused() -> None:
    grains = Grains(materials={"m": Material(density=500, kn=1e5)}, law="linear", dt=1e-3)
    grains.insert([[0, 0, 0.5]], radii=0.3)
    fluid = Fluid([[5.0, 5.0]], spacing=0.1, sound_speed=1.0)
    with pytest.raises(InputError, match=r"centres in the plane z = 0, got z = 0.5 for body 0; move it"):
        Coupling(grains, fluid)
    with pytest.raises(InputError, match=r"radius of at least one spacing \(0.4\), got 0.3 for body 0; use a smaller"):
        Coupling(grains, Fluid([[5.0, 5.0, 5.0]], spacing=0.4, sound_speed=1.0))
    with pytest.raises(InputError, match=r"fluid must have the scheme \"delta\" and one phase.*, got scheme 'edac'"):
        Coupling(grains, Fluid([[0.5, 0.5, 0.5]], spacing=0.1, sound_speed=1.0, scheme="edac"))
    with pytest.raises(InputError, match=r"sph\.scheme must be delta for a fluid with bodies"):
        load(scenes.find("floating_block"), settings=["sph.scheme=dfsph"])
    with pytest.raises(InputError, match="must have the same periodic box, got"):
        Coupling(grains, Fluid([[0.5, 0.5, 0.5]], spacing=0.1, sound_speed=1.0, box=(1, 1, 1)))
