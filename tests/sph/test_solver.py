"""Fluids in scenes: they run, restart bit for bit, and refuse what does not fit."""

from __future__ import annotations

import csv
import json
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.parts import run_in_parts
from vicinal.errors import InputError
from vicinal.sim import SimulationWarning, UnstableError, load, run, scenes
from vicinal.sim.scene import Scene, read
from vicinal.sim.series import SeriesReader
from vicinal.sim.toml import parse
from vicinal.sph import FillWarning
from vicinal.sph.build import build, make_walls
from vicinal.sph.config import FluidFill, FluidPhase, InletSection, OutletSection, Sph
from vicinal.sph.fill import fill_outside
from vicinal.sph.probes import PROBES
from vicinal.sph.solver import LIMITS

SMALL = ["sph.spacing=0.1", "run.threads=1", "output.every=0.1"]


def test_a_dam_break_runs_and_tells_what_it_knows(tmp_path: Path) -> None:
    scene = load(scenes.find("dam_break"), settings=[*SMALL, "run.duration=0.6"])
    result = run(scene, tmp_path / "out")
    sim = result.solver.simulation
    assert result.status == "finished"
    assert len(sim) == 200
    assert ((sim.positions > 0) & (sim.positions < [4, 5])).all()
    assert sim.positions[:, 0].max() > 2
    last = SeriesReader(tmp_path / "out" / "particles.vtkhdf")[-1]
    assert last.points[:, :2] == pytest.approx(sim.positions, abs=1e-6)
    assert {"velocity", "density", "pressure", "surface", "radius"} <= set(last.point_data)
    lines = (tmp_path / "out" / "table.csv").read_text().splitlines()
    row = dict(zip(lines[0].split(","), lines[-1].split(","), strict=True))
    assert LIMITS[int(row["limit"])] in {"sound", "force"}
    assert float(row["dt"]) > 0
    report = json.loads((tmp_path / "out" / "run.json").read_text())["sph"]
    assert report["particles"] == 200
    assert report["time_step"]["limit"] in LIMITS


@pytest.mark.parametrize(("name", "spacing", "duration"), [("dam_break", 0.1, 0.3), ("wave_maker", 0.05, 0.06)])
def test_a_restart_continues_bit_for_bit(name: str, spacing: float, duration: float, tmp_path: Path) -> None:
    file = scenes.find(name)
    small = [f"sph.spacing={spacing}", "run.threads=1"]
    scene = load(file, settings=[*small, f"run.duration={duration}"])
    whole = run(scene, tmp_path / "whole").solver.simulation
    rest = run_in_parts(scene, tmp_path / "parts").solver.simulation
    assert rest.step_count == whole.step_count
    assert rest.time == whole.time == pytest.approx(duration, rel=1e-9)
    for column in ("positions", "velocities", "densities", "wall_pressures"):
        assert (getattr(rest, column) == getattr(whole, column)).all(), column


def pool(**sph: Any) -> Scene:
    """A pool of water in two dimensions."""
    tables: dict[str, Any] = {
        "run": {"duration": 0.1},
        "gravity": [0, -9.81, 0],
        "regions": {"pool": {"shape": "box", "low": [0, 0, -1], "high": [1, 0.5, 1]}},
        "walls": [{"shape": "box", "name": "tank", "low": [0, 0, -1], "high": [1, 1, 1], "sides": ["-x", "+x", "-y"]}],
        "sph": {"dim": 2, "spacing": 0.1, "fill": [{"region": "pool", "still": True}], **sph},
    }
    return Scene(**tables)


def cut_pool(wall: dict[str, Any]) -> Scene:
    """A pool of 10 by 10 places with a wall through it."""
    regions = {"c": {"shape": "box", "low": [0, 0, -1], "high": [1, 1, 1]}}
    sph = {"dim": 2, "spacing": 0.1, "fill": [{"region": "c"}]}
    return Scene(run={"duration": 0.001}, gravity=[0, -1, 0], regions=regions, walls=[{"name": "w", **wall}], sph=sph)


def test_a_fill_behind_a_wall_is_reported(tmp_path: Path) -> None:
    scene = cut_pool({"shape": "plane", "point": [0, 0.5, 0], "normal": [0, 1, 0]})
    message = r"fill 'c': 50 of 100 places lie inside walls \(w\)"
    with pytest.warns(FillWarning, match=message):
        assert len(build(scene, make_walls(scene))) == 50
    with pytest.warns(SimulationWarning, match=message):
        run(scene, tmp_path / "out")


@pytest.mark.parametrize(
    ("wall", "lost"),
    [
        ({"shape": "plane", "point": [0, 0.08, 0], "normal": [0, 1, 0]}, 10),  # less than a spacing
        ({"shape": "plane", "point": [0, 0.4, 0], "normal": [1, 1, 0]}, 10),  # oblique
        ({"shape": "cylinder", "start": [0.5, 0.5, -1], "end": [0.5, 0.5, 1], "radius": 0.3, "inside": False}, 32),
    ],
    ids=["near", "oblique", "obstacle"],
)
def test_a_fill_that_a_wall_cuts_as_it_must_is_not_reported(wall: dict[str, Any], lost: int) -> None:
    scene = cut_pool(wall)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FillWarning)
        assert len(build(scene, make_walls(scene))) == 100 - lost


