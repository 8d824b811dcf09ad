"""The experiments of Kureck 2016, much smaller than the small scale."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import vicinal as vc
from vicinal import lab
from vicinal.lab.experiments import _kureck as kureck
from vicinal.lab.experiments import (
    kureck_apart,
    kureck_contacts,
    kureck_lists,
    kureck_memory,
    kureck_order,
    kureck_sizes,
)

if TYPE_CHECKING:
    from pathlib import Path

FEW = 2000
TINY = {
    "kureck-apart": [{"n": FEW}],
    "kureck-contacts": [{"n": FEW, "motion": motion} for motion in (0.0, kureck_contacts.USUAL)],
    "kureck-lists": [{"n": FEW}],
    "kureck-memory": [{"n": FEW}],
    "kureck-order": [{"n": FEW}],
    "kureck-sizes": [{"sizes": kureck_sizes.ONE, "n": FEW}, {"sizes": kureck_sizes.TWO, "n": 4000}],
}
MODULES = [kureck_apart, kureck_contacts, kureck_lists, kureck_memory, kureck_order, kureck_sizes]


@pytest.mark.parametrize(("n", "times"), [(1000, 1), (16_000, 1), (100_000, 2), (1_000_000, 4), (10_000_000, 10)])
def test_many_spheres_are_copies_of_few(n: int, times: int) -> None:
    assert kureck.copies(n) == times
    assert n % times**3 == 0


def test_settled_spheres_do_not_overlap_and_have_the_published_neighbours(monkeypatch) -> None:
    monkeypatch.setattr(kureck, "MOST_PACKED", 500)
    scene = kureck.settled.__wrapped__(4000, 3)
    assert scene.points.shape == (4000, 3)
    assert len(vc.pairs(scene.points, cutoff=2 * kureck.RADIUS * (1 - 1e-5))[0]) == 0
    inside = (abs(scene.points - scene.points.mean(axis=0)) < 0.3 * np.ptp(scene.points, axis=0)).all(axis=1)
    assert vc.count(scene.points, cutoff=scene.reach)[inside].mean() == pytest.approx(kureck.ENTRIES, rel=0.03)
    order = vc.spatial_order(scene.points)
    assert order.tolist() == list(range(4000)), "in the order of a Morton curve"


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.EXPERIMENT.name)
def test_an_experiment_runs_and_nothing_is_missing(module, tmp_path: Path) -> None:
    name = module.EXPERIMENT.name
    tiny = replace(module.EXPERIMENT, cases=lambda plan: [lab.Case(values) for values in TINY[name]])
    kept = lab.run(tiny, lab.Plan(steps=2), tmp_path)
    assert kept.complete
    assert {row["structure"] for row in kept.rows} == set(tiny.structures)
    assert not [one for one in lab.judge(tiny, kept.rows) if one.verdict is lab.Verdict.MISSING]
    assert {path.stem for path in kept.folder.glob("*.svg")} == {plot.name for plot in tiny.plots}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.EXPERIMENT.name)
def test_its_sizes_are_those_of_the_paper(module) -> None:
    published = {"kureck-apart": 10_000_000, "kureck-order": 10_000_000, "kureck-sizes": 10_000_000}.get(
        module.EXPERIMENT.name, 1_000_000
    )
    cases = module.EXPERIMENT.cases(lab.Plan(scale=lab.Scale.PAPER))
    assert max(case.values["n"] for case in cases) == published


def test_every_entry_is_in_a_place_or_in_the_common_list() -> None:
    rows = list(kureck_lists.measure(lab.Case({"n": FEW}), lab.Plan(steps=1)))
    assert len({row["neighbors"] for row in rows}) == 1
    entries = {row["fixed_places"]: row["dynamic_entries"] for row in rows if "fixed_places" in row}
    assert list(entries) == list(kureck_lists.PUBLISHED)
    assert entries[0] == rows[0]["neighbors"] * FEW / 2
    assert sorted(entries.values(), reverse=True) == list(entries.values())
    assert entries[16] == entries[32] == 0


def test_spheres_on_a_grid_do_not_touch() -> None:
    points = kureck_apart.lattice(1234)
    assert points.shape == (1234, 3)
    assert len(np.unique(points, axis=0)) == 1234
    assert len(vc.pairs(points, cutoff=2 * kureck.RADIUS)[0]) == 0


def test_mixing_keeps_all_bodies_and_moves_as_many_as_asked() -> None:
    points = np.arange(3000, dtype=np.float32).reshape(1000, 3)
    for share in kureck_order.SHARES:
        mixed = kureck_order.mixed(points, share, 1)
        assert sorted(mixed[:, 0].tolist()) == points[:, 0].tolist()
        moved = (mixed != points).any(axis=1).sum()
        assert 0.9 * share * 1000 - 1 <= moved <= share * 1000


def test_a_mixture_has_its_large_spheres_and_no_overlap() -> None:
    mixed = kureck_sizes.mixture.__wrapped__(4000, 1)
    assert np.unique(mixed["radii"], return_counts=True)[1].tolist() == [4000, 1]
    shrunk = mixed["radii"] * (1 - 1e-5)
    assert len(vc.pairs(mixed["points"], radii=shrunk)[0]) == 0


def test_verdicts_on_sizes_can_go_either_way() -> None:
    def judge(tree: float) -> set[str]:
        rows: list[lab.Row] = [
            {"sizes": sizes, "structure": name, "build_seconds": build, "search_seconds": search,
             "both_seconds": build + search}
            for sizes, name, build, search in (
                (kureck_sizes.TWO, kureck_sizes.GRID, 0.1, 20.0), (kureck_sizes.TWO, "BVH", 0.2, 20.0 / tree),
                (kureck_sizes.ONE, kureck_sizes.GRID, 1.0, 1.0), (kureck_sizes.ONE, "BVH", 2.0, 5.0),
            )
        ]  # fmt: skip
        findings = lab.judge(kureck_sizes.EXPERIMENT, rows)
        return {str(one.verdict) for one in findings if "two sizes: search by" in one.label}

    assert judge(20.0) == {"reproduced"}
    assert judge(1.0) == {"differs"}
