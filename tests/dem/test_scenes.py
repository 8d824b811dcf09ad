"""The scenes of the package: each is read, runs, and does what it is there for."""

import numpy as np
import pytest

from vicinal import InputError, dem
from vicinal.dem import scenes
from vicinal.dem.config import load

# Fewer bodies and less time than a user would want, so that all are tried.
SMALL = {
    "settled": ["insert.0.count=150", "solver.duration=0.01"],
    "drum": ["insert.0.count=150", "solver.duration=0.005", "walls.0.motion.start=0.001"],
    "hopper": ["insert.0.count=150", "solver.duration=0.005"],
    "mixing": ["insert.0.count=60", "insert.1.count=15", "solver.duration=0.005"],
    "pyramid": ["solver.duration=0.1"],
    "impact": [],
}


def test_every_scene_is_tried():
    assert set(scenes.names()) == set(SMALL)
    assert len({load(scenes.find(name)).title for name in SMALL}) == len(SMALL)


@pytest.mark.parametrize("name", SMALL)
def test_a_scene_runs(name, tmp_path):
    scene = load(scenes.find(name), settings=[*SMALL[name], "solver.threads=1", "output.every=1"])
    result = dem.run(scene, tmp_path / "out")
    sim = result.simulation
    assert result.status == "finished"
    assert np.isfinite(sim.positions).all()
    if name == "impact":
        # Chung & Ooi's fourth test: the ball leaves upwards, slower along the plate, and with a spin.
        assert sim.velocities[0, 2] == pytest.approx(0.98 * 2.76, rel=0.01)
        assert 0 < sim.velocities[0, 0] < 2.76
        assert sim.spins[0, 1] > 0
    if name == "pyramid":
        assert sim.positions[:, 2].max() == pytest.approx(0.0263, abs=1e-4)
    if name == "drum":
        # 0.004 s at 6 rad/s.
        assert 2 * np.arccos(sim.walls[0].orientation[0]) == pytest.approx(0.024, rel=0.01)


def test_unknown_scenes_are_refused():
    with pytest.raises(InputError, match='did you mean "hopper"'):
        scenes.find("hoper")
    with pytest.raises(FileNotFoundError):
        scenes.find("hoper.toml")
