"""Bodies float as Archimedes says, sink in the order of their weights, and scenes continue bit for bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sim.parts import run_in_parts
from vicinal.lab import floating
from vicinal.sim import load, run, scenes
from vicinal.sim.pictures import Look, Painter
from vicinal.sim.series import SeriesReader


def test_blocks_float_as_deep_as_archimedes_says() -> None:
    found = floating.floating_blocks(10, until=0.4)
    for ratio in floating.RATIOS:
        assert found[f"depth {ratio}"] == pytest.approx(1, rel=0.02)
        assert found[f"lift {ratio}"] == pytest.approx(1, rel=0.02)
    assert found["left"] == 0


def test_spheres_sink_in_the_order_of_their_weights_and_light_ones_rise() -> None:
    found = floating.sinking_spheres(4, until=0.06)
    for ratio in floating.SPHERES:
        assert 0.45 < found[f"speed {ratio}"] < 1.05
    assert found["in order"]
    assert found["left"] == 0


def test_a_scene_with_bodies_in_a_fluid_continues_bit_for_bit(tmp_path: Path) -> None:
    file = scenes.find("floating_block")
    small = ["sph.spacing=0.05", "run.threads=1"]
    scene = load(file, settings=[*small, "run.duration=0.1"])
    whole = run(scene, tmp_path / "whole").solver
    rest = run_in_parts(scene, tmp_path / "parts").solver
    assert rest.step_count == whole.step_count
    assert rest.time == whole.time == pytest.approx(0.1, rel=1e-9)
    for column in ("positions", "velocities", "densities"):
        assert (getattr(rest.fluid.simulation, column) == getattr(whole.fluid.simulation, column)).all(), column
    for column in ("positions", "velocities", "spins", "orientations"):
        assert (getattr(rest.grains.simulation, column) == getattr(whole.grains.simulation, column)).all(), column
    bodies = SeriesReader(tmp_path / "whole" / "bodies.vtkhdf")[-1]
    assert bodies.points[0] == pytest.approx(whole.grains.simulation.positions[0], abs=1e-6)
    particles = SeriesReader(tmp_path / "whole" / "particles.vtkhdf")[-1]
    assert len(particles.points) == len(whole.fluid)
    head = (tmp_path / "whole" / "table.csv").read_text().splitlines()[0].split(",")
    assert {"sph.kinetic", "dem.kinetic_translational"} <= set(head)
    # The block is orange, the water is not.
    look = Look(azimuth=-90, elevation=90, style="surface", pixels=(120, 90))
    red, _, blue = np.moveaxis(Painter(tmp_path / "whole" / "particles.vtkhdf", look).image(-1), -1, 0)
    assert 0.02 < (red > blue + 0.4).mean() < 0.2
