"""Sample scenes: no overlap, exact counts, the requested density, the same bodies from the same seed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest

import vicinal as vc
from vicinal.scenes import Draws, SampleScene, SphereGroup
from vicinal.sim.arithmetic import cube_root, exp, log, power

S = vc.scenes
CUBE = (0.0, 0.0, 0.0), (20.0, 20.0, 20.0)


def digest(*arrays: Any) -> str:
    """A checksum of the bits of arrays."""
    total = hashlib.sha256()
    for array in arrays:
        total.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return total.hexdigest()[:16]


def bits(made: Any) -> str:
    if isinstance(made, SampleScene):
        sizes = [array for array in (made.radii, made.edges) if array is not None]
        return digest(made.points, *sizes, [made.cutoff or 0.0, *made.lower, *made.upper])
    return digest(made)


def groups() -> list[SphereGroup]:
    return [
        SphereGroup(2, 4.0, *CUBE),
        SphereGroup(300, 0.5, (0.0, 0.0, 0.0), (10.0, 20.0, 20.0)),
        SphereGroup(50, 0.25, *CUBE),
    ]


MADE: dict[str, tuple[Callable[[int], Any], str]] = {
    "uniform": (lambda seed: S.uniform(1000, neighbours=20, seed=seed), "9c9516c1d5c33541"),
    "uniform periodic 2D": (
        lambda seed: S.uniform(1000, edge=7.0, dim=2, neighbours=9, periodic=True, seed=seed),
        "57b2448daf9f78d9",
    ),
    "clustered": (lambda seed: S.clustered(1000, seed=seed), "bc9bc5013fe4b5b5"),
    "filament": (lambda seed: S.filament(1000, seed=seed), "4d4f90b348cb1590"),
    "sheet": (lambda seed: S.sheet(1000, seed=seed), "6df3bafe30afc981"),
    "spheres": (lambda seed: S.spheres(S.lognormal(1000, seed=seed), filling=0.3, seed=seed), "2c5524ee5eef92e9"),
    "boxes_in_box": (lambda seed: S.boxes_in_box(groups(), seed=seed), "726b0e56a5c77f16"),
    "checkerboard": (lambda seed: S.checkerboard(2, per_field=100, edge=20.0, seed=seed), "b9db0ca9015d3872"),
    "giant": (lambda seed: S.giant(500, ratio=50, edge=100.0, seed=seed), "e8ba40408842526e"),
    "packed": (lambda seed: S.packed(np.full(300, 0.5), filling=0.5, seed=seed), "3b24c23e5100f050"),
    "packed periodic": (
        lambda seed: S.packed(S.lognormal(300, sigma=0.2), filling=0.55, periodic=True, seed=seed),
        "cbc64bea08a0dba4",
    ),
    "packed discs": (lambda seed: S.packed(np.full(300, 0.5), filling=0.6, dim=2, seed=seed), "28477982a354092a"),
    "cuboids": (lambda seed: S.cuboids(1000, shape=(10, 1, 1), turned=True, spread=12, seed=seed), "c161b10c05ea4844"),
    "lognormal": (lambda seed: S.lognormal(1000, sigma=0.7, seed=seed), "9ed20804f16e3a49"),
    "bimodal": (lambda seed: S.bimodal(1000, large=7, seed=seed), "a694c55226cb4682"),
    "power_law": (lambda seed: S.power_law(1000, spread=40, seed=seed), "4c2d1a7a6aea9d1c"),
    "power_law by volume": (lambda seed: S.power_law(1000, spread=40, evenly="volume", seed=seed), "58d8f7bf872833bd"),
    "headings": (lambda seed: S.headings(1000, 0.5, seed=seed), "8381de5f154e3106"),
    "shaking": (lambda seed: S.shaking(1000, 0.5, dim=2, seed=seed), "5555cd2d24f9ee83"),
    "jitter": (lambda seed: next(islice(S.jitter(np.zeros((100, 3)), 0.5, seed=seed), 5, None)), "50b279eded5b3999"),
}


@pytest.mark.parametrize("name", MADE)
def test_a_seed_gives_the_same_bodies_on_every_machine(name: str) -> None:
    """The checksums never change: a scene in a paper can be reproduced."""
    make, expected = MADE[name]
    assert bits(make(1)) == expected


@pytest.mark.parametrize("name", MADE)
def test_another_seed_gives_other_bodies(name: str) -> None:
    make, _ = MADE[name]
    assert bits(make(1)) != bits(make(2))


@pytest.mark.parametrize("threads", [1, 2])
def test_the_number_of_threads_changes_no_scene(threads: int) -> None:
    make, expected = MADE["packed"]
    with vc.threads(threads):
        assert bits(make(1)) == expected


APART = {
    "boxes_in_box": 352,
    "checkerboard": 400,
    "giant": 500,
    "packed": 300,
    "packed periodic": 300,
    "packed discs": 300,
}


@pytest.mark.parametrize(("name", "bodies"), APART.items())
def test_spheres_do_not_overlap_where_that_is_promised(name: str, bodies: int) -> None:
    scene = MADE[name][0](3)
    assert len(scene) == bodies
    assert len(vc.pairs(**scene.bodies)[0]) == 0
    if not scene.periodic:
        assert (scene.points - scene.radii[:, None] >= np.array(scene.lower) - 1e-12).all()
        assert (scene.points + scene.radii[:, None] <= np.array(scene.upper) + 1e-12).all()


@pytest.mark.parametrize(
    ("filling", "options"), [(0.3, {}), (0.52, {}), (0.6, {"periodic": True}), (0.75, {"dim": 2, "periodic": True})]
)
def test_packed_spheres_have_the_filling_asked_for(filling: float, options: dict[str, Any]) -> None:
    scene = S.packed(np.full(600, 0.5), filling=filling, seed=1, **options)
    assert scene.filling == pytest.approx(filling, rel=1e-12)
    assert len(vc.pairs(**scene.bodies)[0]) == 0
    # Packed tightly, not spread thinly: many are almost in contact.
    assert len(vc.pairs(**scene.bodies, skin=0.2)[0]) > len(scene) / 2


def test_packing_takes_time_in_proportion() -> None:
    """Not O(n²): the candidates per sphere do not grow."""
    scene = S.packed(np.full(8000, 0.5), filling=0.4, seed=1)
    index = vc.HashGrid(**scene.bodies, skin=0.001)
    index.pairs()
    assert index.stats.candidates < 60 * len(scene)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("neighbours", [3, 30])
def test_uniform_points_have_the_neighbours_asked_for(dim: int, periodic: bool, neighbours: int) -> None:
    scene = S.uniform(20_000, dim=dim, periodic=periodic, neighbours=neighbours, edge=5.0, seed=2)
    assert vc.count(**scene.bodies).mean() == pytest.approx(neighbours, rel=0.04)
    assert (scene.points >= 0).all()
    assert (scene.points < 5).all()


@pytest.mark.parametrize("options", [{}, {"spread": 12}, {"shape": (10, 1, 1)}, {"shape": (9, 9, 1), "turned": True}])
def test_cuboids_have_the_pairs_asked_for(options: dict[str, Any]) -> None:
    scene = S.cuboids(30_000, pairs=2, seed=3, **options)
    assert len(vc.pairs(**scene.bodies)[0]) / len(scene) == pytest.approx(2, rel=0.05)


def test_a_filament_touches_itself_at_least_along_the_thread() -> None:
    scene = S.filament(500, spacing=0.1, seed=1)
    i, j = vc.pairs(**scene.bodies)
    assert set(range(499)) <= {min(a, b) for a, b in zip(i.tolist(), j.tolist(), strict=True) if abs(a - b) == 1}


def test_every_other_field_of_a_board_is_filled() -> None:
    scene = S.checkerboard(4, per_field=5, edge=10.0, seed=1)
    fields, counts = np.unique(np.floor(scene.points / 10).astype(int), axis=0, return_counts=True)
    assert len(fields) == 32
    assert (counts == 5).all()
    assert (fields.sum(axis=1) % 2 == 0).all()


def test_walls_are_planes_around_the_scene() -> None:
    scene = S.packed(np.full(200, 0.5), filling=0.3, seed=1)
    assert len(vc.pairs(**scene.bodies, planes=scene.walls)[0]) <= 200 * 6
    outside = scene.at(scene.points - 3)
    assert vc.count(**outside, planes=scene.walls)[200:203].all()


def test_bodies_that_drift_are_reflected_or_wrapped() -> None:
    scene = S.uniform(500, edge=3.0, radius=0.1, seed=1)
    speed = S.shaking(500, 0.5, seed=1)
    for periodic in (False, True):
        path = S.drift(scene.points, speed, lower=scene.lower, upper=scene.upper, periodic=periodic)
        for at in islice(path, 40):
            assert (at >= 0).all()
            assert (at <= 3).all()
    free = list(islice(S.drift(scene.points, speed), 11))
    np.testing.assert_allclose(free[10], scene.points + 10 * speed)


def test_a_step_is_an_array_of_its_own() -> None:
    """Positions returned by a step do not change later."""
    for path in (
        S.drift(np.zeros((2, 3)), np.ones((2, 3))),
        S.jitter(np.zeros((2, 3)), 1.0),
        S.shear(np.ones((2, 3)), 0.5, lower=(0, 0, 0), upper=(9, 9, 9)),
    ):
        first = next(path)
        kept = first.copy()
        next(path)
        np.testing.assert_array_equal(first, kept)


def test_scenes_can_be_float32() -> None:
    scene = S.spheres([1.0, 2.0, 3.0], filling=0.2, seed=1).astype(np.float32)
    assert scene.points.dtype == scene.radii.dtype == np.float32


def test_portable_functions_are_accurate() -> None:
    x = np.linspace(-700, 700, 10_001)
    np.testing.assert_allclose(exp(x), np.exp(x), rtol=4e-16 * 8)
    y = np.exp(np.linspace(-700, 700, 10_001))
    np.testing.assert_allclose(log(y), np.log(y), rtol=4e-16 * 8, atol=1e-15)
    np.testing.assert_allclose(power(y, 0.3), y**0.3, rtol=1e-13)
    assert [cube_root(float(k) ** 3) for k in range(1, 50)] == list(range(1, 50))


def test_draws_have_the_right_distribution() -> None:
    normal = Draws(5).normal(100_000)
    assert abs(normal.mean()) < 0.02
    assert normal.std() == pytest.approx(1, rel=0.02)
    assert (abs(normal) < 1).mean() == pytest.approx(0.6827, abs=0.01)
    directions = Draws(5).directions(50_000, 3)
    np.testing.assert_allclose((directions**2).sum(axis=1), 1)
    np.testing.assert_allclose(directions.mean(axis=0), 0, atol=0.02)
    assert sorted(Draws(5).order(1000).tolist()) == list(range(1000))
    assert np.bincount(Draws(5).integers(7, 70_000)).min() > 9500


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: S.uniform(-1), "n"),
        (lambda: S.uniform(10, dim=4), "dim"),
        (lambda: S.uniform(10, neighbours=3, cutoff=1.0), "neighbours"),
        (lambda: S.uniform(10, neighbours=30), "neighbours"),
        (lambda: S.uniform(10, edge=0.0), "edge"),
        (lambda: S.uniform(10, seed=-1), "seed"),
        (lambda: S.packed([1.0, -1.0], filling=0.1), "radii"),
        (lambda: S.packed([1.0], filling=0.9), "radii"),
        (lambda: S.packed([1.0] * 100, filling=1.5), "filling"),
        (lambda: S.spheres([[1.0]], filling=0.1), "radii"),
        (lambda: S.boxes_in_box([]), "groups"),
        (lambda: S.boxes_in_box([SphereGroup(1, 5.0, (0, 0, 0), (1, 1, 1))]), "groups[0]"),
        (lambda: S.lognormal(10, sigma=-1.0), "sigma"),
        (lambda: S.bimodal(10, large=11), "large"),
        (lambda: S.power_law(10, spread=0.5), "spread"),
        (lambda: S.power_law(10, spread=2, evenly="mass"), "evenly"),
        (lambda: S.cuboids(10, shape=(1, 1)), "shape"),
        (lambda: next(S.drift(np.zeros((2, 3)), np.zeros((2, 2)))), "velocities"),
        (lambda: next(S.drift(np.zeros((2, 3)), np.zeros((2, 3)), lower=(0, 0, 0))), "lower"),
        (lambda: next(S.drift(np.zeros((2, 3)), np.zeros((2, 3)), periodic=True)), "periodic"),
    ],
)
def test_wrong_arguments_are_named(call: Callable[[], object], argument: str) -> None:
    with pytest.raises(vc.InputError, match=rf"^{argument.replace('[', chr(92) + '[')}"):
        call()


def test_spheres_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vicinal.scenes.groups.MOST_ROUNDS", 20)
    monkeypatch.setattr("vicinal.scenes.packing.MOST_ROUNDS", 20)
    with pytest.raises(vc.InputError, match="had no room"):
        S.boxes_in_box([SphereGroup(2000, 0.5, (0, 0, 0), (10, 10, 10))], seed=1)
    with pytest.raises(vc.InputError, match="was not reached"):
        S.packed(np.full(300, 0.5), filling=0.68, seed=1)


def test_no_bodies_are_a_scene_too() -> None:
    assert len(S.uniform(0)) == len(S.packed([], filling=0.5)) == len(S.filament(0)) == len(S.cuboids(0)) == 0
