"""Probes measure what is known of a fluid at rest and of a steady stream."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from refusals import Refusal, check_refusal
from vicinal.sph.fill import fill
from vicinal.sph.probes import FluidSample, FluxPlane, HeightGauge, PressureProbe, Probes

SPACING = 0.05


def sample(dim: int, height: float = 0.5, velocity: tuple[float, ...] = (0.0, 0.0, 0.0)) -> FluidSample:
    """Water at rest, or flowing evenly; the last axis points up."""
    upper = np.array([1.0, *[0.5] * (dim - 2), height])
    points = fill((np.zeros(dim), upper), SPACING)
    support = 3 * SPACING
    factor = {2: 7 / np.pi, 3: 21 / (2 * np.pi)}[dim] / support**dim
    return FluidSample(
        positions=points,
        velocities=np.tile(np.array(velocity[:dim]), (len(points), 1)),
        densities=np.full(len(points), 1000.0),
        pressures=9810 * (height - points[:, -1]),
        masses=np.full(len(points), 1000 * SPACING**dim),
        kernel=lambda r: factor * (1 - r / support) ** 4 * (1 + 4 * r / support),
        support=support,
        spacing=SPACING,
    )


@pytest.mark.parametrize("dim", [2, 3])
def test_probes_in_still_and_flowing_water(dim: int) -> None:
    water = sample(dim, velocity=(2.0, 0.0, 0.0))
    middle = [0.5] + [0.25] * (dim - 1)
    assert PressureProbe(name="p", point=middle).measure(water) == pytest.approx(9810 * 0.25, rel=1e-3)
    # At a wall there is fluid on one side only.
    wall = [0.0] + [0.25] * (dim - 1)
    sensor = PressureProbe(name="p", point=wall, width=0.1, normal=[1.0] + [0.0] * (dim - 1))
    assert sensor.measure(water) == pytest.approx(9810 * 0.25, rel=0.01)
    assert PressureProbe(name="p", point=[5.0] * dim).measure(water) == 0
    up, foot = [0.0] * (dim - 1) + [1.0], [*middle[:-1], 0.0]
    for height in (0.5, 0.25, 0.05):
        gauge = HeightGauge(name="h", point=foot, direction=up, length=1.0)
        assert gauge.measure(sample(dim, height)) == pytest.approx(height, abs=0.6 * SPACING)
    assert HeightGauge(name="h", point=[5.0] * dim, direction=up, length=1.0).measure(water) == 0
    area = 0.5 ** (dim - 1)
    for place in (0.5, 0.513, 0.525):
        plane = FluxPlane(name="q", point=[place] + [0.25] * (dim - 1), normal=[1.0] + [0.0] * (dim - 1))
        assert plane.measure(water) == pytest.approx(2 * 1000 * area, rel=1e-9)


def test_the_table_has_a_column_per_probe(tmp_path: Path) -> None:
    probes = Probes(
        [PressureProbe(name="p1", point=(0.5, 0.1)), HeightGauge(name="h1", point=(0.5, 0), direction=(0, 1), length=1)]
    )
    probes.open(tmp_path / "probes.csv")
    for step in range(3):
        probes.append(step, 0.1 * step, sample(2, 0.5 - 0.1 * step))
    with (tmp_path / "probes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["step", "time", "p1", "h1"]
    heights = [float(row["h1"]) for row in rows]
    assert heights == sorted(heights, reverse=True)
    assert float(rows[2]["time"]) == 0.2


def test_wrong_input_is_refused() -> None:
    for refusal in (
        Refusal("point", lambda: PressureProbe(name="a", point=(1, np.nan)), "point", "nan"),
        Refusal(
            "normal", lambda: PressureProbe(name="a", point=(1, 1), width=0.1), "normal", "must be given with a width"
        ),
        Refusal("direction", lambda: HeightGauge(name="a", point=(0, 0), direction=(0, 0), length=1), "direction", "0"),
        Refusal("length", lambda: HeightGauge(name="a", point=(0, 0), direction=(0, 1), length=0), "length", "0"),
        Refusal("flux", lambda: FluxPlane(name="a", point=(0, 0), normal=(0, 0)), "normal", "0"),
        Refusal("names", lambda: Probes([PressureProbe(name="a", point=(0, 0))] * 2), "probes", "'a'"),
    ):
        check_refusal(refusal)
