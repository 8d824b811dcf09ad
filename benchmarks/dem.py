"""Grains: particle-steps per second of vicinal and, if installed, LAMMPS and LIGGGHTS.

    python benchmarks/dem.py [CASE ...] [--data FOLDER] [--spheres 10000 50000]

- box: settled spheres, linear springs with tangential history.
- history: the same with and without tangential springs.
- threads: the same on one thread and on `--threads`, in wall time.
- tablets: settled tablets and as many settled spheres, without peers.
- polyhedra: settled bricks and as many settled spheres, without peers. Start positions are kept in the folder for
  temporary files, so that two builds measured one after the other run the same case.
- clumps: settled clumps of five spheres, beside LIGGGHTS, which pours them once.
- memory: the largest resident memory of a process with a million spheres (`--million`), after a few steps.
- impact, drum: two cases of the open benchmark of Dosta et al. (Comput. Phys. Commun. 296 (2024) 109066), Hertz and
  Mindlin, walls of triangles. Its coordinates are not part of this repository: `--data` is a folder with pen*.txt and
  drum*.txt (rows x y z r) and pen*.stl and drum*.stl.

All programs have the same law, time step and start, and thus the same number of contacts. Runs alternate; the best time
counts. Steps are measured in CPU seconds of one thread, without start-up and reading input.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time

import dem_cases as cases
import dem_clumps as clumps
import dem_peers as peers
import vicinal

WARM = 10


def speed_of(make, steps, clock=time.process_time):
    """Return million particle-steps per second, and the figures of the simulation afterwards."""
    sim = make()
    sim.run(WARM)
    start = clock()
    sim.run(steps)
    seconds = clock() - start
    return len(sim) * steps / seconds / 1e6, sim.stats


def compare(title, contestants, repeats):
    """Print the best speed of each, measured in turn, and return them."""
    best: dict[str, float] = {}
    for _ in range(repeats):
        for name, measure in contestants.items():
            best[name] = max(measure(), best.get(name, 0.0))
    print(f"{title}: " + ", ".join(f"{name} {value:.2f}" for name, value in best.items()), flush=True)
    return best


def beside_peers(title, make, script, spheres, dt, given):
    """Measure vicinal and each installed program; `script(name)` is the input of a program."""

    def ours():
        return speed_of(make, given.steps)[0]

    _, figures = speed_of(make, given.steps)
    per_body = figures.contacts / figures.bodies
    contestants = {"vicinal": ours}
    for name in peers.installed():
        contestants[name] = lambda name=name: peers.speed(name, script(name), spheres, dt, given.steps)
    best = compare(f"{title} ({per_body:.2f} contacts per body)", contestants, given.repeats)
    if len(best) > 1:
        fastest = max(value for name, value in best.items() if name != "vicinal")
        print(f"  {best['vicinal'] / fastest:.2f} times the faster of the others")


def run_box(given):
    for n in given.spheres:
        points, edge = cases.settled(n)
        make = lambda points=points, edge=edge: cases.box(points, edge)  # noqa: E731
        script = lambda name, edge=edge: peers.box_script(name, edge)  # noqa: E731
        beside_peers(f"box, {n} spheres", make, script, peers.box_spheres(points, edge), cases.DT, given)


def run_history(given):
    for n in given.spheres:
        points, edge = cases.settled(n)
        contestants = {
            "with": lambda points=points, edge=edge: speed_of(lambda: cases.box(points, edge), given.steps)[0],
            "without": lambda points=points, edge=edge: speed_of(
                lambda: cases.box(points, edge, history=False, material=cases.WITHOUT), given.steps
            )[0],
        }
        best = compare(f"history, {n} spheres", contestants, given.repeats)
        print(f"  it costs {best['without'] / best['with']:.2f} times as much")


def run_threads(given):
    for n in given.spheres:
        points, edge = cases.settled(n)

        def measure(threads, points=points, edge=edge):
            with vicinal.threads(threads):
                return speed_of(lambda: cases.box(points, edge), given.steps, time.perf_counter)[0]

        counts = {f"{k} threads": lambda k=k: measure(k) for k in (1, given.threads)}
        best = compare(f"threads, {n} spheres, wall time", counts, given.repeats)
        alone, together = best.values()
        print(f"  {together / alone:.2f} times as fast")


def run_tablets(given):
    beside_spheres("tablets", cases.TABLET, given.tablets, given)


def run_polyhedra(given):
    beside_spheres("polyhedra", cases.BRICK, given.polyhedra, given)


def beside_spheres(kind, shape, n, given):
    """Measure bodies of a shape, and the same number of spheres."""
    starts = {"spheres": cases.shallow(n), kind: cases.shallow(n, shape)}

    def make(name):
        points, edge, turned = starts[name]
        return cases.box(points, edge, shape=shape if name == kind else None, orientations=turned)

    contacts = {}

    def measure(name):
        speed, figures = speed_of(lambda: make(name), given.steps)
        contacts[name] = figures.contacts / n
        return speed

    best = compare(f"{kind}, {n}", {name: lambda name=name: measure(name) for name in starts}, given.repeats)
    counts = ", ".join(f"{value:.2f} contacts per body of {name}" for name, value in contacts.items())
    print(f"  {kind} cost {best['spheres'] / best[kind]:.2f} times as much; {counts}")


def run_clumps(given):
    if not clumps.installed():
        return print("clumps: LIGGGHTS is needed for the start")
    n, contacts = given.clumps, []

    def ours():
        speed, figures = speed_of(lambda: clumps.simulation(n), given.steps)
        contacts.append(figures.contacts / n)
        return speed

    contestants = {"vicinal": ours, "LIGGGHTS": lambda: clumps.speed(n, given.steps)}
    best = compare(f"clumps of 5 spheres, {n}", contestants, given.repeats)
    ratio = best["vicinal"] / best["LIGGGHTS"]
    return print(f"  {ratio:.2f} times LIGGGHTS; {contacts[-1]:.2f} contacts per clump")


def run_memory(given):
    """Measure in a separate process, since a process does not return all memory to the system."""
    subprocess.run([sys.executable, __file__, "--measure-memory", str(given.million)], check=True)


def measure_memory(n):
    points, edge = cases.tiles(n)
    sim = cases.box(points, edge)
    del points
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sim.run(3)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    contacts = sim.stats.contacts / n
    print(
        f"memory, {n} spheres ({contacts:.2f} contacts per body): {peak / 1e6:.2f} GB, {before / 1e6:.2f} before steps"
    )


def _with_walls(case, given):
    if given.data is None:
        return print(f"{case}: pass --data with the coordinates")
    begin, dt = cases.start(given.data, case), cases.STEPS[case]
    if case == "impact":
        begin = cases.about_to_hit(begin)
    script = lambda name: peers.steel_script(name, begin, dt)  # noqa: E731
    title = f"{case}, {len(begin.points)} spheres"
    return beside_peers(title, lambda: cases.simulation(begin, dt), script, peers.steel_spheres(begin), dt, given)


def run_impact(given):
    _with_walls("impact", given)


def run_drum(given):
    _with_walls("drum", given)


RUNS = {
    "box": run_box,
    "history": run_history,
    "threads": run_threads,
    "tablets": run_tablets,
    "polyhedra": run_polyhedra,
    "clumps": run_clumps,
    "memory": run_memory,
    "impact": run_impact,
    "drum": run_drum,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", choices=[*RUNS, []], default=[], help="all if none is given")
    parser.add_argument("--data", help="folder with the coordinates of impact and drum")
    parser.add_argument("--spheres", type=int, nargs="+", default=[10_000])
    parser.add_argument("--tablets", type=int, default=1000)
    parser.add_argument("--polyhedra", type=int, default=500)
    parser.add_argument("--clumps", type=int, default=1000)
    parser.add_argument("--million", type=int, default=1_000_000)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--measure-memory", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    vicinal.set_threads(1)
    if given.measure_memory:
        return measure_memory(given.measure_memory)
    print(f"million particle-steps per CPU second, best of {given.repeats}, {given.steps} steps")
    for name in given.cases or RUNS:
        RUNS[name](given)
    return None


if __name__ == "__main__":
    main()
