"""A simulation of a fluid: particles, walls and a clock."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal.distributed.agreement import agree_on
from vicinal.errors import InputError
from vicinal.sim.clock import check_end
from vicinal.sim.solver import SimulationWarning, UnstableError
from vicinal.sph import schemes
from vicinal.sph.checks import check_box, check_positive, check_time, check_vector
from vicinal.sph.faults import first_warning_of, unstable, warn_of_places, warning_of
from vicinal.sph.guard import Guard, check_guard
from vicinal.sph.interfaces import WallMotionLike, WallParticlesLike
from vicinal.sph.kept import kept_walls, options_of
from vicinal.sph.kernels import KERNELS, SmoothingKernel
from vicinal.sph.open_ends import OpenEnds
from vicinal.sph.particles import Particles
from vicinal.sph.phases import Phase, check_phases, check_tension, matched_sounds
from vicinal.sph.ranks import STEPS, FluidRanks, check_particles
from vicinal.sph.sound import find_sound
from vicinal.sph.viscosity import Artificial, Laminar, Viscosity
from vicinal.sph.walls import Walls

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

Array = npt.NDArray[np.float64]

STATES = ("linear", "tait")
PRECISIONS = ("single", "double")
SOLVED = ("density_iterations", "density_error", "divergence_iterations", "divergence_error")


class Simulation(Particles):
    """A nearly incompressible fluid with walls of dummy particles.

    Scheme "delta", δ⁺-SPH for free surfaces: density diffusion with renormalised gradients (Antuono et al. 2010) and
    particle shifting away from free surfaces (Sun et al. 2017, 2019). Scheme "edac" for flows that fill all of their
    space: pressure that follows the divergence of the velocity and is damped (Ramachandran & Puri 2019), transport
    velocity (Adami et al. 2013). Scheme "dfsph" for long steps with free surfaces: pressures that keep densities, found
    by iteration in every step (Bender & Koschier 2017). Walls after Adami et al. 2012; steps of time by position
    Verlet, as long as sound (with dfsph the flow), forces, viscosity, shifting and surface tension allow. Positions,
    velocities and densities are float64; pairs are summed in float32 relative to cells, or in float64 (`precision`).
    Results have the same bits for any number of threads and on every processor.

    Parameters
    ----------
    positions
        Positions of the fluid, shape (n, 2) or (n, 3): one particle per ``spacing**dim`` of volume, see
        `vicinal.sph.fill`.
    spacing
        Distance of neighbouring particles.
    density
        Density at rest.
    sound_speed
        Speed of sound of the model, ten times the largest speed of the flow or more. By default ten times the larger
        of the present speeds and of √(2 g H), H being the height of the fluid along gravity. With dfsph it is only the
        speed that artificial viscosity is measured in, and that no particle may reach.
    velocities, pressures
        Of each particle at the start, by default 0.
    walls
        Wall particles, see `vicinal.sph.boundary`; in as many layers as the kernel reaches.
    wall_motion
        An object whose ``at(time)`` returns positions, normals, velocities and accelerations of the wall particles.
    wall_velocities
        Velocities of walls whose particles stay in place, such as lids and belts; one row per wall.
    ends
        Where fluid enters and leaves, see `vicinal.sph.open_ends`.
    guard
        A `vicinal.sph.guard.Guard` of the walls: no particle leaves through them.
    gravity
        Acceleration of all particles.
    box
        Lengths of a periodic box that begins at 0, None for an open axis.
    viscosity
        `Artificial` or `Laminar`.
    phases
        Several fluids instead of one with `density` and `viscosity`; with the scheme "edac". The `sound_speed` is that
        of the densest one, all are equally stiff.
    phase
        Number of the phase of each particle, by default 0.
    surface_tension
        Of all interfaces between phases.
    scheme
        "delta", "edac" or "dfsph".
    kernel
        "wendland_c2", "wendland_c4", "quintic" or "cubic".
    smoothing
        Smoothing length in spacings; by default 2 in two dimensions, 1.5 with edac, and 1.6 in three.
    state
        Equation of state: "linear" or "tait".
    diffusion
        Strength δ of the diffusion of density or pressure; by default 0.1. Not with dfsph.
    shifting
        Strength of shifting, 1 as published, 0 for none. Not with dfsph.
    background
        With edac, for violent flows: a pressure, as a part of ρ c², above which sums of pressures act, such as 0.004.
        By default differences of pressures act, which are more accurate in smooth flows.
    tensile_control
        Whether particles under tension feel differences of pressure instead of sums; this prevents voids.
    courant
        Length of a step as part of the time in which sound crosses a smoothing length, and of the other limits; by
        default 0.25. With dfsph of the time in which the fastest particle crosses a spacing, by default 0.4.
    tolerance
        With dfsph, the mean compression that each of its solvers leaves in a step; by default 0.001.
    precision
        "single" or "double": of the sums over pairs.
    comm
        An mpi4py communicator whose ranks share the fluid. Every rank passes a share of the particles, and all of the
        rest; all ranks call every method and property together.

    Examples
    --------
    A column of water collapses:

    >>> import numpy as np
    >>> x, y = np.meshgrid(np.arange(0.025, 0.5, 0.05), np.arange(0.025, 1, 0.05))
    >>> water = np.column_stack([x.ravel(), y.ravel()])
    >>> sim = Simulation(water, spacing=0.05, gravity=(0, -9.81))
    >>> sim
    Simulation(200 particles, 0 in walls, t = 0)
    >>> sim.run_until(0.01)
    >>> bool(sim.velocities[:, 1].max() < -0.09), sim.limit
    (True, 'sound')
    """

    def __init__(
        self,
        positions: npt.ArrayLike,
        *,
        spacing: float,
        density: float = 1000.0,
        sound_speed: float | None = None,
        velocities: npt.ArrayLike | None = None,
        pressures: npt.ArrayLike | None = None,
        walls: WallParticlesLike | None = None,
        wall_motion: WallMotionLike | None = None,
        wall_velocities: npt.ArrayLike | None = None,
        ends: OpenEnds | None = None,
        guard: Guard | None = None,
        gravity: Sequence[float] | None = None,
        box: float | Sequence[float | None] | None = None,
        viscosity: Viscosity | None = None,
        phases: Sequence[Phase] | None = None,
        phase: npt.ArrayLike | None = None,
        surface_tension: float = 0.0,
        scheme: str = "delta",
        kernel: str = "wendland_c2",
        smoothing: float | None = None,
        state: str = "linear",
        diffusion: float | None = None,
        shifting: float | None = None,
        background: float = 0.0,
        tensile_control: bool = True,
        courant: float | None = None,
        tolerance: float | None = None,
        precision: str = "single",
        comm: Intracomm | None = None,
    ) -> None:
        agree_on(comm, locals(), per_rank=("self", "comm", "positions", "velocities", "pressures", "phase"))
        self._scheme = _check.check_choice(scheme, "scheme", schemes.SCHEMES)
        schemes.check_scheme(self._scheme, state, ends)
        places, speeds = check_particles(comm, positions, velocities)
        self._dim = places.shape[1]
        self._spacing, self._density = check_positive(spacing, "spacing"), check_positive(density, "density")
        self._viscosity = Artificial() if viscosity is None else viscosity
        if not isinstance(self._viscosity, Artificial | Laminar):
            raise InputError(f"viscosity must be Artificial(alpha) or Laminar(nu), got {viscosity!r}")
        self._several = None if phases is None else check_phases(phases, self._scheme, viscosity)
        if self._several is not None:
            self._density = max(each.density for each in self._several)
            self._viscosity = Laminar(max(each.nu for each in self._several))
        self._tension = check_tension(surface_tension, self._several)
        self._gravity = check_vector(gravity, "gravity", self._dim)
        self._smoothing = schemes.check_smoothing(smoothing, self._scheme, self._dim)
        name = _check.check_choice(kernel, "kernel", KERNELS)
        self._kernel = SmoothingKernel(name, self._smoothing * self._spacing, self._dim)
        self._state = _check.check_choice(state, "state", STATES)
        self._precision = _check.check_choice(precision, "precision", PRECISIONS)
        self._diffusion = schemes.check_strength(diffusion, "diffusion", self._scheme)
        self._shifting = schemes.check_strength(shifting, "shifting", self._scheme)
        self._background = schemes.check_background(background, self._scheme)
        self._tensile_control = _check.check_flag(tensile_control, "tensile_control")
        self._courant = schemes.check_courant(courant, self._scheme)
        self._tolerance = schemes.check_tolerance(tolerance, self._scheme)
        self._box = check_box(box, self._dim, self._kernel.support)
        self._ranks = FluidRanks(comm, self._box, self._kernel.support)
        self._walls = Walls(walls, wall_motion, wall_velocities, ends, self._dim)
        set_up = (places, [speeds, *self._walls.speeds()], self._gravity, self._spacing, self._ranks)
        self._sound = find_sound(sound_speed, *set_up, compresses=self._scheme == "delta")
        self._phases = self._several or (Phase(density=self._density, nu=self._kinematic()),)
        self._rest = np.array([each.density for each in self._phases])
        self._sounds = np.array(matched_sounds(self._rest.tolist(), self._sound))
        # A warning of one rank may be an error there.
        self._ranks.together(lambda: warn_of_places(places, walls, self._spacing, self._box, 4))
        self._core = self._make_core()
        self._append(places, speeds, pressures, phase)
        if ends is not None:
            ends.exchange(self, len(self._walls.slip))
        self._core.set_walls(*self._walls.at(0.0))
        self._ranks.divide(self._core)
        self._guard = check_guard(guard)
        self._held: Mapping[str, int] = {}  # before the state that this simulation continues from
        if guard is not None:
            self._core.set_guard(guard.core)
        self._warned = False
        self._fault: UnstableError | None = None  # after which there is nothing to continue from

    def _kinematic(self) -> float:
        return self._viscosity.kinematic(self._kernel.length, self._sound, self._dim)

    def _make_core(self) -> _core.Sph:
        laminar = isinstance(self._viscosity, Laminar)
        numbers = {
            "spacing": self._spacing,
            "smoothing_length": self._kernel.length,
            "viscosity": self._viscosity.nu if isinstance(self._viscosity, Laminar) else self._viscosity.alpha,
            "diffusion": self._diffusion,
            "shifting": self._shifting,
            "background": self._background,
            "tensile_control": float(self._tensile_control),
            "courant": self._courant,
            "tolerance": self._tolerance,
            "tension": self._tension,
        }
        vectors = {
            "gravity": self._gravity.tolist(),
            "low": [0.0] * self._dim,
            "period": self._box,
            "phase_density": self._rest.tolist(),
            "phase_sound": self._sounds.tolist(),
            "phase_viscosity": [each.density * each.nu for each in self._phases],
        }
        names = {
            "scheme": self._scheme,
            "kernel": self._kernel.name,
            "state": self._state,
            "viscosity": "laminar" if laminar else "artificial",
        }
        return _core.Sph(self._dim == 3, self._precision == "double", numbers, vectors, names)

    def __repr__(self) -> str:
        """Return the number of particles and the time."""
        return f"Simulation({len(self)} particles, {len(self._walls.slip)} in walls, t = {self.time:.6g})"

    def run(self, steps: int) -> None:
        """Take a number of steps."""
        self.check_same(steps=steps)
        self.advance(math.inf, _check.check_integer(steps, "steps", least=0, most=2**62))

    def run_until(self, time: float) -> None:
        """Take steps until a time, at which the last one ends: the last two are shortened for this.

        A run that is continued from there has other steps, and other bits, than one that was never stopped there.
        """
        self.check_same(time=time)
        end = check_end(check_time(time), self.time)
        with self.ending_at(end):
            self.advance(end, 2**62)

    @contextmanager
    def ending_at(self, time: float) -> Iterator[None]:
        """Let steps that would pass a time end there, within this context."""
        self._core.set_end(time)
        try:
            yield
        finally:
            self._core.set_end(math.inf)

    def advance(self, until: float, steps: int) -> None:
        """Take steps until a time is reached, but at most so many."""
        if self._fault is not None:
            raise self._fault
        end = self.step_count + steps
        self._warn(first_warning_of(self))
        with self._ranks.listening():
            self._steps(until, end)
        if self._walls.change:
            self._core.set_walls(*self._walls.at(self.time))
        if not self._warned:
            self._warn(warning_of(self, *self._core.unsolved()))

    def _warn(self, doubt: SimulationWarning | None) -> None:
        """Warn of what is doubtful, once."""
        if doubt is not None and not self._warned:
            self._warned = True
            warnings.warn(doubt, stacklevel=4)

    def _steps(self, until: float, end: int) -> None:
        """Take steps until a time or a step is reached."""
        ranks = self._ranks
        while self.time < until and self.step_count < end:
            if ranks.used and self.step_count >= ranks.compared + STEPS:
                ranks.balance(self._core)
                if ranks.count(int(ranks.asked)):
                    ranks.asked = False
                    raise KeyboardInterrupt
            if self._walls.change:
                self._core.prime()
                # Rates belong to the middle of a step.
                self._core.set_walls(*self._walls.at(self.time + 0.5 * self.dt))
                if self._guard is not None and self._walls.motion is not None:
                    self._walls.motion.place(self.time + self.dt)
                    self._guard.move()
                done = 1
            else:
                done = min(end - self.step_count, STEPS) if ranks.used else end - self.step_count
            if not ranks.advance(self._core, until, done):
                self._fault = unstable(self, self._core.broken())
                raise self._fault
            if self._walls.ends is not None and self._walls.ends.exchange(self, len(self._walls.slip)):
                ranks.inform(self._core)

    def set_bodies(
        self, count: int, arms: Array, normals: Array, owners: npt.NDArray[np.uint32], *, slip: bool
    ) -> None:
        """Set the wall particles of `count` rigid bodies: arms and normals, (m, 3), in the axes of their `owners`.

        All ranks have all bodies.
        """
        if self._scheme != "delta":
            raise InputError(f"a fluid with bodies must have the scheme delta, got {self._scheme!r}")
        self.check_same(bodies=count, wall_particles=arms, normals=normals, owners=owners, slip=slip)
        self._core.set_bodies(count, arms, normals, owners, np.full(len(owners), slip))
        self._ranks.inform(self._core)

    def place_bodies(self, poses: Array) -> None:
        """Place bodies for the next step: centre, orientation, velocity, spin, rates of the last two; (n, 19)."""
        self._core.place_bodies(np.ascontiguousarray(poses, np.float64))

    def body_loads(self) -> Array:
        """Return force and torque (about the centre) of the fluid on every body in the last step, shape (n, 6)."""
        return self._core.body_loads()

    @property
    def time(self) -> float:
        """Simulated time."""
        return self._core.time()

    @property
    def step_count(self) -> int:
        """Steps since time 0."""
        return self._core.steps()

    @property
    def dt(self) -> float:
        """Length of the next step."""
        self._core.prime()
        return self._core.next()[0]

    @property
    def limit(self) -> str:
        """What limits the next step: "sound", "force", "viscosity", "shifting", "tension", "flow" or "pressure"."""
        self._core.prime()
        return self._core.next()[1]

    @property
    def solved(self) -> Mapping[str, float]:
        """Iterations and errors of the solvers of dfsph in the last step; 0 with other schemes.

        The errors are the mean compression that was left, and that which velocities at the beginning of the step would
        have brought about in it, as parts of the density.
        """
        return dict(zip(SOLVED, self._core.solved(), strict=True))

    @property
    def scheme(self) -> str:
        """Name of the scheme."""
        return self._scheme

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The phases: one fluid or several."""
        return self._phases

    @property
    def surface_tension(self) -> float:
        """Surface tension of interfaces."""
        return self._tension

    @property
    def wall_positions(self) -> Array:
        """Positions of the wall particles, shape (m, dim)."""
        return _check.locked(self._core.wall_column("positions"))

    @property
    def wall_pressures(self) -> Array:
        """Pressures that wall particles took over from the fluid in the last step."""
        self._core.prime()
        pressures = self._core.wall_column("pressures")
        if not self._ranks.used:
            return _check.locked(pressures)
        own = np.flatnonzero(self._ranks.owned(self.wall_positions))
        for rows, values in self._ranks.gathered((own, pressures[own])):
            pressures[rows] = values
        return _check.locked(pressures)

    @property
    def walls(self) -> WallParticlesLike | None:
        """The wall particles as they were passed."""
        return self._walls.particles

    @property
    def held(self) -> Mapping[str, int]:
        """How often each wall has put a particle back, by name, without those that never did."""
        counts = dict(self._held)
        for some in self._ranks.gathered({} if self._guard is None else self._guard.counts()):
            for name, count in some.items():
                counts[name] = counts.get(name, 0) + count
        return counts

    @property
    def wall_motion(self) -> WallMotionLike | None:
        """The motion of the walls."""
        return self._walls.motion

    @property
    def dim(self) -> int:
        """2 or 3."""
        return int(self._dim)

    @property
    def spacing(self) -> float:
        """Distance of neighbouring particles."""
        return self._spacing

    @property
    def density(self) -> float:
        """Density at rest, of the densest phase."""
        return self._density

    @property
    def sound_speed(self) -> float:
        """Speed of sound of the model, in the densest phase."""
        return self._sound

    @property
    def viscosity(self) -> Viscosity:
        """The viscosity."""
        return self._viscosity

    @property
    def gravity(self) -> Array:
        """Acceleration of all particles."""
        return _check.locked(self._gravity)

    @property
    def kernel(self) -> SmoothingKernel:
        """The smoothing kernel."""
        return self._kernel

    @property
    def box(self) -> tuple[float | None, ...]:
        """Lengths of the periodic box, None for an open axis."""
        return tuple(edge or None for edge in self._box)

    def state(self) -> dict[str, Any]:
        """Return everything `restore` needs but the motion of walls: arrays, numbers and strings.

        On ranks, the state is complete on rank 0.
        """
        numbers, marks, clock, steps, primed = self._core.state()
        if self._ranks.used:
            parts = self._ranks.at_first((numbers, marks))
            numbers, marks = (np.concatenate([part[k] for part in parts]) for k in range(2))
            order = np.argsort(marks[:, 0])
            numbers, marks = numbers[order], marks[order]
        laminar = isinstance(self._viscosity, Laminar)
        state: dict[str, Any] = {
            "particles": numbers,
            "marks": marks,
            "clock": np.array(clock),
            "steps": steps,
            "primed": int(primed),
            "next_id": self._next_id,
            "held": dict(self.held),
            "spacing": self._spacing,
            "density": self._density,
            "sound_speed": self._sound,
            "gravity": self._gravity,
            "box": np.array(self._box),
            "viscosity": self._viscosity.nu if isinstance(self._viscosity, Laminar) else self._viscosity.alpha,
            "viscosity_kind": "laminar" if laminar else "artificial",
            "scheme": self._scheme,
            "kernel": self._kernel.name,
            "smoothing": self._smoothing,
            "state": self._state,
            "diffusion": self._diffusion,
            "shifting": self._shifting,
            "background": self._background,
            "tensile_control": int(self._tensile_control),
            "courant": self._courant,
            "precision": self._precision,
        }
        if self._scheme == "dfsph":
            state["tolerance"] = self._tolerance
        if self._walls.ends is not None:
            state["ends"] = self._walls.ends.state()
        if self._several is not None:
            state["phases"] = np.array([[each.density, each.nu] for each in self._several])
            state["surface_tension"] = self._tension
        if self._walls.particles is not None:
            state["walls"] = kept_walls(self._walls.particles, self._walls.velocities)
        return state

    @classmethod
    def restore(
        cls,
        state: Mapping[str, Any],
        *,
        wall_motion: WallMotionLike | None = None,
        ends: OpenEnds | None = None,
        guard: Guard | None = None,
        comm: Intracomm | None = None,
    ) -> Self:
        """Make the simulation whose `state` this was; it continues bit for bit, on any number of ranks.

        The motion of walls, open ends and the guard are not part of the state; pass those that the simulation had.

        Examples
        --------
        >>> sim = Simulation([[0.0, 0.0]], spacing=0.1, gravity=(0, -9.81))
        >>> sim.run(10)
        >>> other = Simulation.restore(sim.state())
        >>> sim.run(10), other.run(10)
        (None, None)
        >>> bool((sim.positions == other.positions).all())
        True
        """
        options = options_of(state, comm) | {"wall_motion": wall_motion, "ends": ends, "guard": guard, "comm": comm}
        made = cls(np.zeros((0, len(state["gravity"]))), **options)
        made._continue(state)
        return made

    def _continue(self, state: Mapping[str, Any]) -> None:
        """Take particles and clock of a state."""
        if self._walls.ends is not None:
            self._walls.ends.restore(state["ends"])
        self._core.set_walls(*self._walls.at(float(state["clock"][0])))
        numbers, marks = np.asarray(state["particles"], np.float64), np.asarray(state["marks"], np.uint32)
        own = self._ranks.share(numbers[:, : self._dim])
        self._core.restore(
            np.ascontiguousarray(numbers[own]),
            np.ascontiguousarray(marks[own]),
            [float(x) for x in state["clock"]],
            int(state["steps"]),
            bool(state["primed"]),
        )
        self._next_id = int(state["next_id"])
        self._ranks.inform(self._core)
        if self._guard is not None and self._walls.motion is not None:
            self._walls.motion.place(self.time)
            self._guard.move()
        # Files leave out a table without entries.
        self._held = {str(name): int(count) for name, count in state.get("held", {}).items()}

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the state; a guard, which belongs to its walls, cannot be copied."""
        if self._ranks.used:
            raise TypeError("a Simulation on ranks can be neither copied nor pickled; use state() and restore()")
        if self._guard is not None:
            raise TypeError("a Simulation with a guard can be neither copied nor pickled; use state() and restore()")
        return _restored, (type(self), self.state(), self._walls.motion)


def _restored(kind: type[Simulation], state: Mapping[str, Any], motion: WallMotionLike | None) -> Simulation:
    return kind.restore(state, wall_motion=motion)
