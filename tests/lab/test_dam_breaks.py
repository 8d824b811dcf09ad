"""Searches on dam breaks of one to three phases, smaller than the small scale: counts over a run, and equal results."""

from __future__ import annotations

import numpy as np
import pytest

import vicinal as vc
from vicinal import lab
from vicinal.lab.experiments import _dam_break, onderik_dam_break, porro_dam_break


def counted(dim: int, phases: int, cells: int, steps: int) -> list[lab.Row]:
    case = lab.Case({"state": "run", "dim": dim, "phases": phases, "cells": cells})
    return list(onderik_dam_break.measure(case, lab.Plan(steps=steps)))


@pytest.mark.parametrize(("dim", "cells"), [(2, 10), (3, 8)])
def test_phases_fill_the_tank_beside_the_column(dim: int, cells: int) -> None:
    size = _dam_break.size_of(dim)
    alone, phase = _dam_break.places(dim, 1, cells)
    assert not phase.any()
    assert len(alone) == 2 * cells**dim
    points, phase = _dam_break.places(dim, 3, cells)
    assert len(points) == round(np.prod(size) * cells**dim)
    water = points[phase == 0]
    np.testing.assert_array_equal(np.unique(water, axis=0), np.unique(alone, axis=0))
    assert points[phase == 2][:, -1].max() < 0.4
    assert points[phase == 2][:, 0].min() > 1


@pytest.mark.parametrize(("dim", "cells"), [(2, 6), (3, 8)])
def test_counts_are_those_of_the_particles_of_a_run(dim: int, cells: int) -> None:
    """The states move on, all structures find the same pairs, and these are the pairs that there are."""
    rows = counted(dim, 2, cells, steps=4)
    assert [row["structure"] for row in rows] == list(onderik_dam_break.STRUCTURES) * onderik_dam_break.MOMENTS
    times = [row["time"] for row in rows][:: len(onderik_dam_break.STRUCTURES)]
    assert times == sorted(set(times))
    for moment in range(onderik_dam_break.MOMENTS):
        pairs = {row["pairs"] for row in rows if row["moment"] == moment}
        assert len(pairs) == 1
    sim = _dam_break.dam_break(dim, 2, cells)
    i, j = vc.pairs(sim.positions, cutoff=sim.kernel.support, box=sim.box)
    first = rows[0]
    assert first["pairs"] == len(i)
    assert first["across_phases"] == pytest.approx((sim.phase[i] != sim.phase[j]).mean())
    assert first["pair_ratio"] == pytest.approx(first["candidates"] / (len(sim) * (len(sim) - 1) / 2))


def test_the_formula_of_the_paper_holds_for_a_full_tank() -> None:
    for dim, cells in ((2, 20), (3, 8)):
        first = counted(dim, 2, cells, steps=1)[0]
        assert first["pair_ratio"] == pytest.approx(first["expected_ratio"], rel=0.05)


def test_every_search_follows_a_dam_break_alike() -> None:
    case = lab.Case({"phases": 2, "cells": 10})
    rows = list(porro_dam_break.measure(case, lab.Plan(steps=3)))
    plain = ["Delaunay", "LinkedCells", "CellSorting"]
    for time in {row["time"] for row in rows if "time" in row}:
        now = {row["structure"]: row["neighbors"] for row in rows if row.get("time") == time}
        assert len({now[name] for name in plain}) == 1
        # A list has some entries beyond the radius.
        assert now["NeighborList"] == now["NeighborList of Delaunay"] > now["Delaunay"] > 0
    for name in porro_dam_break.EXPERIMENT.structures:
        parts = [row for row in rows if row["structure"] == name]
        assert len(parts) == porro_dam_break.BURSTS + 1
        assert parts[-1]["mean_search_seconds"] < parts[-1]["mean_total_seconds"]


def test_every_claim_is_about_figures_that_are_measured(tmp_path) -> None:
    for experiment, steps in ((onderik_dam_break.EXPERIMENT, 1), (porro_dam_break.EXPERIMENT, 1)):
        cases = [lab.Case({**case.values, "cells": 8}) for case in experiment.cases(lab.Plan())]
        rows = [{**case.values, **row} for case in cases for row in experiment.measure(case, lab.Plan(steps=steps))]
        missing = [one.label for one in lab.judge(experiment, rows) if one.verdict is lab.Verdict.MISSING]
        assert not missing
