"""Grains on several ranks: ``mpiexec -n 3 python grains_program.py NAME`` compares cases with one process.

All results must have the same bits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from same_bits import WORLD, assert_same, in_thirds, main, meet, message, share

from dem.grains import floor, linear
from vicinal.dem import Clump, Cylinder, Material, MeshWall, Plane, Polyhedron, Simulation, Tablet, box_walls, ranks
from vicinal.dem import simulation as module
from vicinal.sim import balance

HERTZ = Material(
    density=2000,
    youngs_modulus=1e6,
    poisson_ratio=0.3,
    restitution=0.4,
    friction=0.5,
    rolling_friction=0.1,
    torsional_friction=0.05,
    cohesion=100.0,
)
LINEAR = linear(friction=0.5, restitution=0.5, kn=2e4)
COLUMNS = ("positions", "velocities", "spins", "orientations", "radii", "masses", "material_ids", "shape_ids")
STEPS = 32
"""Steps after which ranks compare their work here."""
Make = Callable[[Any], Simulation]
Case = tuple[Make, Callable[[Simulation], None]]


def lattice(n: int) -> np.ndarray:
    side = int(np.ceil(n ** (1 / 3)))
    return np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)[:n] + 0.5


def tray(material: Material, n: int, comm: Any, **options: Any) -> Simulation:
    """Spheres of several sizes thrown into a tray."""
    rng = np.random.default_rng(0)
    side = max(1, int(np.ceil(n ** (1 / 3))))
    walls = box_walls("tray", (0, 0, 0), (side, side, 4 * side), "m", sides=["-x", "+x", "-y", "+y", "-z"])
    law = "linear" if material.kn is not None else "hertz"
    settings = {"walls": walls, "gravity": (0, 0, -10), "dt": 2e-4} | options
    sim = Simulation(materials={"m": material}, law=law, comm=comm, **settings)
    points, radii, velocities = share(comm, lattice(n), rng.uniform(0.3, 0.45, n), rng.normal(0, 3, (n, 3)))
    sim.insert(points, radii=radii, velocities=velocities)
    return sim


def shaft(comm: Any) -> Simulation:
    """Spheres in a periodic box so narrow that two images of a pair are within reach of the lists."""
    rng = np.random.default_rng(1)
    points = np.stack(np.meshgrid([0.0, 1.0], [0.0, 1.0], np.arange(30.0), indexing="ij"), axis=-1).reshape(-1, 3) + 0.5
    n = len(points)
    space = {"walls": [floor()], "gravity": (0, 0, -10), "box": (2, 2, None)}
    sim = Simulation(materials={"m": LINEAR}, law="linear", dt=2e-4, comm=comm, **space)
    points, radii, velocities = share(comm, points, rng.uniform(0.3, 0.5, n), rng.normal(0, 3, (n, 3)))
    sim.insert(points, radii=radii, velocities=velocities)
    return sim


def gathered(sim: Simulation, comm: Any) -> dict[str, Any] | None:
    """Columns of all bodies in the order of ids, on rank 0, and what all ranks know."""
    own = {name: np.asarray(getattr(sim, name)) for name in ("ids", *COLUMNS)}
    contacts = sim.contacts()
    results = {"energies": list(sim.energies(contacts).values()), "contacts": sim.contact_count(), "total": sim.total}
    for wall in sim.walls:
        results[wall.name] = np.concatenate([wall.force, wall.torque, wall.pose()])
    parts = [(own, contacts)] if comm is None else comm.gather((own, contacts))
    if parts is None:
        return None
    order = np.argsort(np.concatenate([part["ids"] for part, _ in parts]))
    columns = {name: np.concatenate([part[name] for part, _ in parts])[order] for name in own}
    touching = {name: np.concatenate([part[name] for _, part in parts]) for name in contacts}
    order = np.lexsort((touching["point"][:, 0], touching["wall"], touching["j"], touching["i"]))
    return {**columns, **{f"contact.{name}": column[order] for name, column in touching.items()}, **results}


def settle(sim: Simulation) -> None:
    for _ in range(3):
        sim.run(250)


def slow_down(sim: Simulation) -> None:
    """Velocities and spins are assigned between runs; the lists stay."""
    for _ in range(10):
        sim.run(50)
        sim.velocities = 0.99 * sim.velocities
        sim.spins = sim.spins + 0.1


def spheres() -> dict[str, Case]:
    """Both laws, with history, rolling and cohesion; several blocks of forces; periodic or with walls."""
    return {
        "linear": (lambda comm: tray(LINEAR, 2500, comm), settle),
        "hertz": (lambda comm: tray(HERTZ, 800, comm), settle),
        "no history": (
            lambda comm: tray(linear(friction=0.5, restitution=0.5, kn=2e4), 300, comm, history=False),
            settle,
        ),
        "periodic": (lambda comm: tray(LINEAR, 1200, comm, walls=[floor()], box=(11.0, 11.0, None)), settle),
        "short period": (shaft, settle),
        "assigned": (lambda comm: tray(LINEAR, 1200, comm, walls=[floor()], box=(11.0, 11.0, None)), slow_down),
        "assigned, short period": (shaft, slow_down),
        "one": (lambda comm: tray(LINEAR, 1, comm), settle),
        "none": (lambda comm: tray(LINEAR, 0, comm), settle),
    }


def storm() -> dict[str, Case]:
    """A gas of fast spheres: bodies change ranks in every build, every few steps, and space is divided again."""

    def make(comm: Any) -> Simulation:
        sim = tray(LINEAR, 700, comm, walls=(), box=(9.0, 9.0, 9.0), gravity=(0, 0, 0), skin=0.02)
        sim.velocities = 10 * sim.velocities + [20.0, 0, 0]
        return sim

    return {"storm": (make, settle)}


def walls() -> dict[str, Case]:
    """Moving planes, cylinders and meshes, which every rank has."""

    def drum(comm: Any) -> Simulation:
        ends = [Plane(name=f"end{s}", material="m", point=(0, s * 4.0, 0), normal=(0, -s, 0)) for s in (-1, 1)]
        angle = np.linspace(0, 2 * np.pi, 24, endpoint=False)
        ring = np.c_[2 * np.cos(angle), np.full(24, -3.0), 2 * np.sin(angle)]
        k, after = np.arange(24), (np.arange(24) + 1) % 24
        tube = MeshWall(
            name="tube",
            material="m",
            vertices=np.concatenate([ring, np.add(ring, (0, 6.0, 0))]),
            faces=np.concatenate([np.c_[k, after, after + 24], np.c_[k, after + 24, k + 24]]),
            spin=(0, -3.0, 0),
        )
        drum = Cylinder(
            name="drum", material="m", start=(0, -4, 0), end=(0, 4, 0), radius=6.0, inside=True, spin=(0, 2.0, 0)
        )
        lid = Plane(name="lid", material="m", point=(0, 0, 9), normal=(0, 0, -1), velocity=(0, 0, -6.0))
        sim = Simulation(materials={"m": LINEAR}, law="linear", walls=[drum, *ends, tube, lid], dt=2e-4, comm=comm)
        points = 0.9 * (lattice(2000) - [6.5, 4.5, 6.5])
        far = np.hypot(points[:, 0], points[:, 2])
        points = points[(far > 2.5) & (far < 5.4) & (np.abs(points[:, 1]) < 3.5)]
        sim.insert(share(comm, points)[0], radii=0.42)
        return sim

    def run(sim: Simulation) -> None:
        sim.run(300)
        sim.walls[0].spin = (0, -4.0, 0)
        sim.walls[3].position = np.add(sim.walls[3].position, (0.0, 0.05, 0.0))
        sim.run(300)

    return {"drum": (drum, run)}


def shapes() -> dict[str, Case]:
    """Clumps, tablets, polyhedra and spheres together."""
    cube = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    kinds = {
        "clumps": [Clump([[0, 0, 0], [0.3, 0, 0], [0.3, 0.25, 0]], [0.3, 0.25, 0.2])],
        "tablets": [Tablet(0.35, 0.2, 0.1)],
        "polyhedra": [Polyhedron(cube * [0.4, 0.5, 0.6])],
    }
    kinds["all"] = [one for some in kinds.values() for one in some]
    # Their moments of inertia are equal, as those of spheres are, but their orientations matter.
    kinds["cubes"] = [Polyhedron(cube * 0.5)]

    def make(name: str) -> Make:
        def built(comm: Any) -> Simulation:
            sim = tray(LINEAR, 60, comm, gravity=(0, 0, -20))
            rng = np.random.default_rng(1)
            for layer, shape in enumerate(kinds[name]):
                points = np.add(lattice(64), (0, 0, 4.0 * (layer + 1)))
                turns, speeds = rng.normal(size=(64, 4)), rng.normal(0, 2, (64, 3))
                points, turns, speeds = share(comm, points, turns, speeds)
                sim.insert(points, shape=shape, orientations=turns, velocities=speeds, spins=speeds)
            return sim

        return built

    def run(sim: Simulation) -> None:
        sim.run(400)
        sim.run(200)

    return {name: (make(name), run) for name in ("clumps", "cubes", "all")}


def feeding() -> dict[str, Case]:
    """Bodies are inserted, removed and assigned in mid-run."""

    def run(sim: Simulation) -> None:
        comm = WORLD if sim._ranks.used else None
        for round_ in range(5):
            sim.run(120)
            points = lattice(40) * [1.5, 1.5, 1] + [0.2, 0.2, 14.0 + 5 * round_]
            sim.insert(share(comm, points)[0], radii=0.4, velocities=(0, 0, -15.0))
            sim.run(60)
            sim.remove(sim.ids[sim.ids % 7 == round_])
        sim.velocities = 0.5 * sim.velocities
        sim.gravity = (3.0, 0, -9)
        sim.run(100)
        sim.positions = np.add(sim.positions, (0, 0, 0.01))
        sim.dt = 1.5e-4
        sim.run(100)

    return {"feeding": (lambda comm: tray(LINEAR, 500, comm), run)}


def unequal() -> dict[str, Case]:
    """Tablets on one side cost more than spheres on the other: ranks share the cost, not the number of bodies."""

    def make(comm: Any) -> Simulation:
        sim = tray(LINEAR, 0, comm, walls=[floor()], box=(16.0, 6.0, None), skin=0.05)
        places = lattice(8**3) * [1.0, 0.75, 1.0]
        speeds = np.random.default_rng(3).normal(0, 2, places.shape)
        places, aside, speeds = share(comm, places, np.add(places, (8.0, 0, 0)), speeds)
        sim.insert(places, shape=Tablet(0.35, 0.2, 0.1), velocities=speeds)
        sim.insert(aside, radii=0.36, velocities=speeds)
        return sim

    def costs(sim: Simulation) -> float:
        return float(np.where(sim.shape_ids >= 0, 6.0, 1.0).sum())

    def run(sim: Simulation) -> None:
        for _ in range(10):
            sim.run(30)
            # Seconds that exceed all measured ones: the test must not depend on the machine.
            sim._ranks.spent = 1e6 * costs(sim)
        if sim._ranks.used:
            shares = np.array(WORLD.allgather((costs(sim), len(sim))), float)
            assert shares[:, 0].max() < 1.25 * shares[:, 0].mean(), shares
            assert shares[:, 1].max() > 1.5 * shares[:, 1].min(), shares

    return {"unequal": (make, run)}


def redivided() -> dict[str, Case]:
    """Space is divided again between two builds, as often as ranks compare their work."""

    def make(comm: Any) -> Simulation:
        sim = shapes()["all"][0](comm)
        sim.velocities = 0.01 * sim.velocities
        return sim

    def run(sim: Simulation) -> None:
        divisions = 0
        for round_ in range(8):
            # Each time another rank seems to be slow, and the division before seems to have cost nothing.
            sim._ranks.spent = 1e6 * (1 + (sim.rank + round_) % 2) * (len(sim) > 0)
            sim._ranks._price = 0.0
            before, builds = len(sim), sim._builds
            sim.run(STEPS)
            moved = sim._ranks.count(int(len(sim) != before)) > 0
            divisions += moved and sim._builds == builds
        assert divisions > 0 or not sim._ranks.used, "no division between two builds"

    return {"redivided": (make, run)}


def messages() -> dict[str, Case]:
    """Ranks that share no memory send messages."""
    ranks.open_node = lambda _comm, _needed: None  # type: ignore[assignment]
    everything = spheres() | shapes()
    return {name: everything[name] for name in ("periodic", "clumps")}


def compare(cases: Callable[[], dict[str, Case]]) -> None:
    module.BUILDS_PER_SORT = 4
    ranks.STEPS = STEPS
    balance.TOLERANCE = 1.02  # type: ignore[misc]
    for name, (make, advance) in cases().items():
        sim = make(WORLD)
        advance(sim)
        got = gathered(sim, WORLD)
        if got is not None:
            alone = make(None)
            advance(alone)
            expected = gathered(alone, None)
            assert expected is not None
            assert_same(got, expected, name)
            assert alone.stats.builds > 3 or len(alone) < 2 or name == "redivided", name
        meet()


def validation() -> None:
    rebound()
    slope()


def slope() -> None:
    """Three cubes on top of each other rest on a slope: the faces between them lie on the borders of ranks."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    down = np.radians(10)
    sim = Simulation(
        materials={"m": Material(density=1000, kn=1e7, restitution=0.1, friction=0.5)},
        law="linear",
        walls=[floor("m")],
        gravity=(9.81 * np.sin(down), 0, -9.81 * np.cos(down)),
        dt=1e-3,
        comm=WORLD,
    )
    sim.insert(share(WORLD, np.array([[0, 0, 0.5 + k] for k in range(3)]))[0], shape=Polyhedron(corners))
    sim.run(1)  # before space is divided by measured work
    assert WORLD.size != 3 or len(sim) == 1
    sim.run(3_999)
    before = gathered(sim, WORLD)
    sim.run(1_000)
    after = gathered(sim, WORLD)
    if before is not None and after is not None:
        assert after["contacts"] == 3
        assert set(after["contact.wall"].tolist()) == {-1, 0}
        for name in ("positions", "orientations"):
            assert np.abs(after[name] - before[name]).max() < 1e-6, name


