"""Impact and drum of the published benchmark of DEM codes: Dosta et al., Comput. Phys. Commun. 296 (2024) 109066.

    python benchmarks/dosta.py run DATA impact -o impact.json            # 0.1 s, as published: minutes
    python benchmarks/dosta.py run DATA impact --from-height -0.04454722 # without the flight before the impact
    python benchmarks/dosta.py run DATA drum --time 0.5 --soften 50 --dt 5e-6 -o drum.json
    python benchmarks/dosta.py run DATA drum --code liggghts ... -o drum_liggghts.json
    python benchmarks/dosta.py table impact.json ... ; python benchmarks/dosta.py draw picture.png impact.json ...

DATA is a folder with the starting positions of the benchmark (columns x y z r) and its walls: pen25k.txt,
pen_walls.stl, drum38k.txt, drum_walls.stl. What is compared is what the paper compares: the height of the ball over
time, and how many grains of each kind are in two quadrants of the drum. `--soften` divides the moduli, for longer
steps; LIGGGHTS is looked for as `liggghts` (Debian) and gets the same input.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import vicinal
from vicinal.dem import Material, MeshWall, Simulation

# Materials and pairs as the benchmark gives them; the small grains and the bed are M1, the large grains M2.
NAMES = ("m1", "m2", "steel")
MODULI, DENSITIES, POISSON = (1e9, 0.5e9, 210e9), (2500.0, 2000.0, 7200.0), 0.2
RESTITUTION = [[0.5, 0.45, 0.4], [0.45, 0.4, 0.4], [0.4, 0.4, 0.4]]
FRICTION = [[0.3, 0.2, 0.2], [0.2, 0.4, 0.2], [0.2, 0.2, 0.2]]
GRAVITY, SPEED, SPIN = 9.81, 5.0, 2.0
SAMPLES = {"impact": 5e-4, "drum": 1e-2}
STEPS = {"impact": 5e-7, "drum": 8e-7}
TIMES = {"impact": 0.1, "drum": 5.0}


# Height of the ball (mm) over the time (ms) since it was at -44.547 mm, 20.497 ms after its start, as two other codes
# have it with a step of 1e-6 s: LAMMPS 22Jul2025 with planes for walls, LIGGGHTS 3.8 with the mesh.
FLIGHT = 20.497
PEERS = {
    "lammps": {0.5: -47.149, 1.5: -51.999, 2.5: -56.32, 3.5: -60.307, 4.5: -63.986, 5.5: -67.42, 6.5: -70.58}
    | {7.5: -73.454, 8.5: -76.094, 9.5: -78.326, 10.5: -77.616, 11.5: -75.613, 12.5: -73.619, 13.5: -71.635}
    | {30.0: -40.318},
    "liggghts": {0.5: -47.149, 1.5: -51.994, 2.5: -56.307, 3.5: -60.318, 4.5: -64.002, 5.0: -65.724, 10.5: -77.762}
    | {11.5: -75.833, 12.5: -73.914, 13.5: -72.005, 25.0: -50.757},
}


@dataclass(frozen=True)
class Case:
    name: str
    points: np.ndarray
    radii: np.ndarray
    kinds: np.ndarray
    velocities: np.ndarray
    walls: Path
    spin: float
    start: float  # time at the start


def read(folder: Path, name: str, from_height: float | None) -> Case:
    rows = np.loadtxt(folder / ("pen25k.txt" if name == "impact" else "drum38k.txt"))
    points, radii = rows[:, :3].copy(), rows[:, 3].copy()
    kinds = np.where(radii == 0.002, 1, 0)
    velocities = np.zeros_like(points)
    start = 0.0
    if name == "impact":
        ball = int(np.argmax(radii))
        kinds[ball] = 2
        velocities[ball, 2] = -SPEED
        if from_height is not None:
            speed = np.sqrt(SPEED**2 + 2 * GRAVITY * (points[ball, 2] - from_height))
            start = (speed - SPEED) / GRAVITY
            points[ball, 2], velocities[ball, 2] = from_height, -speed
    walls = folder / ("pen_walls.stl" if name == "impact" else "drum_walls.stl")
    return Case(name, points, radii, kinds, velocities, walls, SPIN if name == "drum" else 0.0, start)


def observe(case: Case, points: np.ndarray) -> list[float]:
    """The height of the ball; or grains of both kinds in the quadrants right below and left above."""
    if case.name == "impact":
        return [float(points[case.kinds == 2][0, 2])]
    right = (points[:, 0] > 0) & (points[:, 2] < 0)
    left = (points[:, 0] < 0) & (points[:, 2] > 0)
    return [int((zone & (case.kinds == kind)).sum()) for zone in (right, left) for kind in (0, 1)]


def corners(path: Path) -> np.ndarray:
    lines = (line.split() for line in path.read_text().splitlines())
    return np.array([[float(x) for x in words[1:4]] for words in lines if words and words[0] == "vertex"])


def run_vicinal(case: Case, duration: float, dt: float, soften: float) -> tuple[list[list[float]], float]:
    materials = {
        name: Material(density=density, youngs_modulus=modulus / soften, poisson_ratio=POISSON)
        for name, density, modulus in zip(NAMES, DENSITIES, MODULI, strict=True)
    }
    pairs = {
        (NAMES[a], NAMES[b]): {"restitution": RESTITUTION[a][b], "friction": FRICTION[a][b]}
        for a in range(3)
        for b in range(a, 3)
    }
    vertices = corners(case.walls)
    wall = MeshWall(
        name="walls",
        material="steel",
        vertices=vertices,
        faces=np.arange(len(vertices), dtype=np.int32).reshape(-1, 3),
        spin=(0, case.spin, 0),
    )
    sim = Simulation(materials=materials, pairs=pairs, walls=[wall], gravity=(0, 0, -GRAVITY), dt=dt)
    order = np.concatenate([np.flatnonzero(case.kinds == kind) for kind in range(3)])
    for kind in range(3):
        of = case.kinds == kind
        if of.any():
            sim.insert(case.points[of], radii=case.radii[of], material=NAMES[kind], velocities=case.velocities[of])
    rows = [[case.start, *observe(case, case.points)]]
    every, done, steps = round(SAMPLES[case.name] / dt), 0, round((duration - case.start) / dt)
    began = time.process_time()
    points = np.empty_like(case.points)
    while done < steps:
        now = min(every, steps - done)
        sim.run(now)
        done += now
        points[order] = sim.positions
        rows.append([case.start + done * dt, *observe(case, points)])
        print(f"t {rows[-1][0]:.4f} s: {rows[-1][1:]}", file=sys.stderr, flush=True)
    return rows, time.process_time() - began


LIGGGHTS = """
hard_particles yes
atom_style granular
atom_modify map array
boundary f f f
newton off
communicate single vel yes
units si
read_data grains.data
neighbor {skin} bin
neigh_modify delay 0
fix e all property/global youngsModulus peratomtype {moduli}
fix n all property/global poissonsRatio peratomtype {poisson} {poisson} {poisson}
fix r all property/global coefficientRestitution peratomtypepair 3 {restitution}
fix f all property/global coefficientFriction peratomtypepair 3 {friction}
pair_style gran model hertz tangential history
pair_coeff * *
timestep {dt}
fix gravi all gravity {gravity} vector 0.0 0.0 -1.0
fix cad all mesh/surface file walls.stl type 3
fix walls all wall/gran model hertz tangential history mesh n_meshes 1 meshes cad
{motion}
fix integr all nve/sphere
group ball type 3
thermo {every}
thermo_style custom step atoms ke cpu
thermo_modify lost ignore norm no
dump d {seen} custom {every} places.txt id x y z
dump_modify d sort id
run {steps}
"""


def run_liggghts(case: Case, duration: float, dt: float, soften: float) -> tuple[list[list[float]], float]:
    program = shutil.which("liggghts")
    if program is None:
        raise SystemExit("liggghts is not installed")
    every, steps = round(SAMPLES[case.name] / dt), round((duration - case.start) / dt)
    around = np.concatenate([corners(case.walls), case.points])
    low, high = around.min(axis=0) - 0.01, around.max(axis=0) + 0.01
    atoms = [
        f"{k + 1} {case.kinds[k] + 1} {2 * case.radii[k]:.10g} {DENSITIES[case.kinds[k]]} {x:.12g} {y:.12g} {z:.12g}"
        for k, (x, y, z) in enumerate(case.points)
    ]
    speeds = [f"{k + 1} {x:.12g} {y:.12g} {z:.12g} 0 0 0" for k, (x, y, z) in enumerate(case.velocities)]
    edges = "\n".join(f"{a:.6g} {b:.6g} {n}lo {n}hi" for a, b, n in zip(low, high, "xyz", strict=True))
    text = f"grains\n\n{len(atoms)} atoms\n3 atom types\n{edges}\n\nAtoms\n\n" + "\n".join(atoms)
    values = {
        "skin": 0.0004,
        "moduli": " ".join(f"{m / soften:.10g}" for m in MODULI),
        "poisson": POISSON,
        "restitution": " ".join(str(x) for row in RESTITUTION for x in row),
        "friction": " ".join(str(x) for row in FRICTION for x in row),
        "dt": dt,
        "gravity": GRAVITY,
        "motion": f"fix move all move/mesh mesh cad rotate origin 0 0 0 axis 0 1 0 period {2 * np.pi / case.spin:.12g}"
        if case.spin
        else "",
        "every": every,
        "steps": steps,
        "seen": "ball" if case.name == "impact" else "all",
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "grains.data").write_text(text + "\n\nVelocities\n\n" + "\n".join(speeds) + "\n")
        (folder / "in.case").write_text(LIGGGHTS.format(**values))
        shutil.copy(case.walls, folder / "walls.stl")
        began = time.time()
        done = subprocess.run([program, "-in", "in.case"], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stdout[-1000:] + done.stderr[-1000:])
        frames = (folder / "places.txt").read_text().split("ITEM: TIMESTEP\n")[1:]
    rows = []
    for frame in frames:
        lines = frame.splitlines()
        seen = np.array([[float(x) for x in line.split()] for line in lines[8:]])
        points = np.full_like(case.points, np.nan)
        points[seen[:, 0].astype(int) - 1] = seen[:, 1:]
        rows.append([case.start + int(lines[0]) * dt, *observe(case, points)])
    return rows, time.time() - began


def peers() -> list[dict]:
    """The impact as other codes have it, in the form of results."""
    return [
        {"case": "impact", "code": code, "dt": 1e-6, "soften": 1.0}
        | {"rows": [[(FLIGHT + t) / 1e3, z / 1e3] for t, z in heights.items()]}
        for code, heights in PEERS.items()
    ]


def table(results: list[dict]) -> None:
    """What every result has at the times at which the last one was noted."""
    print("| t (ms) | " + " | ".join(f"{r['code']}, dt {r['dt']:g}, moduli / {r['soften']:g}" for r in results) + " |")
    print("|---" * (1 + len(results)) + "|")
    scale = 1000.0 if results[0]["case"] == "impact" else 1.0
    moments = sorted({row[0] for result in results[1:] or results for row in result["rows"]})
    for moment in moments:
        cells = []
        for result in results:
            rows = np.array(result["rows"])
            inside = rows[0, 0] - 1e-9 <= moment <= rows[-1, 0] + 1e-9
            known = inside and (len(rows) > 25 or np.abs(rows[:, 0] - moment).min() < 1e-9)
            values = [np.interp(moment, rows[:, 0], scale * column) for column in rows[:, 1:].T]
            cells.append(" ".join(f"{value:.5g}" for value in values) if known else "")
        print(f"| {1000 * moment:.1f} | " + " | ".join(cells) + " |")


def draw(path: Path, results: list[dict]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4))
    for k, result in enumerate(results):
        rows = np.array(result["rows"])
        few = len(rows) <= 25
        style = {"color": f"C{k}", "linestyle": "none" if few else "-", "marker": "ox+"[k % 3] if few else ""}
        if result["case"] == "impact":
            axes.plot(1e3 * rows[:, 0], 1e3 * rows[:, 1], label=result["code"], **style)
            axes.set(xlabel="time (ms)", ylabel="height of the ball's centre (mm)")
            continue
        zones = (
            (1, "small, right below"),
            (2, "large, right below"),
            (3, "small, left above"),
            (4, "large, left above"),
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
    run.add_argument("case", choices=list(STEPS))
    run.add_argument("--code", choices=["vicinal", "liggghts"], default="vicinal")
    run.add_argument("--time", type=float, help="end of the simulation; 0.1 s (impact) and 5 s (drum) are published")
    run.add_argument("--dt", type=float, help="5e-7 s (impact) and 8e-7 s (drum) are published")
    run.add_argument("--soften", type=float, default=1.0)
    run.add_argument("--from-height", type=float)
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
        results += peers() if results[0]["case"] == "impact" else []
        table(results) if given.command == "table" else draw(given.picture, results)
        return
    vicinal.set_threads(given.threads)
    case = read(given.data, given.case, given.from_height)
    dt, duration = given.dt or STEPS[given.case], given.time or TIMES[given.case]
    rows, seconds = (run_vicinal if given.code == "vicinal" else run_liggghts)(case, duration, dt, given.soften)
    result = {
        "case": given.case,
        "code": given.code,
        "dt": dt,
        "soften": given.soften,
        "seconds": seconds,
        "rows": rows,
    }
    if given.out:
        given.out.write_text(json.dumps(result))
    speed = len(case.points) * (rows[-1][0] - case.start) / dt / seconds / 1e6
    print(f"{given.case}, {given.code}: {seconds:.0f} s, {speed:.1f} million particle-steps per second")


if __name__ == "__main__":
    main()