def test_fills_of_the_scenes_of_the_package_are_not_reported() -> None:
    for name in scenes.names():
        scene = load(scenes.find(name))
        for place in () if scene.sph is None else scene.sph.fill:
            region = scene.regions[place.region]
            lost = fill_outside(region, scene.sph.spacing, dim=scene.sph.dim, walls=make_walls(scene).all(), pack=0)[1]
            assert not lost.walls, (name, lost)


def test_a_belt_drags_the_fluid_along(tmp_path: Path) -> None:
    sim = run(pool(nu=0.05, sliding={"tank-y": [1, 0, 0]}), tmp_path / "out").solver.simulation
    x, y = sim.positions.T
    bottom = (y < 0.1) & (np.abs(x - 0.5) < 0.25)
    assert (sim.velocities[bottom, 0] > 0.1).all()
    assert (y[bottom] > 0).all()


def test_probes_are_columns_of_the_table(tmp_path: Path) -> None:
    probes = [
        {"kind": "pressure", "name": "floor", "point": [0.5, 0, 0]},
        {"kind": "height", "name": "level", "point": [0.5, 0], "direction": [0, 1], "length": 1},
        {"kind": "flux", "name": "through", "point": [0.5, 0, 0], "normal": [1, 0, 0]},
    ]
    run(pool(spacing=0.05, probes=probes), tmp_path / "out")
    with (tmp_path / "out" / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[-3:] == ["floor", "level", "through"]
    for row in rows:
        # The mean over the support of the kernel is taken some way above the floor.
        assert 9810 * 0.4 < float(row["floor"]) < 9810 * 0.5
        assert float(row["level"]) == pytest.approx(0.5, abs=0.03)
        assert abs(float(row["through"])) < 1


def test_scenes_that_do_not_fit_are_refused() -> None:
    for wrong, message in (
        ({"fill": [{"region": "pol"}]}, r"must be a name in \[regions\]"),
        ({"alpha": 0.1, "nu": 0.1}, "must not be given together with alpha"),
        ({"scheme": "edac", "state": "tait"}, r"sph\.state must be linear with the scheme edac"),
        ({"dim": 4}, "dim"),
        ({"kernel": "gauss"}, "kernel"),
        ({"surface_tension": 0.07}, r"sph\.surface_tension must be 0 without phases, between which it acts, got 0\.07"),
        ({"probes": [{"kind": "pressure", "name": "dt", "point": [0, 0]}]}, "probes.0.name must differ"),
        ({"probes": [{"kind": "flow", "name": "a", "point": [0, 0]}]}, "probes.0.kind must be"),
        ({"probes": [{"kind": "flux", "name": "a", "point": [0, 0], "normal": [0, 0]}]}, "probes.0.normal must be"),
    ):
        with pytest.raises(InputError, match=message):
            pool(**wrong)
    with pytest.raises(InputError, match="gravity"):
        Scene(
            run={"duration": 1},
            regions={"pool": {"shape": "box", "low": [0, 0, 0], "high": [1, 1, 1]}},
            sph={"dim": 2, "spacing": 0.1, "fill": [{"region": "pool"}]},
        )


def test_a_run_that_explodes_keeps_what_it_has_and_tells_what_it_was_warned_of(tmp_path: Path) -> None:
    settings = ["sph.spacing=0.1", "sph.sound_speed=2", "run.duration=1", "run.threads=1"]
    scene = load(scenes.find("dam_break"), settings=settings)
    with (
        pytest.warns(SimulationWarning, match="the weight of 2 of fluid compresses it by"),
        pytest.raises(UnstableError, match=r"particle \d+ at .* a sound_speed below ten times the largest speed"),
    ):
        run(scene, tmp_path)
    assert (tmp_path / "table.csv").read_text().count("\n") == 2
    first = SeriesReader(tmp_path / "particles.vtkhdf")[0]
    assert len(first.points) == 200


def test_the_file_in_the_documentation_is_a_scene_and_the_table_has_every_key() -> None:
    page = (Path(__file__).parents[2] / "docs" / "sph.md").read_text(encoding="utf-8")
    scene = read(parse(page.split("```toml\n")[1].split("```")[0], "sph.md"))
    assert [probe.name for probe in scene.sph.probes] == ["sensor", "gauge", "outflow"]
    table = page.split("| key of `sph` |")[1].split("\n\n")[0]
    words = set(re.findall(r"\w+", table))
    for section in (Sph, FluidFill, FluidPhase, InletSection, OutletSection, *PROBES.kinds.values()):
        assert words >= set(section.keys())