def rebound() -> None:
    """Spheres rebound from each other, also across the borders of ranks, and from a floor, with the restitution."""
    rows = np.arange(61)
    left, right, low = (np.c_[3.0 * rows + x, 0 * rows, z + 0 * rows] for x, z in ((0, 9), (1.02, 9), (1.5, 0.52)))
    away = np.repeat([[-1.0, 0, 0], [1.0, 0, 0], [0, 0, 1.0]], 61, axis=0)
    points, approach = share(WORLD, np.concatenate([left, right, low]), -away)
    for law, material in (("linear", linear(restitution=0.5, kn=2e4)), ("hertz", replace(HERTZ, cohesion=0.0))):
        options = {"law": law, "walls": [floor("m")], "gravity": (0, 0, 0), "dt": 5e-4}
        sim = Simulation(materials={"m": material}, comm=WORLD, **options)
        sim.insert(points, radii=0.5, velocities=approach)
        sim.run(1)  # before space is divided by measured work
        owners = WORLD.gather(np.c_[sim.ids, np.full(len(sim), WORLD.rank)])
        sim.run(799)
        whole = gathered(sim, WORLD)
        if whole is not None and owners is not None:
            assert whole["contacts"] == 0
            assert np.allclose(whole["velocities"], material.restitution * away, atol=0.01), law
            ranks_of = np.concatenate(owners)
            ranks_of = ranks_of[np.argsort(ranks_of[:, 0]), 1]
            assert WORLD.size == 1 or (ranks_of[:61] != ranks_of[61:122]).any()


