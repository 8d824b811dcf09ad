"""Fluid fills regions with the right mass, half a spacing from flat ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import meshes
import vicinal as vc
from refusals import Refusal, check_refusal
from sph.solids import box_mesh
from vicinal.errors import InputError
from vicinal.sim.meshes import SurfaceMesh
from vicinal.sim.regions import BoxRegion, CylinderRegion, MeshRegion, SphereRegion
from vicinal.sim.walls import Plane
from vicinal.sph.fill import fill
from vicinal.sph.solids import check_outside


@given(st.lists(st.integers(1, 12), min_size=2, max_size=3), st.floats(1e-3, 1e3), st.floats(-100, 100))
def test_a_box_is_filled_with_whole_rows(counts: list[int], spacing: float, corner: float) -> None:
    low = np.full(len(counts), corner)
    points = fill((low, low + spacing * np.array(counts)), spacing)
    assert len(points) == np.prod(counts)
    tolerance = 1e-9 * (spacing + abs(corner))
    assert np.allclose(points.min(axis=0), low + spacing / 2, atol=tolerance)
    assert np.allclose(points.max(axis=0), low + spacing * (np.array(counts) - 0.5), atol=tolerance)


def test_curved_regions_have_their_volume_and_no_close_particles() -> None:
    ball = 0.5 * meshes.ball(3)
    mesh = vc.Mesh(ball)
    surface = SurfaceMesh(ball.reshape(-1, 3), np.arange(3 * len(ball), dtype=np.int32).reshape(-1, 3))
    spacing = 0.05
    cases = [
        (SphereRegion(centre=(1, 0, 0), radius=0.5), 3, np.pi / 6),
        (CylinderRegion(start=(0, 0, 0), end=(0, 0, 0.4), radius=0.3), 3, np.pi * 0.09 * 0.4),
        (CylinderRegion(start=(0, 0, -1), end=(0, 0, 1), radius=0.5), 2, np.pi / 4),
        (surface, 3, np.pi / 6),
        (mesh, 3, np.pi / 6),
    ]
    for region, dim, volume in cases:
        points = fill(region, spacing, dim=dim)
        assert len(points) * spacing**dim == pytest.approx(volume, rel=0.03), region
        assert vc.count(points, cutoff=0.75 * spacing).max() == 0, region


def test_packing_evens_out_particles_at_curved_ends() -> None:
    region = CylinderRegion(start=(0, 0, -1), end=(0, 0, 1), radius=0.5)
    lattice, packed = (fill(region, 0.05, dim=2, pack=rounds) for rounds in (0, 100))
    gaps = [0.5 - np.linalg.norm(points, axis=1) for points in (lattice, packed)]
    # Those nearest to the end are half a spacing from it, as in a box.
    outer = [np.sort(gap)[:45] for gap in gaps]
    assert outer[0].min() < 0.4 * 0.05
    assert outer[1].min() == pytest.approx(0.025, rel=1e-6)
    assert np.ptp(outer[1]) < 0.2 * np.ptp(outer[0])


def test_walls_cut_out_of_the_fluid_what_is_inside_them() -> None:
    block = box_mesh((0.4, 0.0, -1), (0.6, 0.2, 1))
    whole = fill(((0, 0), (1, 0.5)), 0.05)
    cut = fill(((0, 0), (1, 0.5)), 0.05, walls=[block])
    assert len(whole) - len(cut) == 4 * 4
    check_outside([block], cut, 0.05)
    with pytest.raises(InputError, match=r"16 particles inside 'block'.*walls="):
        check_outside([block], whole, 0.05)


def test_wrong_input_is_refused() -> None:
    holed = SurfaceMesh(np.eye(3), np.array([[0, 1, 2]], np.int32))
    box = BoxRegion(low=(0, 0, 0), high=(1, 1, 0.5))
    for refusal in (
        Refusal("open", lambda: fill(holed, 0.1), "region", "3 open edges"),
        Refusal("misfit", lambda: fill(box, 0.12), "spacing", r"0\.12.*nearest one that fits is 0\.125"),
        Refusal("no fit", lambda: fill(((0, 0), (1, 0.57)), 0.11), "spacing", r"edges of 0\.99, 0\.55"),
        Refusal("negative", lambda: fill(box, -1.0), "spacing", "-1"),
        Refusal("too many", lambda: fill(box, 1e-5), "spacing", "1e-05"),
        Refusal("reversed", lambda: fill(((1, 1), (0, 0)), 0.1), "region", "1"),
        Refusal("no corners", lambda: fill(3, 0.1), "region", "3"),
        Refusal("file", lambda: fill(((0, 0), (np.nan, 1)), 0.1), "region", "nan"),
        Refusal("dim", lambda: fill(box, 0.1, dim=4), "dim", "4"),
    ):
        check_refusal(refusal)
    with pytest.raises(FileNotFoundError):
        fill(MeshRegion(file="missing.stl"), 0.1)
    floor = Plane(name="floor", material="", point=(0, 0.26, 0), normal=(0, 1, 0))
    with pytest.raises(InputError, match=r"'floor', the deepest by 0.2 or more"):
        check_outside([floor], fill(((0, 0), (1, 0.5)), 0.05), 0.05)
