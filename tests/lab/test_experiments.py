"""The experiments: each is fully described and runs; all measured quantities except times are correct."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from vicinal import lab
from vicinal.lab import Verdict
from vicinal.lab.experiments import _koch, atlas, onderik_h_mask

NAMES = sorted(lab.experiments())
OWN = [name for name in NAMES if name[0] in "abe"]
FEW = 2
"""Smallest cases of each that are run here."""


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_describes_itself(name: str) -> None:
    experiment = lab.find(name)
    assert experiment.name == name
    for text in (experiment.title, experiment.section, experiment.setup, experiment.measured):
        assert text.strip()
    assert experiment.setup.endswith(".")
    assert experiment.structures
    assert experiment.claims
    assert experiment.plots
    labels = [claim.label for claim in experiment.claims]
    assert len(set(labels)) == len(labels), "labels are unique"
    assert len({plot.name for plot in experiment.plots}) == len(experiment.plots)


@pytest.mark.parametrize("scale", list(lab.Scale))
@pytest.mark.parametrize("name", NAMES)
def test_cases_have_different_keys(name: str, scale: lab.Scale) -> None:
    cases = lab.find(name).cases(lab.Plan(scale=scale))
    assert len({case.key for case in cases}) == len(cases) > 0
    assert all(case.weight > 0 for case in cases)


@pytest.mark.parametrize("name", OWN)
def test_an_experiment_runs(name: str, tmp_path: Path) -> None:
    """Its lightest cases, one step each: rows, page and pictures."""
    whole = lab.find(name)
    light = sorted(whole.cases(lab.Plan(steps=1)), key=lambda case: case.weight)[:FEW]
    kept = lab.run(replace(whole, cases=lambda plan: light), lab.Plan(steps=1), tmp_path)
    assert kept.complete
    assert kept.rows
    named = {str(row["structure"]) for row in kept.rows}
    assert named <= {*whole.structures, "chosen"}
    assert named & set(whole.structures)
    assert "<table>" in (kept.folder / "page.html").read_text()
    assert list(kept.folder.glob("*.svg"))


def test_the_claims_of_a_paper_are_about_figures_that_are_measured() -> None:
    """A claim on a misspelt column would always be missing."""
    for name in ("koch-relations", "onderik-h-mask"):
        experiment = lab.find(name)
        plan = lab.Plan(steps=1)
        rows = [{**case.values, **row} for case in experiment.cases(plan) for row in experiment.measure(case, plan)]
        missing = [f.label for f in lab.judge(experiment, rows) if f.verdict is Verdict.MISSING]
        assert missing == (["relations of 64³ leaves", "relations of 128³ leaves"] if name == "koch-relations" else [])


def test_precision_is_that_of_arithmetic() -> None:
    experiment = lab.find("onderik-h-mask")
    plan = lab.Plan(steps=1)
    for case in experiment.cases(plan):
        for row in experiment.measure(case, plan):
            assert row["precision"] == pytest.approx(onderik_h_mask.precision(row["h_mask"]), rel=0.03)


def test_the_scenarios_are_those_of_the_tables() -> None:
    bodies = [sum(region.bodies for region in one.regions) for one in _koch.SCENARIOS]
    assert bodies == [100_000, 100_000, 80_000, 1_000_000, 50_000, 80_000, 40_000]
    assert [one.steps for one in _koch.SCENARIOS] == [200, 200, 200, 50, 200, 200, 10]
    assert [one.cell for one in _koch.SCENARIOS] == [1.3, 3.75, 7.0, 2.1, 4, 40, 360]


def test_the_atlas_names_the_winner_and_the_regret_of_the_choice() -> None:
    plan = lab.Plan(steps=2)
    case = lab.Case({"bodies": 500, "spread": 10, "layout": "crowded", "motion": 0.2})
    rows = list(atlas.measure(case, plan))
    own = {row["structure"]: row["seconds"] for row in rows if row["structure"] in atlas.STRUCTURES}
    assert set(own) == set(atlas.STRUCTURES)
    told = rows[-1]
    assert told["winner"] == min(own, key=own.get)
    assert told["regret"] == pytest.approx(own[told["choice"]] / own[told["winner"]])
    assert told["regret"] >= 1


@pytest.mark.parametrize("layout", atlas.LAYOUTS)
@pytest.mark.parametrize("spread", [1, 10])
def test_the_scenes_of_the_atlas_have_pairs(layout: str, spread: int) -> None:
    import vicinal as vc

    scene = atlas.LAYOUTS[layout](5000, spread, 1)
    assert len(scene) == 5000
    assert 0.3 < len(vc.pairs(**scene.bodies)[0]) / len(scene) < 40
