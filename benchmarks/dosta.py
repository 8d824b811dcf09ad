"""Impact and drum of the published benchmark of DEM codes: Dosta et al., Comput. Phys. Commun. 296 (2024) 109066.

    python benchmarks/dosta.py run DATA impact -o impact.json             # 0.1 s, as published: minutes
    python benchmarks/dosta.py run DATA impact --from-height -0.0445      # without the flight before the impact
    python benchmarks/dosta.py run DATA drum --time 0.5 --soften 50 --dt 5e-6 -o drum.json
    python benchmarks/dosta.py run DATA drum --code LIGGGHTS ... -o drum_liggghts.json
    python benchmarks/dosta.py table impact.json ... ; python benchmarks/dosta.py draw picture.png impact.json ...

DATA is a folder with the starting positions of the benchmark (pen*.txt and drum*.txt, columns x y z r) and its walls
(pen*.stl, drum*.stl). As in the paper, the comparison is of the height of the ball over time, and of the number of
grains of each kind in two quadrants of the drum. `--soften` divides the moduli, which permits longer steps. Other codes
(dem_peers.py) get the same input; the walls of LAMMPS are planes and a smooth cylinder.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

import dem_cases as cases
import dem_peers as peers
import vicinal

SAMPLES = {"impact": 5e-4, "drum": 1e-2}
TIMES = {"impact": 0.1, "drum": 5.0}


def observe(begin: cases.Start, points: np.ndarray) -> list[float]:
    """Return the height of the ball, or the numbers of grains of both kinds in two quadrants."""
    if begin.case == "impact":
        return [float(points[-1, 2])]
    right = (points[:, 0] > 0) & (points[:, 2] < 0)
    left = (points[:, 0] < 0) & (points[:, 2] > 0)
    return [int((zone & (begin.kinds == kind)).sum()) for zone in (right, left) for kind in (0, 1)]


def run_vicinal(begin: cases.Start, dt: float, soften: float, steps: int, every: int) -> tuple[list, float]:
    """Return rows (step, observables), and the CPU seconds."""
    sim = cases.simulation(begin, dt, soften)
    rows = [[0, *observe(begin, begin.points)]]
    began = time.process_time()
    while rows[-1][0] < steps:
        sim.run(min(every, steps - rows[-1][0]))
        rows.append([sim.step_count, *observe(begin, sim.positions)])
        print(f"t {rows[-1][0] * dt:.4f} s: {rows[-1][1:]}", file=sys.stderr, flush=True)
    return rows, time.process_time() - began


def run_peer(code: str, begin: cases.Start, dt: float, soften: float, steps: int, every: int) -> tuple[list, float]:
    """The same with another code."""
    if code not in peers.installed():
        raise SystemExit(f"{code} is not installed")
    group = "steel" if begin.case == "impact" else "all"
    script, spheres = peers.steel_script(code, begin, dt, soften), peers.steel_spheres(begin)
    frames, seconds = peers.places(code, script, spheres, dt, steps, every, group)
    return [[step, *observe(begin, points)] for step, points in frames], seconds


def table(results: list[dict]) -> None:
    """Print the values of all results at their common times."""
    print("| t (ms) | " + " | ".join(f"{r['code']}, dt {r['dt']:g}, moduli / {r['soften']:g}" for r in results) + " |")
    print("|---" * (1 + len(results)) + "|")
    scale = 1000.0 if results[0]["case"] == "impact" else 1.0
    known = [{round(1e6 * row[0]): row[1:] for row in result["rows"]} for result in results]
    for moment in sorted(set.intersection(*map(set, known))):
        cells = [" ".join(f"{scale * value:.5g}" for value in rows[moment]) for rows in known]
        print(f"| {moment / 1e3:.1f} | " + " | ".join(cells) + " |")


def draw(path: Path, results: list[dict]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4))
    for k, result in enumerate(results):
        rows = np.array(result["rows"])
        style = {"color": f"C{k}", "linestyle": "none" if k else "-", "marker": ["", *"x+o"][k % 4], "markersize": 4}
        if result["case"] == "impact":
            axes.plot(1e3 * rows[:, 0], 1e3 * rows[:, 1], label=result["code"], **style)
            axes.set(xlabel="time (ms)", ylabel="height of the ball's centre (mm)")
            continue
        zones = (
            (1, "small, lower right"),
            (2, "large, lower right"),
            (3, "small, upper left"),
            (4, "large, upper left"),
        )
        for (column, what), line in zip(zones, ("-", "--", "-.", ":"), strict=True):
            axes.plot(rows[:, 0], rows[:, column], label=f"{result['code']}: {what}", **(style | {"linestyle": line}))
        axes.set(xlabel="time (s)", ylabel="grains in the quadrant")
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=100)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run")
    run.add_argument("data", type=Path)
    run.add_argument("case", choices=list(TIMES))
    run.add_argument("--code", choices=["vicinal", *peers.PROGRAMS], default="vicinal")
    run.add_argument("--time", type=float, help="end of the simulation; 0.1 s (impact) and 5 s (drum) are published")
    run.add_argument("--dt", type=float, help="5e-7 s (impact) and 8e-7 s (drum) are published")
    run.add_argument("--soften", type=float, default=1.0)
    run.add_argument("--from-height", type=float, help="height of the ball at the start")
    run.add_argument("--threads", type=int, default=1)
    run.add_argument("-o", "--out", type=Path)
    for name in ("table", "draw"):
        command = commands.add_parser(name)
        if name == "draw":
            command.add_argument("picture", type=Path)
        command.add_argument("results", type=Path, nargs="+")
    given = parser.parse_args()
    if given.command != "run":
        results = [json.loads(path.read_text()) for path in given.results]
        table(results) if given.command == "table" else draw(given.picture, results)
        return
    vicinal.set_threads(given.threads)
    begin, since = cases.start(given.data, given.case), 0.0
    if given.from_height is not None:
        begin, since = cases.lowered(begin, given.from_height)
    dt, duration = given.dt or cases.STEPS[given.case], given.time or TIMES[given.case]
    run_it = run_vicinal if given.code == "vicinal" else lambda *args: run_peer(given.code, *args)
    steps, every = round((duration - since) / dt), round(SAMPLES[given.case] / dt)
    rows, seconds = run_it(begin, dt, given.soften, steps, every)
    result = {"case": given.case, "code": given.code, "dt": dt, "soften": given.soften}
    result |= {"seconds": seconds, "rows": [[since + row[0] * dt, *row[1:]] for row in rows]}
    if given.out:
        given.out.write_text(json.dumps(result))
    speed = len(begin.points) * steps / seconds / 1e6
    print(f"{given.case}, {given.code}: {seconds:.0f} s, {speed:.1f} million particle-steps per second")


if __name__ == "__main__":
    main()