def restart() -> None:
    in_thirds(shapes()["all"][0], Simulation.restore, gathered, 333)


def disagree() -> None:
    """Wrong input on one rank is an error on all; faults are reported by all."""
    last = WORLD.size - 1

    softer = linear(friction=0.5, restitution=0.5, kn=2e4 - WORLD.rank)
    assert "materials.m.kn must be the same on all ranks, got 20000.0 on rank 0 and 19999.0 on rank 1" in message(
        lambda: tray(softer, 5, WORLD)
    )
    sim = tray(LINEAR, 50, WORLD)
    wrong = [[0, 0, np.nan]] if WORLD.rank == last else [[0, 0, 50.0]]
    assert "positions must be finite" in message(lambda: sim.insert(wrong, radii=0.1))
    unknown = np.array([40, 49] if WORLD.rank == last else [], np.int64)
    sim.remove(unknown[:1])
    assert "got 40; there is no such body" in message(lambda: sim.remove(unknown))
    sim.run(10)
    top = sim.positions[:1] + 0.01 if WORLD.rank == last else np.empty((0, 3))
    sim.insert(top, radii=0.1)
    assert "bodies that were just placed must overlap" in message(lambda: sim.run(10))
    fast = tray(LINEAR, 50, WORLD)
    fast.velocities = fast.velocities + (1e9 if WORLD.rank == last else 0.0)
    assert "diameters" in message(lambda: fast.run(10))


