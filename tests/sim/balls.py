"""A minimal second solver: balls thrown upwards, with steps that depend on their speed."""

from dataclasses import dataclass

import numpy as np

from vicinal.sim.clock import reached
from vicinal.sim.schema import key
from vicinal.sim.solver import SolverSection
from vicinal.sim.values import POSITIVE, Whole
from vicinal.sim.vtkhdf import Frame, vertices


@dataclass(frozen=True, kw_only=True)
class Balls(SolverSection):
    count: int = key(Whole(1, 100))
    speed: float = key(POSITIVE)


class BallSolver:
    NAME = "dem"
    SECTION = Balls

    def __init__(self, scene, time, steps, state):
        self.gravity = np.array(scene.gravity)
        self.time, self.step_count, self.balls = time, steps, state

    @classmethod
    def build(cls, scene, comm=None):
        balls = np.zeros((scene.dem.count, 6))
        balls[:, 5] = scene.dem.speed
        return cls(scene, 0.0, 0, balls)

    @classmethod
    def restore(cls, scene, state, comm=None):
        return cls(scene, state["time"], state["steps"], state["balls"])

    def state(self):
        return {"time": self.time, "steps": self.step_count, "balls": self.balls.copy()}

    def __len__(self):
        return len(self.balls)

    def advance(self, until, steps):
        for _ in range(steps):
            if reached(self.time, until):
                return
            dt = 1e-3 / (1 + abs(self.balls[0, 5]))
            self.balls[:, 3:] += dt * self.gravity
            self.balls[:, :3] += dt * self.balls[:, 3:]
            self.time += dt
            self.step_count += 1

    columns = ("height",)

    def row(self):
        return [float(self.balls[:, 2].mean())]

    def frames(self):
        return {"balls.vtkhdf": Frame(self.time, self.balls[:, :3], vertices(len(self)))}

    def status(self):
        return f"{self.balls[0, 2]:.3g} m high"

    def summary(self):
        return [f"{len(self)} balls"]

    def report(self):
        return {"balls": len(self)}


SOLVER = BallSolver
