"""
The cost of output: CPU milliseconds per frame of the time series, per line of the table and per restart file.

    python benchmarks/output.py [--bodies 100,1000,10000] [--frames 200]
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import process_time

import vicinal
from vicinal import sim
from vicinal.sim.output import PictureWriter
from vicinal.sim.restart import save_restart
from vicinal.sim.run import make_solver
from vicinal.sim.table import Table


def box(bodies: int) -> sim.Scene:
    """Return a scene of beads in a box of six walls."""
    edge = 0.006 * (bodies / 0.3) ** (1 / 3)
    glass = {"youngs_modulus": 1e6, "poisson_ratio": 0.25, "density": 2500, "restitution": 0.6, "friction": 0.4}
    return sim.Scene(
        run={"duration": 1.0, "threads": 1},
        regions={"air": {"shape": "box", "low": [0, 0, 0], "high": [edge, edge, edge]}},
        walls=[{"shape": "box", "low": [0, 0, 0], "high": [edge, edge, 2 * edge], "material": "glass"}],
        dem={
            "materials": {"glass": glass},
            "bodies": {"bead": {"material": "glass", "radius": 0.003}},
            "insert": [{"bodies": "bead", "region": "air", "count": bodies}],
        },
    )


def milliseconds(times: int, action: Callable[[], object]) -> float:
    """Return the CPU time of an action, the mean of several."""
    begin = process_time()
    for _ in range(times):
        action()
    return (process_time() - begin) / times * 1e3


def measured(bodies: int, count: int) -> list[float]:
    """Return the times of a frame, the first frame, joining frames, a line of the table, and a restart file."""
    solver = make_solver(box(bodies))
    solver.advance(1.0, 1000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        frames, moments = PictureWriter(folder), itertools.count()

        def append() -> None:
            time = float(next(moments))  # frames of the same time would be pieces of one step
            frames.append({name: replace(frame, time=time) for name, frame in solver.frames().items()})

        first = milliseconds(1, append)
        each = milliseconds(count, append)
        join = milliseconds(1, frames.close)
        table = Table(folder / "table.csv", solver.columns)
        line = milliseconds(count, lambda: table.append(0, 0.0, solver.row()))
        restart = milliseconds(5, lambda: save_restart(folder / "restart.npz", "", {"dem": solver.state()}))
    return [each, first, join, line, restart]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bodies", default="100,1000,10000")
    parser.add_argument("--frames", type=int, default=200)
    options = parser.parse_args()
    print("CPU ms            frame    first     join     line  restart")
    with vicinal.threads(1):
        for bodies in map(int, options.bodies.split(",")):
            values = measured(bodies, options.frames)
            print(f"{bodies:>9} bodies" + "".join(f"{value:>9.2f}" for value in values), flush=True)


if __name__ == "__main__":
    main()
