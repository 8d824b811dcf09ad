"""The scenes of the package: each is read, runs, and shows the expected behaviour."""

import numpy as np
import pytest

from vicinal import InputError, dem
from vicinal.sim import load, run, scenes
from vicinal.sim.series import SeriesReader

# Fewer bodies and a shorter time than in practice, so that all scenes are tested.
SMALL = {
    "settled": ["dem.insert.0.count=150", "run.duration=0.01"],
    "drum": ["dem.insert.0.count=150", "run.duration=0.005", "walls.0.motion.start=0.001"],
    "hopper": ["dem.insert.0.count=150", "run.duration=0.005"],
    "mixing": ["dem.insert.0.count=60", "dem.insert.1.count=15", "run.duration=0.005"],
    "pyramid": ["run.duration=0.1"],
    "impact": [],
    "shapes": ["dem.insert.0.count=12", "run.duration=0.003"],
    "floating_block": ["sph.spacing=0.05", "run.duration=0.05"],
    "grain_mixer": ["sph.spacing=0.02", "dem.bodies.bead.radius=0.02", "dem.insert.0.count=10", "run.duration=0.01"],
    "dam_break": ["sph.spacing=0.1", "run.duration=0.05"],
    "dam_break_phases": ["sph.spacing=0.1", "run.duration=0.02"],
    "dam_break_phases_3d": ["sph.spacing=0.15", "run.duration=0.002"],
    "dam_break_obstacle": ["run.duration=0.01"],
    "open_channel": ["sph.spacing=0.05", "run.duration=0.05"],
    "lid_cavity": ["sph.spacing=0.05", "run.duration=0.02"],
    "rising_bubble": ["sph.spacing=0.05", "run.duration=0.02"],
    "rotating_tank": ["sph.spacing=0.04", "run.duration=0.01"],
    "sloshing": ["sph.spacing=0.05", "run.duration=0.05"],
    "still_tank": ["sph.spacing=0.1", "run.duration=0.05"],
    "stirred_tank": ["sph.spacing=0.04", "run.duration=0.01"],
    "taylor_green": ["sph.spacing=0.05", "run.duration=0.05"],
    "wave_maker": ["sph.spacing=0.05", "run.duration=0.05"],
}


def test_every_scene_is_tried():
    assert set(scenes.names()) == set(SMALL)
    assert len({load(scenes.find(name)).title for name in SMALL}) == len(SMALL)


@pytest.mark.parametrize("name", SMALL)
def test_a_scene_runs(name, tmp_path):
    scene = load(scenes.find(name), settings=[*SMALL[name], "run.threads=1", "output.every=1"])
    result = run(scene, tmp_path / "out")
    parts = [result.solver.fluid, result.solver.grains] if hasattr(result.solver, "coupling") else [result.solver]
    for part in parts:
        assert np.isfinite(part.simulation.positions).all()
    sim = parts[-1].simulation
    assert result.status == "finished"
    if name == "impact":
        # Chung & Ooi's fourth test: the ball leaves upwards, slower along the plate, and with a spin.
        assert sim.velocities[0, 2] == pytest.approx(0.98 * 2.76, rel=0.01)
        assert 0 < sim.velocities[0, 0] < 2.76
        assert sim.spins[0, 1] > 0
    if name == "pyramid":
        assert sim.positions[:, 2].max() == pytest.approx(0.0263, abs=1e-4)
    if name == "shapes":
        bodies = SeriesReader(tmp_path / "out" / "particles.vtkhdf")[-1]
        clumps = sim.ids[[isinstance(sim.shapes[kind], dem.Clump) for kind in sim.shape_ids]]
        assert (np.bincount(bodies.point_data["id"])[clumps] == 3).all()
        solid = SeriesReader(tmp_path / "out" / "surfaces.vtkhdf")[-1]
        assert set(solid.cell_data["id"]) == set(sim.ids) - set(clumps)
        # Every corner is on or inside the bounding sphere of its body.
        owners = np.repeat(solid.cell_data["id"], 3)
        far = np.linalg.norm(solid.points - sim.positions[owners], axis=1)
        assert (far <= sim.radii[owners] * (1 + 1e-5)).all()
        assert far.max() == pytest.approx(sim.radii[owners][far.argmax()], rel=1e-4)
    if name == "drum":
        # 0.004 s at 6 rad/s.
        assert 2 * np.arccos(sim.walls[0].orientation[0]) == pytest.approx(0.024, rel=0.01)


def test_unknown_scenes_are_refused():
    with pytest.raises(InputError, match='did you mean "hopper"'):
        scenes.find("hoper")
    with pytest.raises(FileNotFoundError):
        scenes.find("hoper.toml")
