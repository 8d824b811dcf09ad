"""The experiments of Porro 2021, much smaller than the small scale: the set-up, and equal results of all structures."""

from __future__ import annotations

import numpy as np
import pytest

import vicinal as vc
from vicinal import lab
from vicinal.fluid import Fluid
from vicinal.lab.experiments import _porro as porro
from vicinal.lab.experiments import porro_column, porro_free, porro_shaking

FEWER = 200
"""Factor by which there are fewer particles than published."""


def test_the_settings_are_those_of_the_tables() -> None:
    radii = [200, 300, 400, 400, 500, 600, 600, 700, 700, 700]
    assert [one.radius for one in porro.SETTINGS] == radii
    assert [one.side for one in porro.SETTINGS] == [4800] * 3 + [6000] * 3 + [12_000] * 2 + [24_000, 90_000]
    assert [one.particles for one in porro.SETTINGS] == [3000] * 3 + [10_000] * 3 + [40_000] * 2 + [100_000] * 2
    assert [one.wall for one in porro.SETTINGS] == [200] * 3 + [400] * 3 + [800] * 2 + [1600] * 2
    assert len(porro_shaking.cases(lab.Plan())) == 12


@pytest.mark.parametrize("number", range(10))
def test_fewer_particles_are_as_dense(number: int) -> None:
    whole = porro.SETTINGS[number]
    part = whole.smaller(10)
    assert part.particles / part.side**2 == pytest.approx(whole.particles / whole.side**2, rel=1e-6)
    assert part.wall / part.side == pytest.approx(whole.wall / whole.side, rel=0.01)


@pytest.mark.parametrize("number", [0, 5, 9])
def test_a_column_stands_between_walls_of_six_rows(number: int) -> None:
    setting = porro.SETTINGS[number]
    begin = porro_column.start(setting, np.random.default_rng(1))
    points, walls = begin["points"], begin["walls"]
    assert points.shape == (setting.particles, 2)
    assert walls.shape == (6 * setting.wall, 2)
    assert points.min() > 0
    assert (points < setting.side).all()
    assert np.ptp(points[:, 0]) < 0.3 * setting.side < 0.8 * setting.side < np.ptp(points[:, 1])
    assert len(vc.pairs(points, cutoff=0.01)[0]) == 0, "no point on top of another"


@pytest.mark.parametrize("module", [porro_column, porro_free], ids=["column", "free"])
def test_every_structure_makes_the_same_fluid(module, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(porro, "SMALLER", FEWER)
    kept = lab.run(module.EXPERIMENT, lab.Plan(steps=4), tmp_path)
    assert kept.complete
    for case in range(10):
        means = [row["mean_neighbors"] for row in kept.rows if row["case"] == case and "mean_neighbors" in row]
        assert len(means) == len(porro.STRUCTURES)
        assert len(set(means)) == 1
        assert means[0] > 0
    assert not [one for one in lab.judge(module.EXPERIMENT, kept.rows) if one.verdict is lab.Verdict.MISSING]
    assert {path.stem for path in kept.folder.glob("*.svg")} == {plot.name for plot in module.EXPERIMENT.plots}


def test_the_column_falls_and_the_floor_holds() -> None:
    setting = porro.SETTINGS[0].smaller(20)
    begin = porro_column.start(setting, np.random.default_rng(1))
    falls, floats = (
        Fluid(**{**begin, "gravity": gravity}, radius=setting.radius) for gravity in (begin["gravity"], 0.0)
    )
    with vc.threads(1):
        for _ in range(60):
            falls.step()
            floats.step()
    assert falls.points[:, 1].mean() < floats.points[:, 1].mean() - 10
    assert falls.points[:, 1].min() > 0


def shaking(n: int, speed: int, steps: int) -> list[lab.Row]:
    return list(porro_shaking.measure(lab.Case({"n": n, "speed": speed}), lab.Plan(steps=steps)))


def test_all_structures_follow_shaken_points_alike() -> None:
    rows = shaking(300, 2000, steps=30)
    assert [row["structure"] for row in rows] == list(porro_shaking.STRUCTURES)
    assert len({row["pairs"] for row in rows}) == 1
    assert all(row["update_seconds"] > 0 for row in rows)


def rows_of_shaking(delaunay: float, cells: float) -> list[lab.Row]:
    return [
        {"n": n, "speed": speed, "structure": name, "update_seconds": seconds}
        for n in porro_shaking.SIZES
        for speed in porro_shaking.SPEEDS
        for name, seconds in (("Delaunay", delaunay), ("LinkedCells", cells))
    ]


def test_shaking_can_differ_from_the_paper() -> None:
    def verdicts(delaunay: float, cells: float) -> list[str]:
        return [str(one.verdict) for one in lab.judge(porro_shaking.EXPERIMENT, rows_of_shaking(delaunay, cells))]

    assert verdicts(1.0, 2.0) == ["reproduced"] * 8 + ["differs"] * 4 + ["reproduced"] * 3
    assert verdicts(2.0, 1.0) == ["differs"] * 8 + ["reproduced"] * 7


def test_a_fluid_can_agree_with_the_paper() -> None:
    times = {"total": [1.2] * 3 + [10.0] * 6 + [1.5], "query": [2.0] * 3 + [150.0] * 6 + [1.5], "update": [1.0] * 10}
    rows: list[lab.Row] = []
    for case in range(10):
        for name in ("Delaunay", porro.CELLS):
            slow = {what: one[case] if name == "Delaunay" else 1.0 for what, one in times.items()}
            seconds = {f"mean_{what}_seconds": value for what, value in slow.items()}
            rows.append({"case": case, "structure": name, **seconds, "search_to_cells": slow["query"]})
    findings = lab.judge(porro_free.EXPERIMENT, rows)
    assert {one.verdict for one in findings} == {lab.Verdict.REPRODUCED}
