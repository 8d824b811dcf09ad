"""
A billion grains on paper: what one machine can measure, and what follows for many.

Measured here: seconds per body and step and bytes per body of settled spheres (dem_cases.py), ghosts per own body in
the same packing, and the latency (alpha) and bandwidth (beta) of messages between two ranks (mpiexec and mpi4py). With
``lmp`` on the path, LAMMPS runs the same spheres on one and on two ranks. The rest is a model, printed with its
assumptions: it predicts the efficiency and the memory of --bodies bodies on named networks, beside what was published.
"""

from __future__ import annotations

import json
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import dem_cases as cases
from trial import begin, finish, parser

# Sent per ghost and step: the changes of velocity and spin, of four numbers each.
GHOST_BYTES = 64
# A cube of ranks has 26 neighbours.
NEIGHBORS = 26
# A ghost moves, and its contacts with own bodies are computed on both sides; own bodies have twice as many contacts.
GHOST_COST = 0.5
RANKS_PER_NODE = 64
# Published: bodies, ranks, bodies per rank.
PUBLISHED = ("Schornbaum 2009, HLRB-II", 1.14e9, 9120)


@dataclass(frozen=True)
class Network:
    """Latency of a message in seconds, bytes per second of a node, and where the two come from."""

    name: str
    alpha: float
    beta: float
    source: str = "assumed"


NETWORKS = (
    Network("InfiniBand HDR", 1.5e-6, 24e9),
    Network("Slingshot 11", 2e-6, 23e9),
    Network("100 Gbit Ethernet", 6e-6, 11e9),
    Network("10 Gbit Ethernet", 30e-6, 1.1e9),
)


@dataclass(frozen=True)
class Engine:
    """What was measured: seconds per body and step, bytes per body, bodies per volume, reach of a body, diameters 1."""

    seconds: float
    bytes: float
    density: float
    reach: float

    def ghosts(self, own: float) -> float:
        """Ghosts per own body of a cube that has neighbours on all sides."""
        edge = (own / self.density) ** (1 / 3)
        return (1 + 2 * self.reach / edge) ** 3 - 1

    def efficiency(self, own: float, ranks: float, network: Network) -> float:
        """Share of the time of a step that one rank alone would need for its own bodies."""
        work = own * self.seconds
        ghosts = self.ghosts(own) * own
        per_node = min(RANKS_PER_NODE, ranks)
        # Faces of a cube of ranks that are those of its node; the node's bandwidth is shared by all its ranks.
        outside = 1.0 if ranks <= 1 else 1 / per_node ** (1 / 3)
        sent = ghosts * GHOST_BYTES * outside * per_node / network.beta
        agreed = 2 * math.ceil(math.log2(max(ranks, 2))) * network.alpha
        return work / (work + GHOST_COST * ghosts * self.seconds + NEIGHBORS * network.alpha + sent + agreed)


def resident() -> int:
    """Bytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


def measure_engine(bodies: int, steps: int, repeats: int) -> Engine:
    """Run settled spheres on one thread."""
    points, edge = cases.tiles(bodies)
    before = resident()
    sim = cases.box(points, edge)
    sim.run(steps)
    taken = resident() - before
    least = math.inf
    for _ in range(repeats):
        start = time.process_time()
        sim.run(steps)
        least = min(least, time.process_time() - start)
    inside = np.all((points > 2) & (points < (edge - 2, edge - 2, points[:, 2].max() - 4)), axis=1)
    volume = (edge - 4) ** 2 * (points[:, 2].max() - 6)
    return Engine(least / steps / bodies, taken / bodies, inside.sum() / volume, 1.0 + sim.stats.skin)


def count_ghosts(engine: Engine) -> tuple[int, float, float]:
    """Own bodies of a cube inside the packing, its ghosts per own body counted, and those of the model."""
    points, edge = cases.tiles(10_000)
    centre = np.array([edge / 2, edge / 2, points[:, 2].max() / 2])
    half = centre.min() - 1.5 - engine.reach
    far = np.abs(points - centre).max(axis=1)
    own = int((far <= half).sum())
    return own, float((far <= half + engine.reach).sum() / own - 1), engine.ghosts(own)


def transport() -> None:
    """Print alpha and beta between ranks 0 and 1 as JSON; runs under mpiexec."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD

    def trip(size: int, times: int) -> float:
        """Seconds of one message of some bytes, the least of several series."""
        data, least = np.zeros(size, np.uint8), math.inf
        for _ in range(5):
            comm.Barrier()
            start = time.perf_counter()
            for _ in range(times):
                if comm.rank == 0:
                    comm.Send(data, 1)
                    comm.Recv(data, 1)
                else:
                    comm.Recv(data, 0)
                    comm.Send(data, 0)
            least = min(least, (time.perf_counter() - start) / times / 2)
        return least

    alpha, size = trip(8, 2000), 1 << 22
    beta = size / (trip(size, 20) - alpha)
    if comm.rank == 0:
        print(json.dumps({"alpha": alpha, "beta": beta}))


def launcher() -> str | None:
    """The mpiexec beside this Python, or that of the system."""
    return shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")


