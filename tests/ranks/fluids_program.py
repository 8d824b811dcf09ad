"""Fluids on several ranks: ``mpiexec -n 3 python fluids_program.py NAME`` compares cases with one process.

All results must have the same bits.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from same_bits import WORLD, assert_same, in_thirds, main, meet, message, share

from dem.grains import linear
from vicinal.coupled import Coupling
from vicinal.dem import Clump
from vicinal.dem import Simulation as Grains
from vicinal.sim import balance
from vicinal.sim.walls import Plane, Wall, box_walls
from vicinal.sph import Laminar, Simulation, SolverWarning
from vicinal.sph.boundary import wall_particles
from vicinal.sph.fill import fill
from vicinal.sph.guard import Guard
from vicinal.sph.open_ends import Inlet, OpenEnds, Outlet
from vicinal.sph.phases import Phase
from vicinal.sph.probes import FluidSample, HeightGauge, PressureProbe
from vicinal.sph.ranks import FluidRanks

COLUMNS = ("positions", "velocities", "accelerations", "densities", "pressures", "phase", "surface", "masses")
Make = Callable[[Any], Simulation]


def tank(dim: int) -> list[Wall]:
    return box_walls("tank", (0, 0, 0), (1.0, 0.8, 0.3), "m", sides=["-x", "+x", "-y", "+y", "-z", "+z"][: 2 * dim])


def dam(comm: Any, dim: int = 2, **options: Any) -> Simulation:
    """A column of water in a tank with a guard."""
    walls = tank(dim)
    spacing = 0.02 if dim == 2 else 0.05
    water = fill(((0,) * dim, (0.4, 0.6, 0.3)[:dim]), spacing)
    dummies = wall_particles(walls, spacing, 4, dim=dim, fluid=water)
    gravity = (0.0, -9.81, 0.0)[:dim]
    guard = Guard(walls, spacing, dim)
    (own,) = share(comm, water)
    return Simulation(own, spacing=spacing, walls=dummies, guard=guard, gravity=gravity, comm=comm, **options)


def periodic(comm: Any, drift: float = 0.0, **options: Any) -> Simulation:
    """A vortex flow in a periodic box, through which it may drift: then every particle crosses all borders."""
    x = np.stack(np.meshgrid(*[(np.arange(30) + 0.5) / 30] * 2, indexing="ij"), axis=-1).reshape(-1, 2)
    u = np.stack([np.sin(2 * np.pi * x[:, 0]) * np.cos(2 * np.pi * x[:, 1]), -np.cos(2 * np.pi * x[:, 0])], axis=1)
    x, u = share(comm, x, u + drift)
    return Simulation(x, velocities=u, spacing=1 / 30, box=(1.0, 1.0), sound_speed=15.0, comm=comm, **options)


def bubble(comm: Any, **more: Any) -> Simulation:
    """Two phases with surface tension."""
    x = np.stack(np.meshgrid(*[(np.arange(32) + 0.5) / 32] * 2, indexing="ij"), axis=-1).reshape(-1, 2)
    x, phase = share(comm, x, (np.linalg.norm(x - 0.5, axis=1) < 0.25).astype(np.int32))
    phases = [Phase(density=1000, nu=1e-3), Phase(density=100, nu=1e-3)]
    options = {"phases": phases, "phase": phase, "surface_tension": 20.0, "scheme": "edac", **more}
    return Simulation(x, spacing=1 / 32, box=(1.0, 1.0), sound_speed=10.0, gravity=(0, -1), comm=comm, **options)


def channel(comm: Any) -> Simulation:
    """Fluid enters on the left and leaves on the right."""
    ends = OpenEnds(
        [Inlet(low=(-0.2, 0), high=(0, 0.2), velocity=(1, 0))],
        [Outlet(low=(0.5, -1), high=(0.8, 1), velocity=(1, 0))],
        spacing=0.025,
        support=0.1,
    )
    (own,) = share(comm, fill(((0, 0), (0.5, 0.2)), 0.025))
    moving = np.tile([1.0, 0.0], (len(own), 1))
    return Simulation(own, velocities=moving, spacing=0.025, ends=ends, sound_speed=10.0, comm=comm)


def gathered(sim: Simulation) -> dict[str, Any] | None:
    """Columns of all particles in the order of ids, on rank 0, and what all ranks know."""
    known = {
        "energies": list(sim.energies().values()),
        "dt": sim.dt,
        "limit": sim.limit,
        "total": sim.total,
        "time": sim.time,
        "speed": sim.largest_speed,
        "walls": sim.wall_pressures,
        "held": sorted(sim.held.items()),
        "solved": list(sim.solved.values()),
    }
    sample = FluidSample.of(sim)
    if sim.dim == 2:
        gauge = HeightGauge(name="h", point=(0.2, 0.0), direction=(0, 1), length=0.8)
        known["height"] = gauge.measure(sample) if WORLD.rank == 0 else 0.0
        probe = PressureProbe(name="p", point=(0.2, 0.2))
        known["pressure"] = probe.measure(sample) if WORLD.rank == 0 else 0.0
    columns = sim.whole(*COLUMNS)
    return None if columns is None else {**columns, **known}


def work(core: Any) -> float:
    """What the particles of a rank cost, if those on the left cost more. A test must not depend on measured seconds."""
    return float(np.where(core.column("positions")[:, 0] < 0.3, 4.0, 1.0).sum())


def pretend_to_measure() -> None:
    def advance(self: FluidRanks, core: Any, until: float, steps: int) -> bool:
        sound: bool = core.run(until, steps)[1]
        self.spent += 1e6 * work(core)
        return sound

    FluidRanks.advance = advance  # type: ignore[method-assign]
    balance.TOLERANCE = 1.02  # type: ignore[misc]


def compare(cases: dict[str, tuple[Make, int]]) -> None:
    pretend_to_measure()
    for name, (make, steps) in cases.items():
        sim = make(WORLD)
        sim.run(steps // 2)
        sim.run(steps - steps // 2)
        costs = WORLD.allgather(work(sim._core))
        got = gathered(sim)
        if got is not None:
            alone = make(None)
            alone.run(steps)
            expected = gathered(alone)
            assert expected is not None
            assert_same(got, expected, name)
            assert max(costs) < 1.5 * np.mean(costs), (name, costs)
        meet()


def cases() -> dict[str, tuple[Make, int]]:
    return {
        "dam": (dam, 300),
        "dam, double": (lambda comm: dam(comm, precision="double", kernel="quintic"), 40),
        "dam in space": (lambda comm: dam(comm, dim=3), 60),
        "periodic": (periodic, 120),
        "edac, drifting": (lambda comm: periodic(comm, drift=4.0, scheme="edac"), 160),
        "dfsph": (lambda comm: dam(comm, scheme="dfsph"), 70),
        "dfsph, double": (lambda comm: dam(comm, scheme="dfsph", precision="double", kernel="quintic"), 40),
        "dfsph in space": (lambda comm: dam(comm, dim=3, scheme="dfsph"), 66),
        "bubble": (bubble, 100),
        "bubble, background": (lambda comm: bubble(comm, background=0.004), 100),
        "channel": (channel, 160),
    }


def validation() -> None:
    still()
    poiseuille()


def poiseuille() -> None:
    """A force drives a viscous fluid between two plates, as the exact series says."""
    nu, push, spacing, length = 0.1, 0.8, 0.05, 0.8
    plates = box_walls("plate", (0, 0, 0), (length, 1, 1), "m", sides=["-y", "+y"])
    fluid = fill(((0, 0), (length, 1)), spacing)
    (own,) = share(WORLD, fluid)
    sim = Simulation(
        own,
        spacing=spacing,
        density=1.0,
        sound_speed=10.0,
        gravity=(push, 0.0),
        box=(length, None),
        viscosity=Laminar(nu),
        walls=wall_particles(plates, spacing, 4, dim=2, fluid=fluid, slip=[], periodic=(length, None)),
        scheme="edac",
        comm=WORLD,
    )
    sim.run_until(1.0)
    found = sim.whole("positions", "velocities")
    if found is not None:
        y, k = found["positions"][:, 1], np.arange(1, 60, 2)[:, None] * np.pi
        late = (4 * push / (nu * k**3) * np.sin(k * y) * np.exp(-(k**2) * nu * sim.time)).sum(axis=0)
        exact = push / (2 * nu) * y * (1 - y) - late
        assert np.linalg.norm(found["velocities"][:, 0] - exact) < 0.01 * np.linalg.norm(exact)


def still() -> None:
    """A tank of water finds the pressure of its own weight."""
    walls = box_walls("tank", (0, 0, 0), (1.0, 1.0, 1.0), "m", sides=["-x", "+x", "-y"])
    water = fill(((0, 0), (1.0, 0.5)), 0.05)
    dummies = wall_particles(walls, 0.05, 4, dim=2, fluid=water)
    for scheme, speed in (("dfsph", None), ("delta", 30.0)):
        (own,) = share(WORLD, water)
        sim = Simulation(
            own, spacing=0.05, walls=dummies, gravity=(0, -9.81), scheme=scheme, sound_speed=speed, comm=WORLD
        )
        sim.run_until(1.0)
        found = sim.whole("positions", "pressures")
        if found is not None:
            depth = 0.5 - found["positions"][:, 1]
            assert np.sqrt(np.mean((found["pressures"] - 9810 * depth) ** 2)) < 0.1 * 9810 * 0.5, scheme
            assert abs(depth.min() - 0.025) < 0.025, scheme


def restart() -> None:
    def restore(state: Any, comm: Any) -> Simulation:
        return Simulation.restore(state, guard=Guard(tank(2), 0.02, 2), comm=comm)

    in_thirds(dam, restore, lambda sim, _: gathered(sim), 50)


def dfsph_restart() -> None:
    def restore(state: Any, comm: Any) -> Simulation:
        return Simulation.restore(state, guard=Guard(tank(2), 0.02, 2), comm=comm)

    in_thirds(lambda comm: dam(comm, scheme="dfsph"), restore, lambda sim, _: gathered(sim), 20)


class Floating:
    """A ball and a stick in a tank of water, as the programs take a simulation."""

    def __init__(self, comm: Any, state: Any = None) -> None:
        walls = tank(2)
        guard = Guard(walls, 0.04, 2)
        if state is None:
            water = fill(((0, 0), (1.0, 0.4)), 0.04)
            (own,) = share(comm, water[(np.abs(water - [0.3, 0.34]).max(axis=1) > 0.2)])
            dummies = wall_particles(walls, 0.04, 4, dim=2, fluid=water)
            self.fluid = Simulation(own, spacing=0.04, walls=dummies, guard=guard, gravity=(0.0, -9.81), comm=comm)
            self.grains = Grains(
                materials={"m": linear(density=700, friction=0.5, kn=1e5)}, law="linear", walls=walls, dt=1e-3
            )
            self.grains.gravity = (0.0, -9.81, 0.0)
            stick = Clump([[0.06 * k, 0, 0] for k in range(3)], [0.08, 0.07, 0.06])
            self.grains.insert([[0.75, 0.55, 0.0]], radii=0.1, velocities=[[-0.3, -1.0, 0]])
            self.grains.insert([[0.3, 0.34, 0.0]], shape=stick, spins=[[0, 0, 2.0]])
        else:
            self.fluid = Simulation.restore(state["fluid"], guard=guard, comm=comm)
            self.grains = Grains.restore(state["grains"])
        self.coupling = Coupling(self.grains, self.fluid, state=None if state is None else state["coupling"])
        self.run = self.coupling.run

    def state(self) -> dict[str, Any]:
        return {"fluid": self.fluid.state(), "grains": self.grains.state(), "coupling": self.coupling.state()}

    def results(self) -> dict[str, Any]:
        names = ("positions", "velocities", "spins", "orientations")
        columns = {f"body {name}": getattr(self.grains, name) for name in names}
        return {**(gathered(self.fluid) or {}), **columns, "loads": self.coupling.loads}


def bodies() -> None:
    """Bodies in a fluid, which all ranks have; a state continues on fewer ranks."""
    pretend_to_measure()
    sim = Floating(WORLD)
    sim.run(70)
    state = WORLD.bcast(sim.state())
    sim.run(70)
    got = sim.results()
    fewer = WORLD.Split(int(WORLD.rank == WORLD.size - 1))
    other = Floating(fewer if fewer.size > 1 else None, state)
    other.run(70)
    again = other.results()
    if WORLD.rank == 0:
        alone = Floating(None)
        alone.run(140)
        expected = alone.results()
        assert np.abs(expected["loads"]).min(axis=0)[:2].max() > 0
        assert_same(got, expected, "bodies")
        assert_same(again, expected, "bodies on fewer ranks")
    meet()
    assert np.array_equal(again["body positions"], got["body positions"])
    sim.grains.insert([[0.5, 0.7, 0]], radii=0.05 if WORLD.rank else 0.06)
    assert "must be the same on all ranks, got" in message(lambda: sim.run(1))


def disagree() -> None:
    """Wrong input on one rank is an error on all; faults are reported by all."""
    last = WORLD.rank == WORLD.size - 1

    def make(place: float = 0.0, speed: float = 0.0, pressure: Any = None) -> Simulation:
        x = np.add([[place, 0.0], [0.5, 0.0]], [WORLD.rank, 0])
        u = [[speed, 0.0], [0.0, 0.0]]
        return Simulation(x, velocities=u, spacing=0.1, pressures=pressure, sound_speed=10.0, comm=WORLD)

    assert "positions must be finite" in message(lambda: make(np.nan if last else 0.0))
    wrong = [1.0] if last else [0.0, 0.0]
    assert "pressures must be 2 finite numbers" in message(lambda: make(pressure=wrong))
    fast = make(speed=50.0 if last else 0.0)
    assert f"particle {2 * WORLD.size - 2} at" in message(lambda: fast.run(3))
    # Warnings of dfsph come from all ranks; ranks without particles take part.
    for box, doubts in (((1.0, 1.0), 1), ((1.0, None), 0)):
        (own,) = share(WORLD, fill(((0, 0), (1, 1)), 0.1))
        flow = Simulation(own, velocities=np.full(own.shape, 0.5), spacing=0.1, scheme="dfsph", box=box, comm=WORLD)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            flow.run(2)
        assert [one.category for one in caught] == [SolverWarning] * doubts, caught
    # The particles of one rank lie on top of each other, and its warning is an error.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "1 pairs of particles are closer" in message(lambda: make(place=0.46 if last else 0.0))
    lone = Simulation(np.zeros((int(WORLD.rank == 0), 2)), spacing=0.1, sound_speed=10.0, scheme="dfsph", comm=WORLD)
    lone.run(2)
    assert lone.total == 1


def settings() -> None:
    """Settings, walls and arguments that are not the same on all ranks are refused by name."""
    rank = WORLD.rank

    def made(**options: Any) -> Simulation:
        own = fill(((0, 0.5 * rank), (0.5, 0.5 * rank + 0.5)), 0.1)
        return Simulation(own, **({"spacing": 0.1, "sound_speed": 10.0, "comm": WORLD} | options))

    def walls(depth: float) -> Any:
        floor = Plane(name="floor", material="m", point=(0.25, depth, 0), normal=(0, 1, 0))
        return wall_particles([floor], 0.1, 4, dim=2)

    def inlet(speed: float) -> OpenEnds:
        return OpenEnds([Inlet(low=(-0.8, 0), high=(0, 0.4), velocity=(speed, 0))], [], spacing=0.1, support=0.4)

    sim = made()
    for call, wrong in (
        (lambda: made(sound_speed=10.0 + rank).run(2), "sound_speed, got 10.0 on rank 0 and 11.0 on rank 1"),
        (lambda: made(scheme="dfsph" if rank else "delta"), "scheme, got 'delta' on rank 0 and 'dfsph' on rank 1"),
        (lambda: made(viscosity=Laminar(0.1 + rank)), "viscosity.nu, got 0.1 on rank 0 and 1.1 on rank 1"),
        (lambda: made(gravity=(0, -1.0 - rank)), "gravity, got [0.0, -1.0] on rank 0 and [0.0, -2.0] on rank 1"),
        (lambda: made(courant=0.2 + 0.1 * rank), "courant, got 0.2 on rank 0"),
        (lambda: made(walls=walls(-0.1 * rank)), "walls.positions, got different values of shape"),
        (
            lambda: made(ends=inlet(1.0 + rank)),
            "ends.inlets[0].velocity, got [1.0, 0.0] on rank 0 and [2.0, 0.0] on rank 1",
        ),
        (lambda: sim.run(2 + rank), "steps, got 2 on rank 0 and 3 on rank 1"),
        (lambda: sim.run_until(1.0 + rank), "time, got 1.0 on rank 0 and 2.0 on rank 1"),
        (lambda: Simulation.restore(sim.state(), comm=WORLD), "state.particles, got 50 on rank 0 and 25 on rank 1"),
    ):
        name, got = wrong.split(", ", maxsplit=1)
        text = message(call)
        assert text.startswith(f"{name} must be the same on all ranks, {got}"), (text, wrong)
    flat = np.zeros((1, 2 + rank))
    assert "the number of dimensions must be the same on all ranks" in message(
        lambda: Simulation(flat, spacing=0.1, sound_speed=10.0, comm=WORLD)
    )


if __name__ == "__main__":
    main(
        {
            "cases": lambda: compare(cases()),
            "bodies": bodies,
            "validation": validation,
            "restart": restart,
            "dfsph_restart": dfsph_restart,
            "disagree": disagree,
            "settings": settings,
        }
    )
