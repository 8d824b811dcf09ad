"""Verdicts: altered figures must be judged as different."""

from __future__ import annotations

import pytest

from vicinal import lab
from vicinal.lab import Exponent, Goal, Order, Pick, Ratio, Shown, Value, Verdict
from vicinal.lab.experiments import _koch

GOOD = [
    {"structure": name, "bodies": n, "candidates": n * factor, "seconds": n**power * 1e-6}
    for name, factor, power in (("HashGrid", 10, 1.0), ("LinkedCells", 30, 1.3), ("Exhaustive", 1000, 2.0))
    for n in (1000, 2000, 4000, 8000)
]


def doctored(column: str, factor: float, **where: object) -> list[dict[str, object]]:
    """The same rows with some figures multiplied."""
    return [
        {**row, column: row[column] * factor} if all(row[k] == v for k, v in where.items()) else row for row in GOOD
    ]


def at(column: str, name: str, n: int = 8000) -> Pick:
    return Pick(column, {"structure": name, "bodies": n})


CLAIMS = {
    "count": Value(label="count", pick=at("candidates", "HashGrid"), published=80_000, tolerance=0.05),
    "order": Order(label="order", less=at("seconds", "HashGrid"), more=at("seconds", "LinkedCells")),
    "ratio": Ratio(
        label="ratio", over=at("candidates", "LinkedCells"), under=at("candidates", "HashGrid"), published=3, least=2.5,
        most=3.5,
    ),
    "exponent": Exponent(
        label="exponent", x="bodies", y="seconds", where={"structure": "Exhaustive"}, published=2.0, tolerance=0.05
    ),
}  # fmt: skip
SPOILT = {
    "count": doctored("candidates", 1.06, structure="HashGrid"),
    "order": doctored("seconds", 100.0, structure="HashGrid"),
    "ratio": doctored("candidates", 0.5, structure="HashGrid"),
    "exponent": doctored("seconds", 2.0, structure="Exhaustive", bodies=8000),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_correct_figures_reproduce_the_published_results(name: str) -> None:
    assert CLAIMS[name].judge(GOOD).verdict is Verdict.REPRODUCED


@pytest.mark.parametrize("name", CLAIMS)
def test_altered_figures_differ(name: str) -> None:
    finding = CLAIMS[name].judge(SPOILT[name])
    assert finding.verdict is Verdict.DIFFERS
    assert finding.measured != CLAIMS[name].judge(GOOD).measured


@pytest.mark.parametrize("name", CLAIMS)
def test_missing_measurements_are_not_judged(name: str) -> None:
    assert CLAIMS[name].judge([]).verdict is Verdict.MISSING
    assert CLAIMS[name].judge([{"structure": "another"}]).verdict is Verdict.MISSING


def test_a_difference_states_its_size_and_its_cause() -> None:
    claim = Value(label="", pick=Pick("n"), published=100, tolerance=0.05, why="counted by hand")
    finding = claim.judge([{"n": 200}])
    assert "2 times the published" in finding.why
    assert "within 5%" in finding.why
    assert "counted by hand" in finding.why
    assert "counted by hand" not in claim.judge([{"n": 101}]).why


def test_an_exact_count_must_be_exact() -> None:
    claim = Value(label="", pick=Pick("n"), published=55_742_968, tolerance=0)
    assert claim.judge([{"n": 55_742_968}]).verdict is Verdict.REPRODUCED
    finding = claim.judge([{"n": 55_742_967}])
    assert finding.verdict is Verdict.DIFFERS
    assert finding.measured == "55,742,967"


def test_bounds_are_included_and_beyond_them_is_different() -> None:
    claim = Ratio(label="", over=Pick("a"), under=Pick("b"), published="2 to 3", least=2, most=3)
    verdicts = [claim.judge([{"a": a, "b": 1.0}]).verdict for a in (1.99, 2.0, 3.0, 3.01)]
    assert verdicts == [Verdict.DIFFERS, Verdict.REPRODUCED, Verdict.REPRODUCED, Verdict.DIFFERS]


def test_a_draw_is_no_win() -> None:
    assert Order(label="", less=Pick("a"), more=Pick("b")).judge([{"a": 1.0, "b": 1.0}]).verdict is Verdict.DIFFERS


def test_two_sizes_are_no_growth() -> None:
    claim = Exponent(label="", x="n", y="t", published=1, tolerance=1)
    assert claim.judge([{"n": n, "t": 1.0 * n} for n in (1, 2)]).verdict is Verdict.MISSING
    assert claim.judge([{"n": n, "t": 1.0 * n} for n in (1, 2, 3)]).verdict is Verdict.REPRODUCED
    late = Exponent(label="", x="n", y="t", published=1, tolerance=0.01, start=2)
    assert late.judge([{"n": n, "t": 1.0 * max(n, 2)} for n in (1, 2, 3, 4)]).verdict is Verdict.REPRODUCED


def test_seconds_of_old_machines_are_shown_and_never_judged() -> None:
    with pytest.raises(ValueError, match="not judged"):
        Value(label="", pick=Pick("seconds"), published=4.42, tolerance=0.1)
    shown = Shown(label="", pick=Pick("seconds"), published=4.42)
    assert {shown.judge([{"seconds": s}]).verdict for s in (1e-9, 4.42, 1e9)} == {Verdict.SHOWN}


def test_goals_are_reached_or_missed() -> None:
    goal = Goal(label="", pick=Pick("regret", take="max"), most=2)
    assert goal.judge([{"regret": 1.0}, {"regret": 1.9}]).verdict is Verdict.REACHED
    assert goal.judge([{"regret": 1.0}, {"regret": 2.1}]).verdict is Verdict.MISSED
    between = Goal(label="", pick=Pick("centre"), least=1.12, most=1.14)
    found = {centre: between.judge([{"centre": centre}]) for centre in (1.1199, 1.12, 1.14, 1.1401)}
    assert [finding.verdict is Verdict.REACHED for finding in found.values()] == [False, True, True, False]
    assert found[1.12].published == "goal: from 1.12 to 1.14"


def test_the_bubble_of_case_2_must_be_where_the_groups_of_hysing_have_it() -> None:
    claims = lab.find("fluids-phases").claims
    (centre,) = [claim for claim in claims if claim.label.startswith("bubble 2: height")]
    for height, reached in ((1.1199, False), (1.1206, True), (1.139, True), (1.1548, False)):
        assert (centre.judge([{"flow": "bubble 2", "centre": height}]).verdict is Verdict.REACHED) == reached


def test_a_wrong_stencil_would_be_detected() -> None:
    """All claims of an experiment, on figures as published and on figures with every candidate counted twice."""
    experiment = lab.find("koch-scenarios")
    right = [
        {"scenario": one.table, "structure": name, "candidates": count}
        for one in _koch.SCENARIOS
        for name, count in one.candidates.items()
    ]
    twice = [{**row, "candidates": 2 * row["candidates"]} for row in right]
    judged = [finding for finding in lab.judge(experiment, right) if finding.verdict is not Verdict.MISSING]
    assert len(judged) == 18
    assert {finding.verdict for finding in judged} == {Verdict.REPRODUCED}
    assert {f.verdict for f in lab.judge(experiment, twice)} == {Verdict.DIFFERS, Verdict.MISSING}


@pytest.mark.parametrize("take", ["mean", "min", "max", "sum", "median"])
def test_a_figure_can_be_taken_in_several_ways(take: str) -> None:
    picked = Pick("x", take=take).of([{"x": 1}, {"x": 2}, {"x": 6}])
    assert picked == {"mean": 3, "min": 1, "max": 6, "sum": 9, "median": 2}[take]