def measure_transport(mpiexec: str) -> Network:
    """Run `transport` on two ranks."""
    command = [mpiexec, "-n", "2", sys.executable, str(Path(__file__).resolve()), "--transport"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    found = json.loads(done.stdout)
    return Network("two ranks here", found["alpha"], found["beta"], "measured")


def measure_lammps(mpiexec: str, bodies: int, steps: int) -> float | None:
    """Efficiency of LAMMPS on two ranks against one, of the same spheres, by wall time; None without LAMMPS."""
    peers = import_module("dem_peers")
    program = shutil.which("lmp", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if program is None:
        return None
    points, edge = cases.tiles(bodies)
    script = peers.box_script("LAMMPS", edge) + f"timestep {cases.DT}\nthermo 1000000\nrun 10\n"
    upper = (edge, edge, points[:, 2].max() + 2)
    spheres = (points, np.full(bodies, 0.5), np.full(bodies, 6 / np.pi), np.zeros(bodies, int), 1, (0, 0, 0), upper)
    loops = {1: math.inf, 2: math.inf}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "grains.data"
        peers.write_data(data, *spheres)
        text = script.replace("{data}", str(data)) + f"run {steps}\n" * 3
        (Path(folder) / "in.case").write_text(text, encoding="utf-8")
        for ranks in loops:
            command = [mpiexec, "-n", str(ranks), program, "-in", "in.case"]
            done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=600)
            found = re.findall(r"Loop time of (\S+) on \d+ procs for (\d+) steps", done.stdout)
            loops[ranks] = min(float(seconds) for seconds, of in found if int(of) == steps)
    return loops[1] / (2 * loops[2])


def predict(engine: Engine, networks: list[Network], bodies: float) -> list[dict[str, Any]]:
    """Print and return efficiency and memory for several numbers of bodies per rank."""
    lines = []
    print(f"\n{bodies:.3g} bodies, predicted:")
    print(f"{'bodies per rank':>16} {'ranks':>8} {'ghosts/own':>11} {'TB':>6}  efficiency on")
    for own in (12_500, 125_000, 1_250_000):
        ranks = math.ceil(bodies / own)
        ghosts = engine.ghosts(own)
        terabytes = bodies * (1 + ghosts) * engine.bytes / 1e12
        reached = {network.name: engine.efficiency(own, ranks, network) for network in networks}
        told = ", ".join(f"{name} {value:.2f}" for name, value in reached.items())
        print(f"{own:16} {ranks:8} {ghosts:11.3f} {terabytes:6.2f}  {told}")
        lines.append({"own": own, "ranks": ranks, "ghosts": ghosts, "terabytes": terabytes, "efficiency": reached})
    return lines


def compare_published(engine: Engine, networks: list[Network]) -> list[dict[str, Any]]:
    """Print and return the predicted efficiency with as many bodies per rank as the published run, on more and more."""
    name, bodies, most = PUBLISHED
    own = bodies / most
    print(f"\npublished: {name}, {bodies:.3g} bodies on {most} ranks, {own:.0f} each (the paper states no efficiency)")
    print(f"predicted with {own:.0f} bodies per rank (weak scaling):")
    lines = []
    for ranks in (2, 64, 1024, most):
        reached = {network.name: engine.efficiency(own, ranks, network) for network in networks}
        print(f"{ranks:8} ranks  " + ", ".join(f"{network} {value:.2f}" for network, value in reached.items()))
        lines.append({"ranks": ranks, "efficiency": reached})
    return lines


def main() -> int:
    """Measure, predict, print and write; returns the exit code."""
    made = parser(__doc__)
    made.add_argument("--bodies", type=float, default=1e9, help="bodies to predict for")
    made.add_argument("--measured", type=int, default=160_000, help="bodies of the measured run, 10⁴ times a square")
    made.add_argument("--steps", type=int, default=50)
    made.add_argument("--transport", action="store_true", help="only measure messages; for mpiexec")
    options = made.parse_args()
    if options.transport:
        transport()
        return 0
    data = begin(options)
    engine = measure_engine(options.measured, options.steps, options.repeats)
    own, counted, modelled = count_ghosts(engine)
    print(f"grains: {engine.seconds * 1e9:.1f} ns per body and step, {engine.bytes:.0f} bytes per body", end=" ")
    print(f"({options.measured} settled spheres, one thread), {engine.density:.2f} bodies per cubed diameter")
    print(f"ghosts: {counted:.3f} per own body counted around a cube of {own}, {modelled:.3f} by the model", end=" ")
    print(f"(reach {engine.reach:.2f} diameters)")
    networks, mpiexec = list(NETWORKS), launcher()
    lammps = None
    if mpiexec is None:
        print("messages: mpiexec is not installed, so none were measured")
    else:
        here = measure_transport(mpiexec)
        print(
            f"messages: latency {here.alpha * 1e6:.1f} µs, {here.beta / 1e9:.1f} GB/s between two ranks of this machine"
        )
        lammps = measure_lammps(mpiexec, 40_000, 200)
        two = engine.efficiency(20_000, 2, here)
        print(f"two ranks here, 20 000 bodies each, by the model: efficiency at least {two:.2f}", end="")
        print("; LAMMPS: not installed" if lammps is None else f"; LAMMPS measured, 40 000: {lammps:.2f}")
        data["transport"] = {"alpha": here.alpha, "beta": here.beta}
    data["predicted"] = predict(engine, networks, options.bodies)
    data["weak"] = compare_published(engine, networks)
    print("assumptions:")
    print(f"- cubes of bodies, {NEIGHBORS} messages and one agreement of all ranks per step, nothing overlaps")
    print(f"- {GHOST_BYTES} bytes per ghost and step; a ghost costs {GHOST_COST} of a body; loads are equal")
    print(f"- {RANKS_PER_NODE} ranks per node share its network; cores of a node do not slow each other down")
    for network in networks:
        print(f"- {network.name}: {network.alpha * 1e6:g} µs, {network.beta / 1e9:g} GB/s per node ({network.source})")
    data |= {"engine": vars(engine), "ghosts": {"own": own, "counted": counted, "model": modelled}, "lammps": lammps}
    finish(options, "scale", data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
