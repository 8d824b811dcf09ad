"""Speed of DFSPH beside SPlisHSPlasH: the same particles, kernel and tolerance, one thread, in turns in one process.

    pip install pysplishsplash
    LD_PRELOAD=libGLdispatch.so.0 python benchmarks/splishsplash.py

Prints million particle-steps per CPU second, and how many seconds of the flow a CPU second gives. Without the preloaded
library, SPlisHSPlasH 2.19 crashes on Debian when it is imported.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = "1"  # read by SPlisHSPlasH when it is imported

import pysplishsplash

import vicinal as vc
from sph import dam_break_dfsph

BOX = """v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1
f 1 2 3\nf 1 3 4\nf 5 7 6\nf 5 8 7\nf 1 6 2\nf 1 5 6\nf 4 3 7\nf 4 7 8\nf 1 4 8\nf 1 8 5\nf 2 6 7\nf 2 7 3\n"""


class Peer:
    """SPlisHSPlasH with its defaults, but for the tolerances: cubic kernel, CFL steps, walls after Akinci et al."""

    def __init__(self, spacing, column, size, folder):
        (folder / "box.obj").write_text(BOX)
        scene = {
            "Configuration": {
                "particleRadius": spacing / 2,
                "simulationMethod": 4,
                "gravitation": [0, -9.81, 0],
                "cflMethod": 1,
                "cflFactor": 0.4,
                "cflMaxTimeStepSize": 0.005,
                "boundaryHandlingMethod": 0,
                "maxError": 0.1,
                "maxErrorV": 0.1,
                "stopAt": 1e9,
            },
            "FluidBlocks": [{"denseMode": 0, "start": [0, 0, 0], "end": list(column), "translation": [0, 0, 0]}],
            "RigidBodies": [
                {
                    "geometryFile": "box.obj",
                    "scale": list(size),
                    "translation": [0, 0, 0],
                    "isDynamic": False,
                    "isWall": True,
                    "mapInvert": True,
                }
            ],
        }
        file = folder / "scene.json"
        file.write_text(json.dumps(scene))
        self.base = pysplishsplash.Exec.SimulatorBase()
        self.base.init(sceneFile=str(file), useGui=False, initialPause=False, outputDir=str(folder / "out"))
        self.base.initSimulation()
        self.simulation = pysplishsplash.Simulation.getCurrent()

    def __len__(self):
        return self.simulation.getFluidModel(0).numActiveParticles()

    @property
    def time(self):
        return pysplishsplash.TimeManager.getCurrent().getTime()

    def run(self, steps):
        for _ in range(steps):
            self.simulation.getTimeStep().step()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=10, help="of each in a round")
    options = parser.parse_args()
    with vc.threads(1), tempfile.TemporaryDirectory() as folder:
        sim, column, size = dam_break_dfsph()
        peer = Peer(sim.spacing, column, size, pathlib.Path(folder))
        programs = {"vicinal": sim, "SPlisHSPlasH": peer}
        for program in programs.values():
            program.run(20)
        for _ in range(options.rounds):
            for name, program in programs.items():
                begin, before = time.process_time(), program.time
                program.run(options.steps)
                taken = time.process_time() - begin
                rate, flow = len(program) * options.steps / taken / 1e6, (program.time - before) / taken
                print(f"{name}: {len(program)} particles, {rate:.3f} million particle-steps, {flow:.4f} s of the flow")


if __name__ == "__main__":
    main()
