"""Fluid enters and leaves: the discharge of a channel is steady, nothing piles up, runs continue bit for bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sim.parts import run_in_parts
from vicinal.errors import InputError
from vicinal.sim import load, run, scenes
from vicinal.sim.walls import Plane
from vicinal.sph import Simulation
from vicinal.sph.boundary import wall_particles
from vicinal.sph.fill import fill
from vicinal.sph.open_ends import Inlet, OpenEnds, Outlet
from vicinal.sph.probes import FluidSample, FluxPlane, HeightGauge

SPACING, DEPTH, SPEED = 0.05, 0.5, 1.0


def channel(outlet: float | None) -> Simulation:
    """A channel from 0 to 2 m, with zones before and behind it."""
    reach = 4 * SPACING
    ends = OpenEnds(
        [Inlet(low=(-reach, 0), high=(0, DEPTH), velocity=(SPEED, 0))],
        [Outlet(low=(2, -1), high=(2 + reach, 2), velocity=None if outlet is None else (outlet, 0))],
        spacing=SPACING,
        support=reach,
    )
    water = fill(((0, 0), (2 + reach, DEPTH)), SPACING)
    floor = Plane(name="floor", material="", point=(0, 0, 0), normal=(0, 1, 0))
    bounds = ((-2 * reach, 0), (2 + 2 * reach, 1))
    return Simulation(
        water,
        spacing=SPACING,
        gravity=(0, -9.81),
        velocities=np.tile([SPEED, 0.0], (len(water), 1)),
        pressures=9810 * (DEPTH - water[:, 1]),
        walls=wall_particles([floor], SPACING, 4, dim=2, bounds=bounds, fluid=water, slip=["floor"]),
        ends=ends,
    )


def test_the_discharge_of_a_channel_is_steady() -> None:
    sim = channel(SPEED)
    assert len(sim) == 400  # those in the zone of the outlet are leaving
    planes = [FluxPlane(name="q", point=(x, 0), normal=(1, 0)) for x in (0.5, 1.0, 1.5)]
    gauge = HeightGauge(name="h", point=(1, 0), direction=(0, 1), length=1)
    fluxes, heights, counts = [], [], []
    # Long enough for the water of the start to have left.
    while sim.time < 4:
        sim.run(10)
        now = FluidSample.of(sim)
        fluxes.append([plane.measure(now) for plane in planes])
        heights.append(gauge.measure(now))
        counts.append(len(sim))
    late = len(fluxes) // 2
    assert np.mean(fluxes[late:], axis=0) == pytest.approx(1000 * SPEED * DEPTH, rel=0.02)
    assert np.std(fluxes[late:]) < 0.05 * 1000 * SPEED * DEPTH
    assert np.mean(heights[late:]) == pytest.approx(DEPTH, abs=0.5 * SPACING)
    assert np.abs(np.array(counts) - 400).max() < 20
    assert sim.largest_speed < 1.5 * SPEED


def test_a_faster_outlet_makes_the_water_shallower() -> None:
    sim = channel(1.25 * SPEED)
    sim.run_until(4.0)
    gauge = HeightGauge(name="h", point=(1.8, 0), direction=(0, 1), length=1)
    assert gauge.measure(FluidSample.of(sim)) == pytest.approx(0.8 * DEPTH, abs=SPACING)


def test_fluid_enters_a_void_and_leaves_as_it_comes() -> None:
    ends = OpenEnds(
        [Inlet(low=(0, 0, 0), high=(0.3, 0.2, 0.2), velocity=(0, 0, -2))],
        [Outlet(low=(0, 0, -1), high=(0.3, 0.2, -0.6))],
        spacing=0.1,
        support=0.2,
    )
    sim = Simulation(np.zeros((0, 3)), spacing=0.1, smoothing=1.0, sound_speed=20.0, ends=ends)
    sim.run_until(0.26)
    assert len(sim) == 5 * 6  # a layer of 3 × 2 particles every 0.05 s
    assert sim.positions[:, 2].min() == pytest.approx(-0.05 - 2 * 0.21, abs=0.02)
    sim.run_until(1.0)
    assert sim.positions[:, 2].min() > -0.7
    assert len(sim) < 8 * 6
    assert sim.velocities == pytest.approx(np.tile([0, 0, -2.0], (len(sim), 1)), abs=0.2)


def test_a_restored_channel_continues_bit_for_bit(tmp_path: Path) -> None:
    file = scenes.find("open_channel")
    small = ["sph.spacing=0.05", "run.threads=1"]
    scene = load(file, settings=[*small, "run.duration=0.6"])
    whole = run(scene, tmp_path / "whole").solver.simulation
    rest = run_in_parts(scene, tmp_path / "parts").solver.simulation
    assert rest.step_count == whole.step_count
    for column in ("positions", "velocities", "densities", "wall_positions", "wall_pressures"):
        assert (getattr(rest, column) == getattr(whole, column)).all(), column


def test_zones_that_do_not_fit_are_refused() -> None:
    for inlet, message in (
        ({"high": (0.2, 0.2)}, r"inlets.0 must be at least as long along velocity as the support .* got 0.2; make"),
        ({"velocity": (1, 1)}, r"inlets.0.velocity must be along one axis, got \[1, 1\]"),
        ({"low": (1, 0)}, "inlets.0 must have high above low"),
        ({"high": (0.4, 0.23)}, "spacing must divide the edges"),
    ):
        with pytest.raises(InputError, match=message):
            OpenEnds(
                [Inlet(**{"low": (0, 0), "high": (0.4, 0.2), "velocity": (1, 0)} | inlet)],
                [],
                spacing=0.1,
                support=0.4,
            )
    with pytest.raises(InputError, match=r"outlets.0.velocity must be finite and not zero"):
        OpenEnds([], [Outlet(low=(0, 0), high=(1, 1), velocity=(0, 0))], spacing=0.1, support=0.4)
