"""vc.choose: the structure and the reason."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given

import vicinal as vc
from compare import ALL, assert_same_pairs
from oracle import Pairs, exact_pairs
from strategies import problems
from vicinal import _core, costs
from vicinal.choose import choose_checked, chosen_index
from vicinal.settings import check_settings
from vicinal.structures import STRUCTURES

if TYPE_CHECKING:
    from problem import Problem

RNG = np.random.default_rng(18)
UNIFORM = RNG.random((50000, 3))
SMALL = np.full(len(UNIFORM), 0.01)
BOXES = (UNIFORM, UNIFORM + 0.02 * RNG.random(UNIFORM.shape))

# Delaunay has no estimate: it takes points in the plane only, and the other structures are faster there.
CHOOSABLE = set(vc.structures.STRUCTURES) - {"Delaunay"}

SITUATIONS: dict[str, dict[str, Any]] = {
    "uniform": {"points": UNIFORM, "cutoff": 0.03},
    "sparse": {"points": UNIFORM, "cutoff": 0.001},
    "dense": {"points": UNIFORM, "cutoff": 0.1},
    "vast": {"points": UNIFORM * 1e9, "cutoff": 1.0},
    "one place": {"points": np.zeros((3000, 3)), "cutoff": 1e-6},
    "flat": {"points": UNIFORM * [1, 1, 0], "cutoff": 0.01},
    "plane": {"points": UNIFORM[:, :2].copy(), "cutoff": 0.01},
    "single precision": {"points": UNIFORM.astype(np.float32), "cutoff": 0.03},
    "periodic": {"points": UNIFORM, "cutoff": 0.03, "box": 1.0},
    "half periodic": {"points": UNIFORM, "cutoff": 0.03, "box": (1.0, None, 1.0)},
    "periodic, one cell": {"points": UNIFORM[:2000], "cutoff": 0.9, "box": 1.0},
    "spheres": {"points": UNIFORM, "radii": SMALL},
    "no radius": {"points": UNIFORM, "radii": 0.0},
    "mixed sizes": {"points": UNIFORM, "radii": 0.002 * 20 ** RNG.random(len(UNIFORM))},
    "two sizes": {"points": UNIFORM, "radii": np.where(np.arange(len(UNIFORM)) % 5000 == 0, 0.3, 0.005)},
    "one giant": {"points": UNIFORM, "radii": np.where(np.arange(len(UNIFORM)) == 7, 0.3, 0.005)},
    "boxes": {"boxes": BOXES},
    "flat boxes": {"boxes": (UNIFORM, UNIFORM + np.array([0.01, 0.0, 0.0]))},
    "boxes in the plane, periodic": {"boxes": (BOXES[0][:, 1:].copy(), BOXES[1][:, 1:].copy()), "box": 1.0},
    "no body": {"points": np.zeros((0, 3)), "cutoff": 1.0},
    "one body": {"points": [[1.0, 2.0]], "cutoff": 1.0},
    "a few": {"points": UNIFORM[:9], "radii": SMALL[:9]},
}


def build(choice: Any, **bodies: Any) -> Any:
    return getattr(vc, choice.structure)(**bodies, **choice.parameters)


def test_a_choice_names_the_structure_and_the_reason() -> None:
    choice = vc.choose(UNIFORM, cutoff=0.03)
    assert choice.structure in CHOOSABLE
    assert isinstance(choice.parameters, dict)
    assert len(choice.reason.split()) >= 4
    with pytest.raises(FrozenInstanceError):
        choice.structure = "Octree"


@pytest.mark.parametrize("name", SITUATIONS)
def test_every_alternative_has_a_cost_and_the_least_is_chosen(name: str) -> None:
    bodies = SITUATIONS[name]
    choice = vc.choose(**bodies)
    count = len(bodies["points"] if "points" in bodies else bodies["boxes"][0])
    assert all(0 < cost < math.inf for cost in choice.costs.values())
    if count < 2:
        return
    # Only a dense grid may be impossible.
    assert set(CHOOSABLE) - set(choice.costs) <= {"LinkedCells"}
    if count > costs.current_costs().all_pairs_limit:
        assert choice.costs[choice.structure] == min(choice.costs.values())


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_chosen_structure_finds_the_same_pairs_as_the_others(name: str) -> None:
    bodies = SITUATIONS[name]
    if name == "one place":
        bodies = {**bodies, "points": bodies["points"][:300]}
    if name == "dense":
        bodies = {**bodies, "cutoff": 0.04}
    pairs = vc.pairs(**bodies, sort=True)
    for expected in (vc.BVH(**bodies).pairs(sort=True), build(vc.choose(**bodies), **bodies).pairs(sort=True)):
        for one, two in zip(pairs, expected, strict=True):
            assert np.array_equal(one, two)


@given(problem=problems())
def test_the_chosen_structure_can_be_built_and_finds_the_pairs(problem: Problem) -> None:
    choice = vc.choose(problem.points, **problem.space)
    index = build(choice, points=problem.points, **problem.space)
    pairs = Pairs(*index.pairs(want=ALL, half=False, sort=True))
    assert_same_pairs(pairs, exact_pairs(problem.points, **problem.space))


@pytest.mark.parametrize("n", [0, 1, 2, 10])
def test_a_few_bodies_are_searched_exhaustively(n: int) -> None:
    choice = vc.choose(UNIFORM[:n], cutoff=0.03)
    assert choice.structure == "Exhaustive"
    assert f"{n} bodies are so few" in choice.reason


@pytest.mark.parametrize("n", [2, 10, 200])
def test_with_a_negative_limit_other_structures_are_chosen_for_few_bodies(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test suite sets the limit to reach the other structures through `vicinal.pairs` with few bodies."""
    monkeypatch.setattr(costs, "ALL_PAIRS_LIMIT", -1)
    for bodies in ({"cutoff": 0.3}, {"radii": 0.1}, {"cutoff": 0.3, "box": 1.0}):
        choice = vc.choose(UNIFORM[:n], **bodies)
        assert choice.structure != "Exhaustive"
        assert_same_pairs(
            Pairs(*vc.pairs(UNIFORM[:n], **bodies, want=ALL, half=False, sort=True)),
            Pairs(*vc.Exhaustive(UNIFORM[:n], **bodies).pairs(want=ALL, half=False, sort=True)),
        )
    assert vc.choose(UNIFORM[:1], cutoff=0.3).structure == "Exhaustive"


