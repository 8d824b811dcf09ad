"""Fills: amounts that cannot fit are refused, with the numbers, before a body is drawn or placed."""

import pytest

from sim.busy import busy
from vicinal import InputError
from vicinal.dem.solver import GrainSolver
from vicinal.sim.draws import Draws

# The tray has 1.8e-5 m³, the smallest bead 3.35e-8 m³ and 8.4e-5 kg.
TOO_MUCH = [
    ({"count": 12_000}, r"12,000 bodies .* at least 22\.3 times its volume \(0\.000402 against 1\.8e-05 m³\)"),
    ({"count": 10**9}, r"1,000,000,000 bodies"),
    ({"mass": 1.0}, r"22\.2 times its volume"),
    ({"mass": 1e9}, r"times its volume"),
]


def build(method, **amount):
    return GrainSolver.build(busy(dem={"insert": [{"bodies": "bead", "region": "tray", "method": method, **amount}]}))


@pytest.mark.parametrize(("amount", "message"), TOO_MUCH, ids=[str(case[0]) for case in TOO_MUCH])
@pytest.mark.parametrize("method", ["random", "lattice"])
def test_many_times_the_volume_of_a_region_is_refused_at_once(amount, message, method, monkeypatch):
    def drawn(*_):
        raise AssertionError("bodies were drawn")

    monkeypatch.setattr(Draws, "uniform", drawn)
    with pytest.raises(InputError, match=r'^dem\.insert\.0 \(region "tray"\): .*' + message):
        build(method, **amount)


@pytest.mark.parametrize("method", ["random", "lattice"])
def test_more_than_a_packing_holds_is_refused_before_bodies_are_placed(method, monkeypatch):
    def placed(*_, **__):
        raise AssertionError("bodies were placed")

    monkeypatch.setattr("vicinal.sim.packing.drop", placed)
    monkeypatch.setattr("vicinal.sim.lattice._sites", placed)
    with pytest.raises(InputError, match=r"300 bodies .* at least 1\.19 times its volume"):
        build(method, count=300)


def test_an_emitter_of_bodies_too_large_for_the_periodic_box_is_refused_before_the_run():
    # The largest beads of the gate have a diameter of 0.006.
    late = {"kind": "emitter", "bodies": "bead", "region": "gate", "rate": 500, "start": 0.01}
    with pytest.raises(InputError, match=r"diameter of bodies, 0\.006, got a period of 0\.0119 along y"):
        GrainSolver.build(busy(periodic={"y": 0.0119}, dem={"insert": [late]}))
    GrainSolver.build(busy(periodic={"y": 0.012}, dem={"insert": [late]}))


def test_an_amount_is_met_as_closely_as_bodies_allow():
    volume = 1.8e-5
    solver = build("random", fraction=0.3)
    own = (4 / 3 * 3.14159265 * solver.simulation.radii**3).sum()
    assert own == pytest.approx(0.3 * volume, abs=4 / 3 * 3.15 * 0.003**3)
