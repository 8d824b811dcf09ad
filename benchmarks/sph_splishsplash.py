"""SPlisHSPlasH and vicinal on the same fluid by DFSPH, for benchmarks/sph.py --splishsplash.

SPlisHSPlasH (pip install pysplishsplash; on Debian LD_PRELOAD=libGLdispatch.so.0) has the same cubic spline, the same
tolerances and the same limit of steps: 0.4 of the time in which a particle crosses a spacing. Its walls are one layer
of particles after Akinci et al., those of vicinal are two layers. The two programs take turns in one process on one
thread, in CPU time.
"""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = "1"  # read by SPlisHSPlasH when it is imported

import numpy as np
import pysplishsplash

import vicinal as vc

WARM_UP = 40
"""Steps until the fluid flows."""

BOX = """v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1
f 1 2 3\nf 1 3 4\nf 5 7 6\nf 5 8 7\nf 1 6 2\nf 1 5 6\nf 4 3 7\nf 4 7 8\nf 1 4 8\nf 1 8 5\nf 2 6 7\nf 2 7 3\n"""


def scene_of(sim, size, folder):
    """Write the scene of a block of fluid in a closed box that begins at 0; return its file."""
    (folder / "box.obj").write_text(BOX)
    half = sim.spacing / 2
    low, high = sim.positions.min(axis=0), sim.positions.max(axis=0)
    scene = {
        "Configuration": {
            "particleRadius": half,
            "simulationMethod": 4,  # DFSPH
            "gravitation": sim.gravity.tolist(),
            "cflMethod": 1,
            "cflFactor": 1.0,  # of 0.4 spacings
            "cflMaxTimeStepSize": 0.005,
            "boundaryHandlingMethod": 0,  # particles
            "stopAt": 1e9,
        },
        # The first particle is a spacing from where the block starts, the last one a spacing from where it ends.
        "FluidBlocks": [
            {
                "denseMode": 0,
                "start": (low - sim.spacing).tolist(),
                "end": (high + sim.spacing).tolist(),
                "translation": [0, 0, 0],
                "scale": [1, 1, 1],
            }
        ],
        # Its wall particles lie on the box, a spacing from the fluid: half a spacing behind the wall.
        "RigidBodies": [
            {
                "geometryFile": str(folder / "box.obj"),
                "scale": [edge + sim.spacing for edge in size],
                "translation": [-half] * 3,
                "rotationAxis": [1, 0, 0],
                "rotationAngle": 0,
                "isDynamic": False,
                "isWall": True,
            }
        ],
    }
    file = folder / "scene.json"
    file.write_text(json.dumps(scene))
    return file


class Turns:
    """What both programs need for their steps, measured in turns whenever SPlisHSPlasH has taken its share."""

    def __init__(self, sim, base, steps, rounds):
        self.sim, self.base, self.steps, self.rounds = sim, base, steps, rounds
        self.taken = 0
        self.begin = self.peer_time = 0.0
        self.rows = []

    def after_step(self):
        """Count a step of SPlisHSPlasH; it calls this after each one."""
        solver = pysplishsplash.Simulation.getCurrent().getTimeStep()
        now = pysplishsplash.TimeManager.getCurrent().getTime()
        self.taken += 1
        if self.taken == 1:  # in percent; there is no key of the scene for them
            solver.setValueFloat(solver.MAX_ERROR, 0.1)
            solver.setValueFloat(solver.MAX_ERROR_V, 0.1)
        if self.taken < WARM_UP:
            return
        if self.taken > WARM_UP and (self.taken - WARM_UP) % self.steps == 0:
            theirs = (time.process_time() - self.begin, now - self.peer_time)
            begin, flow = time.process_time(), self.sim.time
            self.sim.run(self.steps)
            self.rows.append((*theirs, time.process_time() - begin, self.sim.time - flow))
            if len(self.rows) == self.rounds:
                self.base.setValueFloat(self.base.STOP_AT, now)
        if (self.taken - WARM_UP) % self.steps == 0:
            self.begin, self.peer_time = time.process_time(), now


def compare(sim, size, steps, rounds):
    """Let both take `rounds` times so many steps; print what they need."""
    with vc.threads(1), tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        file = scene_of(sim, size, folder)
        sim.run(WARM_UP)
        base = pysplishsplash.Exec.SimulatorBase()
        options = {"useGui": False, "initialPause": False, "useCache": False, "outputDir": str(folder / "out")}
        base.init(sceneFile=str(file), stopAt=1e9, **options)
        turns = Turns(sim, base, steps, rounds)
        base.setTimeStepCB(turns.after_step)
        base.initSimulation()
        # Not base.step(): only this one makes the boundary first, without which a step crashes.
        base.runSimulation()
        turns.sim = None  # SPlisHSPlasH keeps `turns` until Python has ended, and nanobind would call that a leak
        peer = pysplishsplash.Simulation.getCurrent().getFluidModel(0).numActiveParticles()
        if peer != len(sim):
            raise RuntimeError(f"SPlisHSPlasH has {peer} particles, vicinal {len(sim)}")
        rows = np.array(turns.rows)
        rates = len(sim) * steps / rows[:, [0, 2]] / 1e6
        flow = rows[:, [1, 3]] / rows[:, [0, 2]]
        print(
            f"{len(sim)} particles, {rounds} rounds of {steps} steps in turns, medians:\n"
            f"million particle-steps per CPU second: vicinal {np.median(rates[:, 1]):.3f}, "
            f"SPlisHSPlasH {np.median(rates[:, 0]):.3f}, ratio {np.median(rates[:, 1] / rates[:, 0]):.2f}\n"
            f"seconds of the flow per CPU second: vicinal {np.median(flow[:, 1]):.4f}, "
            f"SPlisHSPlasH {np.median(flow[:, 0]):.4f}, ratio {np.median(flow[:, 1] / flow[:, 0]):.2f}"
        )