SINGLE = {
    "few": (UNIFORM[:50], {"cutoff": 0.3}),
    "points": (UNIFORM, {"cutoff": 0.03}),
    "sparse": (UNIFORM * [1.0, 1e3, 1e3], {"cutoff": 0.03}),
    "mixed": (UNIFORM, {"radii": np.geomspace(1e-4, 0.2, len(UNIFORM))}),
    "periodic": (UNIFORM.astype(np.float32), {"cutoff": 0.02, "box": (1.0, None, 1.0)}),
    "boxes": (None, {"boxes": (UNIFORM, UNIFORM + 0.02)}),
    "plane": (UNIFORM[:, :2].copy(), {"cutoff": 0.01}),
}


@pytest.mark.parametrize("limit", [None, -1])
@pytest.mark.parametrize("name", SINGLE)
def test_a_single_search_uses_the_structure_that_choose_returns(
    name: str, limit: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(costs, "ALL_PAIRS_LIMIT", limit)
    points, bodies = SINGLE[name]
    settings = check_settings(points, **bodies)
    choice = choose_checked(settings)
    index = chosen_index(settings)
    chooser, given = index._core.origin  # type: ignore[attr-defined]
    structure, options = chooser.choose(settings.bodies.for_core, settings.cutoff, settings.box.for_core, given)
    assert structure == choice.structure
    named = STRUCTURES[structure]._once(settings, choice.parameters)._core.origin  # type: ignore[attr-defined]
    assert (structure, options) == named


@pytest.mark.parametrize("name", SINGLE)
def test_a_single_search_is_one_call_into_the_core_after_the_checks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    points, bodies = SINGLE[name]
    expected = vc.count(points, **bodies).sum()
    for unused in ("Search", "Survey"):
        monkeypatch.setattr(_core, unused, None)
    assert 2 * len(vc.pairs(points, **bodies)[0]) == expected
    assert len(vc.neighbors(points, **bodies).indices) == expected


def test_a_crowd_is_not() -> None:
    assert vc.choose(UNIFORM, cutoff=0.03).structure != "Exhaustive"


def test_bodies_of_one_size_that_fill_space_get_a_dense_grid() -> None:
    assert vc.choose(UNIFORM, cutoff=0.03).structure == "LinkedCells"


def test_a_dense_grid_is_never_chosen_where_it_would_not_fit() -> None:
    vast = SITUATIONS["vast"]
    choice = vc.choose(**vast)
    # Cells as large as the reach would be far too many; wider ones are as few as bodies.
    assert choice.structure != "LinkedCells" or (1e9 / choice.parameters["cell"]) ** 3 < len(vast["points"])
    assert "2e+22" not in choice.reason
    build(choice, **vast).pairs()


@pytest.mark.parametrize("name", ["one giant", "two sizes"])
def test_bodies_of_many_sizes_get_a_structure_for_mixed_sizes(name: str) -> None:
    choice = vc.choose(**SITUATIONS[name])
    assert choice.structure in {"HashGrid", "BVH"}
    assert "times as large" in choice.reason
    assert choice.costs["LinkedCells"] > 1.3 * choice.costs[choice.structure]


def test_a_sentence_names_the_second_best() -> None:
    choice = vc.choose(UNIFORM, cutoff=0.03)
    second = sorted(choice.costs, key=lambda name: choice.costs[name])[1]
    assert second in choice.reason


def test_the_choice_is_the_one_pairs_makes() -> None:
    """The chosen structure returns the pairs of `vicinal.pairs`, in the same order."""
    with vc.threads(1):
        index = build(vc.choose(UNIFORM, cutoff=0.03), points=UNIFORM, cutoff=0.03)
        for chosen, called in zip(index.pairs(), vc.pairs(UNIFORM, cutoff=0.03), strict=True):
            assert np.array_equal(chosen, called)


def test_choosing_checks_its_input() -> None:
    with pytest.raises(vc.InputError, match="cutoff"):
        vc.choose(UNIFORM, cutoff=-1)
    with pytest.raises(vc.InputError, match="box"):
        vc.choose(UNIFORM, cutoff=0.1, box=(1, 1))
    with pytest.raises(vc.InputError, match="motion"):
        vc.choose(UNIFORM, cutoff=0.1, motion=-1)


def test_an_index_that_is_kept_and_hardly_moves_is_not_rebuilt() -> None:
    once = vc.choose(UNIFORM, cutoff=0.03)
    resting = vc.choose(UNIFORM, cutoff=0.03, motion=0.0)
    moving = vc.choose(UNIFORM, cutoff=0.03, motion=1.0)
    assert resting.costs["LinkedCells"] == moving.costs["LinkedCells"] == once.costs["LinkedCells"]
    for name in costs.current_costs().updates:
        assert resting.costs[name] <= moving.costs[name]


# ---- Counts and seconds, by name ------------------------------------------------------------------------------------


@pytest.mark.parametrize("measured", costs.read_tables())
@pytest.mark.parametrize("name", ["uniform", "mixed sizes", "boxes", "periodic", "plane"])
def test_every_count_of_every_structure_has_seconds(measured: str, name: str) -> None:
    bodies = SITUATIONS[name]
    settings = check_settings(bodies.get("points"), **{k: v for k, v in bodies.items() if k != "points"})
    table = costs.costs_named(measured).table
    estimates = costs.survey(settings).estimates()
    assert {structure for structure, *_ in estimates} == CHOOSABLE
    for structure, parameters, counts, kept in estimates:
        seconds = table.seconds(structure, settings.bodies.kind, len(settings.bodies), counts)
        assert seconds is not None
        assert seconds > 0
        assert set(kept) <= set(counts)
        assert all(number >= 0 for number in counts.values())
        index = getattr(vc, structure)(**bodies, **parameters)  # the parameters are those of the class
        assert index.stats.bodies == len(settings.bodies)


def test_a_prediction_is_the_sum_of_counts_times_seconds() -> None:
    few, many = {"call": 2.0, "test": 3.0}, {"call": 4.0, "test": 5.0}
    table = _core.CostTable({"Octree": {"points": {"few": few, "many": many}}}, {})
    counts = {"call": 1.0, "test": 10.0}
    assert table.seconds("Octree", "points", 1000, counts) == 2 + 30
    assert table.seconds("Octree", "points", 100_000, counts) == 4 + 50
    assert table.seconds("Octree", "points", 10_000, counts) == pytest.approx(3 + 40)
    assert table.seconds("Octree", "boxes", 1000, counts) is None
    assert table.seconds("BVH", "points", 1000, counts) is None
    with pytest.raises(ValueError, match="'pair' of Octree; run benchmarks/calibrate"):
        table.seconds("Octree", "points", 1000, {**counts, "pair": 1.0})
    with pytest.raises(ValueError, match="no count is called 'tset'"):
        _core.CostTable({"Octree": {"points": {"few": {"tset": 1.0}, "many": {"tset": 1.0}}}}, {})


def test_a_structure_without_seconds_is_not_predicted() -> None:
    """A new structure is chosen only after calibration, and has no effect before."""
    measured = costs.read_tables()["avx2 AMD"]
    seconds = {name: kinds for name, kinds in measured["structures"].items() if name != "LinkedCells"}
    surveyed = costs.survey(check_settings(UNIFORM, cutoff=0.03))
    assert set(surveyed.predict(_core.CostTable(seconds, measured["updates"]), None, 0)) == CHOOSABLE - {"LinkedCells"}


def test_every_structure_that_can_be_chosen_has_a_reason() -> None:
    for name in CHOOSABLE:
        why = vc.structures.STRUCTURES[name]._why.format(bodies="7", cells="CELLS", sizes="SIZES")
        assert len(why.split()) > 3


# ---- Instruction sets -----------------------------------------------------------------------------------------------


def test_the_nearest_instruction_set_stands_in_for_one_that_was_not_measured() -> None:
    assert costs.nearest("avx2", "", ["baseline", "avx2", "avx512"]) == "avx2"
    assert costs.nearest("avx512", "AMD", ["baseline", "avx2"]) == "avx2"
    assert costs.nearest("baseline", "Intel", ["avx2", "avx512"]) == "avx2"
    assert costs.nearest("avx2", "", ["avx512", "baseline"]) == "baseline"
    assert costs.nearest("neon", "", ["baseline", "avx2", "avx512"]) == "avx2"


def test_a_processor_has_the_constants_of_its_maker() -> None:
    names = ["baseline", "avx2", "avx512 Intel", "avx512 AMD"]
    assert costs.nearest("avx512", "AMD", names) == "avx512 AMD"
    assert costs.nearest("avx512", "Intel", names) == "avx512 Intel"
    assert costs.nearest("avx512", "", names) == "avx512 Intel"
    assert costs.nearest("avx2", "AMD", names) == "avx2"
    assert _core.processor_maker() in {"AMD", "Intel", ""}


def test_a_choice_names_the_instruction_set_of_its_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = costs.read_tables()
    monkeypatch.setattr(_core, "get_isa", lambda: "avx512")
    for measured, stands_in in (({"avx2": tables["avx2 AMD"]}, "avx2"), ({"avx512": tables["avx2 AMD"]}, "avx512")):
        monkeypatch.setattr(costs, "read_tables", lambda measured=measured: measured)
        costs.forget()
        choice = vc.choose(UNIFORM, cutoff=0.03)
        assert choice.measured_with == stands_in
        assert ("constants for avx2; none were measured for avx512" in choice.reason) == (stands_in == "avx2")
    monkeypatch.undo()
    costs.forget()
    assert vc.choose(UNIFORM, cutoff=0.03).measured_with in {costs.isa_of(name) for name in tables}


# ---- The survey ---------------------------------------------------------------------------------------------------


def survey(points: Any, **bodies: Any) -> dict[str, Any]:
    return costs.survey(check_settings(points, **bodies)).facts()


def occupancy(points: Any, edge: float) -> tuple[float, float]:
    """Others in the cell of a body on average, and occupied cells, by counting."""
    cells, counts = np.unique(np.floor(points / edge).astype(np.int64), axis=0, return_counts=True)
    return float((counts * (counts - 1)).sum() / len(points)), float(len(cells))


@pytest.mark.parametrize("dim", [2, 3])
def test_the_survey_estimates_the_density(dim: int) -> None:
    """A cluster in a uniform background: within a fifth of the true numbers at scales that a sample resolves."""
    points = np.concatenate([RNG.random((20000, dim)), 0.3 + 0.05 * RNG.random((20000, dim))])
    facts = survey(points, cutoff=0.01, box=1.0)
    edge, others, cells = facts["edge"], facts["others"], facts["cells"]
    assert edge == 1.0
    for k in range(2, 7):
        seen, occupied = occupancy(points, edge / 2**k)
        assert others[k] == pytest.approx(seen, rel=0.2)
        assert cells[k] == pytest.approx(occupied, rel=0.5)
    assert all(more >= less for more, less in pairwise(others))


@pytest.mark.parametrize("seed", range(5))
def test_the_survey_leaves_out_only_strays(seed: int) -> None:
    """Bodies in open space that fill it unevenly, but of which none is far from all others."""
    rng = np.random.default_rng(seed)
    sheet = rng.random((2000, 3)) * [1, 1, 0.02]
    sheet[:, 2] += np.sin(6 * sheet[:, 0]) / 4
    facts = survey(sheet, cutoff=0.1)
    assert facts["others"][0] == pytest.approx(len(sheet) - 1)
    assert facts["cells"][0] <= 8
    true = vc.count(sheet, cutoff=0.1).sum() / 2
    assert facts["pairs"] == pytest.approx(true, rel=0.4)  # from cells that are not aligned with the sheet


def test_the_survey_of_a_few_bodies_is_exact() -> None:
    points = RNG.random((250, 3))
    facts = survey(points, cutoff=0.1, box=1.0)
    for k in range(8):
        seen, occupied = occupancy(points, facts["edge"] / 2**k)
        assert facts["others"][k] == pytest.approx(seen)
        assert facts["cells"][k] == occupied


def test_a_stray_body_does_not_spoil_the_survey() -> None:
    points = RNG.random((20000, 3))
    near, far = (survey(p, cutoff=0.1)["edge"] for p in (points, np.concatenate([points, [[1e12] * 3]])))
    assert near == pytest.approx(1.15, rel=0.01)
    assert far < 5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_stray_body_does_not_mislead_the_choice(dtype: Any) -> None:
    points = RNG.random((200_000, 3)).astype(dtype)
    stray = np.concatenate([points, np.array([[1e9, -1e9, 1e9]], dtype)])
    assert survey(stray, cutoff=0.02)["pairs"] == pytest.approx(survey(points, cutoff=0.02)["pairs"], rel=0.15)
    plain, choice = vc.choose(points, cutoff=0.02), vc.choose(stray, cutoff=0.02)
    # The choice is a structure that strays hardly affect, and its prediction is not lower.
    assert choice.structure not in {"Exhaustive", "SweepAndPrune"}
    for name in ("BVH", "CellSorting", "LinkedCells", "Octree", "SpatialHash"):
        assert 0.8 * plain.costs[name] < choice.costs[name] < 2.5 * plain.costs[name]
    assert choice.costs["HashGrid"] > 0.8 * plain.costs["HashGrid"]
    assert len(vc.pairs(stray, cutoff=0.02)[0]) == len(vc.pairs(points, cutoff=0.02)[0])


def test_no_test_is_free() -> None:
    """Otherwise a structure that puts all bodies into one cell would be predicted to be fast."""
    for table in costs.read_tables().values():
        for kinds in table["structures"].values():
            for sizes in kinds.values():
                assert all(seconds["test"] >= 1e-10 for seconds in sizes.values())


def test_the_survey_counts_bodies_by_size_and_never_misses_the_largest() -> None:
    radii = np.full(200_000, 0.001)
    radii[1234] = 0.2
    facts = survey(RNG.random((200_000, 3)), radii=radii)
    for groups in (facts["levels"], facts["octaves"]):
        assert len(groups) == 2
        assert groups[0]["count"] == pytest.approx(200_000, rel=1e-3)
        assert groups[1]["count"] <= 4
        assert groups[1]["largest"] == 0.2


def test_predictions_do_not_depend_on_the_number_of_the_giant() -> None:
    # A sample that always contains the first body would count it as hundreds.
    points = np.random.default_rng(3).random((60_000, 3))
    predicted = []
    for giant in (0, 31_337):
        radii = np.full(len(points), 0.004)
        radii[giant] = 0.3
        costs_now = vc.choose(points, radii=radii).costs
        predicted.append([costs_now[name] for name in ("HashGrid", "BVH", "SweepAndPrune")])
    assert predicted[0] == pytest.approx(predicted[1], rel=0.2)
