"""Steps of a fluid and of the bodies in it: the fluid moves around the bodies, and pushes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal._check import check_integer
from vicinal.coupled.immersed import ImmersedBodies
from vicinal.dem import Simulation as Grains
from vicinal.dem.rotations import product
from vicinal.errors import InputError
from vicinal.sim.clock import check_end
from vicinal.sph import Artificial
from vicinal.sph import Simulation as Fluid
from vicinal.sph.checks import check_time

Array = npt.NDArray[np.float64]

MEMORY = 4.0
"""Time over which accelerations of bodies are averaged, in times in which sound crosses a smoothing length.

The pressure at the surface of a body depends on its acceleration, and this on the pressure. Taken from the last step
alone, it would oscillate for bodies lighter than the fluid that they carry along."""


class Coupling:
    """Bodies of `vicinal.dem` in a fluid of `vicinal.sph`, which exchange momentum.

    In a step of the fluid, wall particles inside the bodies are where these will be in the middle of the step, with
    the pressure of the fluid around them (Adami et al. 2012). What they do to the fluid acts on the bodies with the
    opposite sign: half of it before, half of it after the steps of the bodies, of which there are as many as the
    contacts need.

    Parameters
    ----------
    grains
        The bodies.
    fluid
        The fluid. It must not overlap with the bodies. Ranks may share it; then each has all of the bodies, and all
        ranks call every method together.
    slip
        Whether fluid slips along bodies freely; by default with artificial viscosity, as along walls.
    advance_grains
        Takes a number of steps of the grains, ``grains.run`` by default; for feeders and walls with a timetable.
    state
        The `state` to continue from; grains and fluid must have been restored.

    Examples
    --------
    A ball as heavy as the fluid around it is pushed by a stream:

    >>> from vicinal.dem import Material
    >>> from vicinal.sph.fill import fill
    >>> water = fill(((0, 0, 0), (1, 1, 1)), 0.1)
    >>> water = water[np.linalg.norm(water - 0.5, axis=1) > 0.25]
    >>> fluid = Fluid(water, spacing=0.1, sound_speed=10.0, velocities=np.full(water.shape, [1.0, 0, 0]), box=(1, 1, 1))
    >>> glass = Material(density=1000, kn=1e5)
    >>> options = {"law": "linear", "gravity": (0, 0, 0), "box": (1, 1, 1), "dt": 1e-3}
    >>> grains = Grains(materials={"glass": glass}, **options)
    >>> grains.insert([[0.5, 0.5, 0.5]], radii=0.2)
    array([0])
    >>> coupling = Coupling(grains, fluid)
    >>> coupling.run_until(0.1)
    >>> bool(0.1 < grains.velocities[0, 0] < 1)
    True
    """

    def __init__(
        self,
        grains: Grains,
        fluid: Fluid,
        *,
        slip: bool | None = None,
        advance_grains: Callable[[int], None] | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        for name, given, kind in (("grains", grains, Grains), ("fluid", fluid, Fluid)):
            if not isinstance(given, kind):
                package = "dem" if kind is Grains else "sph"
                raise InputError(f"{name} must be a Simulation of vicinal.{package}, got {type(given).__name__}")
        self.grains, self.fluid = grains, fluid
        if fluid.scheme != "delta" or len(fluid.phases) > 1:
            phases = "1 phase" if len(fluid.phases) == 1 else f"{len(fluid.phases)} phases"
            found = f"scheme {fluid.scheme!r} and {phases}"
            raise InputError(f'fluid must have the scheme "delta" and one phase to carry bodies, got {found}')
        if grains.ranks > 1:
            raise InputError(
                f"every rank must have all grains in a fluid, got grains that {grains.ranks} ranks share; leave out "
                "comm for the grains, and give it to the fluid"
            )
        if fluid.box != tuple(edge or None for edge in grains.box[: fluid.dim]):
            raise InputError(f"grains and fluid must have the same periodic box, got {grains.box} and {fluid.box}")
        self.slip = isinstance(fluid.viscosity, Artificial) if slip is None else slip
        self._advance = grains.run if advance_grains is None else advance_grains
        layers = math.ceil(fluid.kernel.support / fluid.spacing - 1e-9)
        self.bodies = ImmersedBodies(fluid.spacing, layers, fluid.dim)
        self.longest_step = grains.dt
        """Longest step of the grains, which divides steps of the fluid."""
        self._rates = np.zeros((0, 6))  # averaged accelerations and angular accelerations
        self._loads = np.zeros((0, 6))
        if state is None:
            self._follow()
        else:
            self.bodies.restore(state["bodies"])
            self.longest_step = float(state["longest"])
            self._rates, self._loads = (np.array(state[name], np.float64).reshape(-1, 6) for name in ("rates", "loads"))
            self._set_bodies()
        self._place(0.0)

    @property
    def time(self) -> float:
        """Simulated time."""
        return self.fluid.time

    @property
    def loads(self) -> Array:
        """Force and torque (about the centre of mass) of the fluid on every body in the last step, shape (n, 6)."""
        return self._loads.copy()

    def run(self, steps: int) -> None:
        """Take a number of steps of the fluid."""
        self.fluid.check_same(steps=steps)
        self.advance(math.inf, check_integer(steps, "steps", least=0, most=2**62))

    def run_until(self, time: float) -> None:
        """Take steps until a time, at which the last one ends."""
        self.fluid.check_same(time=time)
        end = check_end(check_time(time), self.time)
        with self.fluid.ending_at(end):
            self.advance(end, 2**62)

    def advance(self, until: float, steps: int) -> None:
        """Take steps until a time is reached, but at most so many."""
        self._follow()
        for _ in range(steps):
            if self.time >= until:
                return
            self._step()

    def _follow(self) -> None:
        """Give the fluid the bodies that there are now."""
        old = self.bodies.ids
        if not self.bodies.follow(self.grains):
            return
        self._rates, self._loads = (_carried(rows, old, self.bodies.ids) for rows in (self._rates, self._loads))
        self._set_bodies()

    def _set_bodies(self) -> None:
        bodies = self.bodies
        self.fluid.set_bodies(len(bodies.ids), bodies.arms, bodies.normals, bodies.rows(), slip=self.slip)

    def _place(self, ahead: float) -> None:
        """Place the bodies in the fluid where they will be after some time."""
        grains = self.grains
        if not len(grains):
            return
        velocities, spins, turn = grains.velocities, grains.spins, grains.orientations
        turn = turn + 0.5 * ahead * product(np.column_stack([np.zeros(len(turn)), spins]), turn)
        turn /= np.linalg.norm(turn, axis=1, keepdims=True)
        centres = grains.positions + ahead * velocities
        soon = np.hstack([velocities, spins]) + ahead * self._rates
        self.fluid.place_bodies(np.hstack([centres, turn, soon, self._rates]))

    def _step(self) -> None:
        fluid, grains = self.fluid, self.grains
        dt = fluid.dt
        self._place(0.5 * dt)
        fluid.advance(math.inf, 1)
        self._loads = fluid.body_loads() * self.bodies.depths[:, None]
        before = self._motions()
        self._push(0.5 * dt)
        count = max(1, math.ceil(dt / self.longest_step * (1 - 1e-9)))
        grains.dt = dt / count
        self._advance(count)
        old = self.bodies.ids
        self._follow()
        self._push(0.5 * dt)
        share = dt / (MEMORY * fluid.kernel.length / fluid.sound_speed + dt)
        now = self._motions()
        change = now - _carried(before, old, self.bodies.ids, now)
        self._rates += share * (change / dt - self._rates)

    def _motions(self) -> Array:
        return np.hstack([self.grains.velocities, self.grains.spins])

    def _push(self, time: float) -> None:
        """Let the loads of the fluid act on the bodies for some time."""
        grains = self.grains
        if not len(grains):
            return
        grains.push(time * self._loads[:, :3], time * self._loads[:, 3:])
        if self.fluid.dim == 2:  # rounding must not carry them out of the plane
            grains.velocities = grains.velocities * [1.0, 1.0, 0.0]
            grains.spins = grains.spins * [0.0, 0.0, 1.0]

    def state(self) -> dict[str, Any]:
        """Return what another coupling of restored grains and fluid needs to continue bit for bit."""
        return {
            "bodies": self.bodies.state(),
            "longest": self.longest_step,
            "rates": self._rates,
            "loads": self._loads,
        }


def _carried(
    rows: Array, old: npt.NDArray[np.int64], new: npt.NDArray[np.int64], default: Array | None = None
) -> Array:
    """Return the rows of bodies that are still there in the order of the new ids; others are 0 or have a default."""
    made = np.zeros((len(new), rows.shape[1])) if default is None else default.copy()
    stay = np.isin(new, old)
    made[stay] = rows[np.searchsorted(old, new[stay])]
    return made
