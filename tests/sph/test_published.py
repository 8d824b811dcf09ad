"""Flows against published results at a coarse resolution; `vicinal lab run fluids-published` runs them finer."""

from __future__ import annotations

import pytest

from vicinal.errors import InputError
from vicinal.lab import flows


def test_the_front_of_a_dam_break_follows_experiments() -> None:
    for front in (flows.koshizuka_front, flows.martin_moyce_front):
        found = front(20)
        assert found["rms"] < 0.1
        # The gate delays both by up to 0.3 √(a / 2 g).
        assert found["late"] < 0.3
        assert found["left"] == 0


def test_the_wave_of_lobovsky_reaches_the_far_wall_in_time() -> None:
    found = flows.lobovsky_pressure(30)
    assert found["impact"] == pytest.approx(flows.LOBOVSKY_IMPACT, rel=0.03)
    # The experiment has 0.575, δ-SPH in two dimensions 0.90: no friction, no third dimension.
    assert found["plateau"] == pytest.approx(flows.DE_COURCY_PLATEAU, rel=0.1)
    assert found["higher"] == pytest.approx(flows.LOBOVSKY_HIGHER, rel=0.15)
    assert found["left"] == 0


def test_a_standing_wave_has_the_period_and_decay_of_theory() -> None:
    found = flows.standing_wave(40, periods=3.0)
    assert found["period"] == pytest.approx(1, rel=0.01)
    assert found["decay"] == pytest.approx(1, rel=0.1)


def test_a_rotating_square_has_the_exact_pressure_and_no_voids() -> None:
    found = flows.rotating_square(40)
    assert found["pressure"] == pytest.approx(flows.ROTATING_CENTRE, rel=0.03)
    assert found["cover"] > 0.95
    assert found["angular_momentum"] == pytest.approx(1, rel=0.01)


def test_the_reservoir_of_kleefsman_empties_as_measured() -> None:
    # So coarse, the front is late by a tenth: `vicinal lab run fluids-published` has the other gauge and the impact.
    found = flows.kleefsman_heights(11, until=0.3)
    assert found["H4"] < 0.02
    assert found["H4 depth"] < 0.02
    assert found["left"] == 0


def test_viscosity_delays_the_front_of_kleefsman() -> None:
    """By DFSPH, whose steps are few; so coarse, the front is late even without viscosity."""
    thin, thick = (flows.kleefsman_heights(11, until=0.46, scheme="dfsph", alpha=alpha) for alpha in (0.0, 0.05))
    assert flows.KLEEFSMAN_IMPACT < thin["impact"] < thick["impact"]
    assert thin["impact"] == pytest.approx(flows.KLEEFSMAN_IMPACT, rel=0.1)


def test_the_water_of_kleefsman_must_fit_between_the_side_walls() -> None:
    with pytest.raises(InputError, match=r"cells must be a multiple of 11.* got 24"):
        flows.kleefsman_heights(24)
