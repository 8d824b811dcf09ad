"""Mistakes of a first hour: none of them ends in an error of Python that names nothing of the user's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import vicinal as vc
from refusals import Refusal, check_refusal
from vicinal import coupled, dem, sim, sph, tiles
from vicinal.sph.fill import fill

if TYPE_CHECKING:
    from pathlib import Path

POINTS = np.random.default_rng(0).random((50, 3))
GLASS = {"density": 2500.0, "youngs_modulus": 1e6, "poisson_ratio": 0.25, "restitution": 0.5, "friction": 0.4}
SCENE = {"run": {"duration": 1.0}, "dem": {"materials": {"glass": GLASS}}}


def grains(**options: object) -> dem.Simulation:
    glass = dem.Material(density=2500, kn=1e4)
    return dem.Simulation(materials={"glass": glass}, law="linear", dt=1e-4, **options)  # type: ignore[arg-type]


def fluid(**options: object) -> sph.Simulation:
    return sph.Simulation(fill(((0, 0), (1, 1)), 0.1), spacing=0.1, sound_speed=20.0, **options)  # type: ignore[arg-type]


REFUSALS = [
    Refusal("base class", lambda: vc.Index(POINTS, 0.1), "Index", "no structure"),
    Refusal("row by name", lambda: vc.neighbors(POINTS, 0.1)["a"], "row", "'a'"),  # type: ignore[index]
    Refusal("slice of rows", lambda: vc.neighbors(POINTS, 0.1)[0:2], "row", "slice"),  # type: ignore[index]
    Refusal("box as text", lambda: vc.pairs(POINTS, 0.1, box="a"), "box must", "'a'"),  # type: ignore[arg-type]
    Refusal("empty box", lambda: vc.pairs(POINTS, 0.1, box=0), "box must", "0.0"),
    Refusal("parts of chunks", lambda: vc.pairs(POINTS, 0.1, chunks=0.5), "chunks", "at least 1, got 0.5"),
    Refusal("too many", lambda: vc.nearest(POINTS, 10**12), "k", "from 1 to 2147483647, got 1000000000000"),
    Refusal("seed", lambda: grains(seed="a"), "seed", "'a'"),
    Refusal("phases", lambda: fluid(phases=3), "phases", "3"),
    Refusal("ends", lambda: fluid(ends=3), "ends", "3"),
    Refusal("steps", lambda: fluid().run(1.5), "steps", "at least 0, got 1.5"),
    Refusal("grains", lambda: coupled.Coupling(3, fluid()), "grains", "int"),  # type: ignore[arg-type]
    Refusal("fluid", lambda: coupled.Coupling(grains(), grains()), "fluid", "Simulation"),  # type: ignore[arg-type]
    Refusal("scene by name", lambda: sim.run("drum.toml", "out"), "scene", "drum.toml"),  # type: ignore[arg-type]
    Refusal("folder", lambda: sim.run(sim.Scene(**SCENE), 3), "folder", "3"),  # type: ignore[arg-type]
    Refusal("tiles", lambda: tiles.write(POINTS, 3), "folder", "3"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_a_first_mistake_is_named(refusal: Refusal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    check_refusal(refusal)
    assert not list(tmp_path.iterdir())