def settings() -> None:
    """Settings, walls and arguments that are not the same on all ranks are refused by name."""
    rank = WORLD.rank

    def refused(call: Callable[[], Any], wrong: str) -> None:
        name, got = wrong.split(", ", maxsplit=1)
        text = message(call)
        assert text.startswith(f"{name} must be the same on all ranks, {got}"), (text, wrong)

    def plane(**options: Any) -> list[Plane]:
        return [Plane(**({"name": "w", "material": "m", "point": (0, 0, 0), "normal": (0, 0, 1)} | options))]

    def mesh(height: float) -> list[MeshWall]:
        corners = np.array([[0.0, 0, 0], [30, 0, 0], [0, 30, 0], [0, 0, height]])
        return [MeshWall(name="w", material="m", vertices=corners, faces=np.array([[0, 1, 2], [0, 1, 3]]))]

    def run(**options: Any) -> Callable[[], None]:
        return lambda: tray(LINEAR, 5, WORLD, **options).run(3)

    for call, wrong in (
        (
            run(walls=plane(point=(0, 0, -1.0 - rank))),
            "walls[0].point, got [0.0, 0.0, -1.0] on rank 0 and [0.0, 0.0, -2.0]",
        ),
        (run(walls=plane(velocity=(0, 0, rank))), "walls[0].velocity, got [0.0, 0.0, 0.0] on rank 0"),
        (run(walls=plane() if rank else []), "walls, got [] on rank 0 and a list of length 1 on rank 1"),
        (
            run(walls=mesh(1.0 + rank)),
            "walls[0].vertices, got different values of shape (4, 3) on rank 0 and on rank 1",
        ),
        (run(dt=1e-4 + rank), "dt, got 0.0001 on rank 0 and 1.0001 on rank 1"),
        (run(pairs={("m", "m"): {"friction": 0.1 + rank}}), "pairs.m-m.friction, got 0.1 on rank 0 and 1.1 on rank 1"),
        (run(box=(20.0 + rank, None, None)), "box[0], got 20.0 on rank 0 and 21.0 on rank 1"),
        (run(history=rank == 0), "history, got True on rank 0 and False on rank 1"),
        (run(seed=rank), "seed, got 0 on rank 0 and 1 on rank 1"),
        (run(max_overlap=0.1 + rank), "max_overlap, got 0.1 on rank 0 and 1.1 on rank 1"),
    ):
        refused(call, wrong)
    assert "seed must be a number on ranks, got None" in message(lambda: tray(LINEAR, 5, WORLD, seed=None))
    sim = tray(LINEAR, 5, WORLD, walls=plane())
    refused(lambda: sim.run(3 + rank), "steps, got 3 on rank 0 and 4 on rank 1")
    refused(lambda: sim.run_until(1.0 + rank), "time, got 1.0 on rank 0 and 2.0 on rank 1")
    softer = {"m": linear(friction=0.5, restitution=0.5, kn=1e4 - rank)}
    refused(lambda: setattr(sim, "materials", softer), "materials.m.kn, got 10000.0 on rank 0 and 9999.0 on rank 1")
    refused(lambda: Simulation.restore(sim.state(), WORLD), "state.bodies, got 5 on rank 0")
    tablet = Tablet(0.35, 0.2, 0.1 + 0.01 * rank)
    assert "shape must be the same on all ranks" in message(lambda: sim.insert(np.empty((0, 3)), shape=tablet))
    moved = tray(LINEAR, 5, WORLD, walls=plane())
    moved.walls[0].velocity = (0, 0, 0.1 * rank)
    refused(lambda: moved.run(3), "walls.w.velocity, got [0.0, 0.0, 0.0] on rank 0 and [0.0, 0.0, 0.1] on rank 1")
    pulled = tray(LINEAR, 5, WORLD)
    pulled.gravity = (0, 0, -9.0 - rank)
    refused(lambda: pulled.run(3), "gravity, got [0.0, 0.0, -9.0] on rank 0 and [0.0, 0.0, -10.0] on rank 1")


if __name__ == "__main__":
    made = {case.__name__: case for case in (spheres, storm, walls, shapes, feeding, unequal, redivided, messages)}
    compared: dict[str, Callable[[], None]] = {name: partial(compare, case) for name, case in made.items()}
    main({**compared, "validation": validation, "restart": restart, "disagree": disagree, "settings": settings})
