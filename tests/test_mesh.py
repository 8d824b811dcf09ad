"""Contacts of spheres with meshes: each touching point once, for any triangles and any motion of the mesh."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vicinal as vc
from meshes import FORMS, Form, ball, closest_points, contact_points, cube, quads, rotation, terrain
from oracle import Array
from refusals import Refusal, check_refusal

FACE, EDGE, VERTEX = 0, 1, 2
every_form = pytest.mark.parametrize("form", FORMS, ids=str)


def by_place(points: Array) -> Array:
    """Rows in an order that rounding does not change."""
    return points[np.lexsort(np.round(points, 6).T)]


def spheres_about(triangles: Array, n: int, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    low, high = triangles.min(axis=(0, 1)) - 0.5, triangles.max(axis=(0, 1)) + 0.5
    return rng.uniform(low, high, (n, 3)), rng.uniform(0, 1.5, n)


# -------------------------------------------------------------------------------- against the definition


@every_form
def test_contacts_are_the_local_minima_of_the_distance(form: Form) -> None:
    places, radii = spheres_about(form.triangles, 150, 5)
    touching = vc.Mesh(form.triangles).contacts(places, radii)
    assert len(touching) > 50
    assert len(np.unique(touching.feature)) > 1
    for k, (place, radius) in enumerate(zip(places, radii, strict=True)):
        own = touching.body == k
        expected = contact_points(place, radius, form.triangles)
        assert np.allclose(by_place(touching.point[own]), by_place(expected), atol=1e-12), k
    apart = places[touching.body] - touching.point
    assert np.allclose(np.sqrt((apart**2).sum(axis=1)), touching.distance, atol=1e-13)
    assert np.allclose(touching.normal * touching.distance[:, None], apart, atol=1e-12)
    assert np.allclose(touching.overlap, radii[touching.body] - touching.distance)
    assert np.all(touching.overlap >= 0)


@every_form
def test_the_triangle_and_the_feature_are_where_the_point_is(form: Form) -> None:
    places, radii = spheres_about(form.triangles, 150, 6)
    touching = vc.Mesh(form.triangles).contacts(places, radii)
    for place, face, kind, point in zip(
        places[touching.body], touching.triangle, touching.feature, touching.point, strict=True
    ):
        triangle = form.triangles[face]
        assert np.allclose(closest_points(place, triangle[None])[0], point, atol=1e-12)
        to_corners = np.sqrt(((triangle - point) ** 2).sum(axis=1)).min()
        sides = np.stack([triangle, np.roll(triangle, -1, axis=0), triangle], axis=1)
        to_edges = np.sqrt(((closest_points(point, sides) - point) ** 2).sum(axis=1)).min()
        assert kind == (VERTEX if to_corners < 1e-12 else EDGE if to_edges < 1e-12 else FACE)


@every_form
def test_contacts_are_ordered_by_body_and_key_and_keys_are_unique(form: Form) -> None:
    mesh = vc.Mesh(form.triangles, smooth=30.0)
    touching = mesh.contacts(*spheres_about(form.triangles, 300, 7))
    order = touching.body.astype(np.int64) * mesh.keys + touching.key
    assert np.all(np.diff(order) > 0)
    assert touching.key.min() >= 0
    assert touching.key.max() < mesh.keys


@pytest.mark.usefixtures("threads")
def test_threads_and_the_order_of_triangles_do_not_matter() -> None:
    triangles = terrain(np.random.default_rng(1).normal(size=(20, 20)))
    places, radii = spheres_about(triangles, 3000, 8)
    made = []
    for threads in (1, 2, 3):
        vc.set_threads(threads)
        made.append(vc.Mesh(triangles).contacts(places, radii))
    for name in ("body", "triangle", "feature", "key", "point", "normal", "distance", "overlap", "velocity"):
        first = getattr(made[0], name)
        for other in made[1:]:
            assert np.array_equal(first, getattr(other, name))
    order = np.random.default_rng(2).permutation(len(triangles))
    mixed = vc.Mesh(triangles[order]).contacts(places, radii)
    assert np.array_equal(mixed.body, made[0].body)
    for k in np.unique(mixed.body):
        a, b = mixed.body == k, made[0].body == k
        assert np.allclose(by_place(mixed.point[a]), by_place(made[0].point[b]), atol=1e-13)


# -------------------------------------------------------------------------------- flat floors


def floors() -> list[Form]:
    """The square from 0 to 4, cut in several ways."""
    rng = np.random.default_rng(4)
    grid = terrain(np.zeros((5, 5)))
    turned = grid[:, ::-1].copy()  # opposite orientation
    turned[::2] = grid[::2]
    # Corners in the middle of other triangles' edges.
    big = quads(np.array([[[0.0, 0, 0], [2, 0, 0], [2, 4, 0], [0, 4, 0]]]))
    small = terrain(np.zeros((3, 5))) + np.array([2.0, 0, 0])
    slivers = np.array([[[2.0, 0, 0], [2, 1, 0], [2, 4, 0]], [[2.0, 1, 0], [2, 1, 0], [2, 2, 0]], [[1.0, 1, 0]] * 3])
    around = np.array([[0.0, 0, 0], [4, 0, 0], [4, 4, 0], [0, 4, 0]])
    inner = rng.uniform(1, 3, 2)
    fan = np.array([[[*inner, 0.0], around[k - 1], around[k]] for k in range(4)])
    return [
        Form("two", quads(around[None])),
        Form("grid", grid),
        Form("mixed sides", turned),
        Form("corners on edges", np.concatenate([big, small])),
        Form("slivers", np.concatenate([grid, slivers])),
        Form("twice", np.concatenate([grid, grid])),
        Form("fan", fan),
    ]


@pytest.mark.parametrize("floor", floors(), ids=str)
def test_a_sphere_rolled_over_a_floor_has_one_contact_all_the_way(floor: Form) -> None:
    """Across faces, along edges and over vertices, at every height of the centre, also of a floor that is tilted."""
    rng = np.random.default_rng(9)
    t = np.linspace(0, 1, 241)[:, None]
    paths = [([0.5, 0.5], [3.5, 3.5]), ([0.5, 2.0], [3.5, 2.0]), ([2.0, 0.5], [2.0, 3.5])]
    paths += [(rng.uniform(0.5, 3.5, 2).tolist(), rng.uniform(0.5, 3.5, 2).tolist()) for _ in range(4)]
    ways = np.concatenate([np.array(a) + t * (np.array(b) - a) for a, b in paths])
    for tilt in (np.eye(3), rotation(rng), rotation(rng)):
        mesh = vc.Mesh(floor.triangles @ tilt.T + [7.0, -5.0, 3.0])
        for height in (0.3, 0.05, 1e-3, -0.2):
            centres = np.column_stack([ways, np.full(len(ways), height)]) @ tilt.T + [7.0, -5.0, 3.0]
            touching = mesh.contacts(centres, 0.4)
            assert np.array_equal(touching.body, np.arange(len(ways)))
            assert np.allclose(touching.overlap, 0.4 - abs(height), atol=1e-13)
            up = tilt[:, 2] * np.sign(height)
            # The direction to a point that is accurate up to the rounding of the squared distance.
            assert np.abs(touching.normal - up).max() < 1e-6 + 1e-9 / abs(height)


@pytest.mark.parametrize("floor", [floor for floor in floors() if floor.name in {"two", "grid", "fan"}], ids=str)
def test_a_sphere_keeps_its_contact_while_it_rolls(floor: Form) -> None:
    mesh = vc.Mesh(floor.triangles)
    contacts = vc.Contacts({"path": 1})
    n = 1
    for step, x in enumerate(np.linspace(0.5, 3.5, 61)):
        touching = mesh.contacts([[x, x, 0.25]], 0.3)
        contacts.update(touching.body, n + touching.key)
        contacts["path"] += 1
        assert contacts["path"].tolist() == [step + 1]
        assert len(contacts.ended) == 0


def test_a_smooth_surface_is_one_contact_and_a_sharp_edge_another() -> None:
    def keys(smooth: float) -> list[int]:
        mesh = vc.Mesh(ball(3), smooth=smooth)
        angle = np.linspace(0, 2, 400)
        way = np.column_stack([np.cos(angle), np.sin(angle), 0.3 * np.sin(3 * angle)])
        way /= np.sqrt((way**2).sum(axis=1, keepdims=True))
        touching = mesh.contacts(way * 1.2, 0.25)
        assert np.array_equal(touching.body, np.arange(400))
        return touching.key.tolist()

    assert len(set(keys(20.0))) == 1
    assert len(set(keys(0.0))) > 20


def test_the_edge_of_a_cube_is_touched_once_from_both_sides() -> None:
    """And has its own key, below the number of keys, independent of the triangle."""
    mesh = vc.Mesh(cube())
    angle = np.linspace(0.01, np.pi / 2 - 0.01, 50)
    centres = np.column_stack([1 + 0.2 * np.sin(angle), np.full(50, 0.3), 1 + 0.2 * np.cos(angle)])
    touching = mesh.contacts(centres, 0.25)
    assert np.array_equal(touching.body, np.arange(50))
    assert np.all(touching.feature == EDGE)
    assert len(set(touching.key.tolist())) == 1
    assert np.allclose(touching.point, [1, 0.3, 1])
    assert np.allclose(touching.distance, 0.2)


# -------------------------------------------------------------------------------- by hand


@pytest.mark.parametrize(
    ("centre", "kinds", "normals"),
    [
        ([0.5, 0.4, 1.2], [FACE], [[0, 0, 1]]),
        ([0.5, 0.5, 1.2], [EDGE], [[0, 0, 1]]),  # on the diagonal of a flat side
        ([1.2, 0.4, 1.2], [EDGE], [[0.5**0.5, 0, 0.5**0.5]]),
        ([1.1, 1.1, 1.1], [VERTEX], [[3**-0.5] * 3]),
        ([0.8, 0.45, 0.8], [FACE, FACE], [[0, 0, -1], [-1, 0, 0]]),  # inside: concave
        ([0.8, 0.75, 0.7], [FACE, FACE, FACE], [[0, 0, -1], [0, -1, 0], [-1, 0, 0]]),
        ([1.0, 1.0, 1.2], [VERTEX], [[0, 0, 1]]),
        ([1.0, 0.4, 1.2], [EDGE], [[0, 0, 1]]),
    ],
)
def test_the_sides_edges_and_corners_of_a_cube(centre: list[float], kinds: list[int], normals: list[Any]) -> None:
    touching = vc.Mesh(cube()).contacts([centre], 0.31)
    assert sorted(touching.feature.tolist()) == kinds
    assert np.allclose(by_place(touching.normal), by_place(np.array(normals, float)))
    assert len(set(touching.key.tolist())) == len(kinds)


def test_the_inside_of_a_concave_corner_has_no_contact_with_the_edge() -> None:
    """A floor and a wall; the centre approaches the edge between them."""
    floor = quads(np.array([[[0.0, 0, 0], [4, 0, 0], [4, 4, 0], [0, 4, 0]]]))
    wall = quads(np.array([[[0.0, 0, 0], [0, 4, 0], [0, 4, 4], [0, 0, 4]]]))
    mesh = vc.Mesh(np.concatenate([floor, wall]))
    for s in (0.5, 0.1, 1e-3):
        touching = mesh.contacts([[s, 1.1, s]], 1.0)
        assert touching.feature.tolist() == [FACE, FACE]
        assert np.allclose(by_place(touching.normal), [[1, 0, 0], [0, 0, 1]])
        assert np.allclose(touching.distance, s)


def test_a_sphere_touches_at_exactly_its_radius() -> None:
    mesh = vc.Mesh(cube())
    centres = np.array([[0.5, 0.25, 1.5], [0.5, 0.25, np.nextafter(1.5, 2)], [1.3, 0.5, 1.4], [2.0, 0.5, 0.25]])
    touching = mesh.contacts(centres, [0.5, 0.5, 0.5, 1.0])
    assert touching.body.tolist() == [0, 2, 3]
    assert touching.overlap[0] == 0


def test_a_centre_on_the_surface_is_pushed_out_of_the_face() -> None:
    mesh = vc.Mesh(np.array([[[0.0, 0, 0], [4, 0, 0], [0, 4, 0]]]))
    touching = mesh.contacts([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [2.0, 2.0, 0.0]], 0.5)
    assert touching.distance.tolist() == [0, 0, 0]
    assert touching.overlap.tolist() == [0.5, 0.5, 0.5]
    assert touching.normal.tolist() == [[0, 0, 1]] * 3


@pytest.mark.parametrize(
    "triangle",
    [
        [[0, 0, 0], [1, 0, 0], [3, 0, 0]],
        [[1, 0, 0], [1, 0, 0], [3, 0, 0]],
        [[3, 0, 0], [1, 0, 0], [3, 0, 0]],
        [[0, 0, 0], [1, 1e-14, 0], [3, 0, 0]],
        [[0, 0, 0], [1e-9, 1e-9, 0], [3, 0, 0]],
        [[1, 0, 0], [1, 0, 0], [1, 0, 0]],
    ],
)
def test_triangles_without_area_are_lines_or_points(triangle: Any) -> None:
    corners = np.array(triangle, float)
    mesh = vc.Mesh([corners])
    for centre in ([1.0, 0.3, 0.4], [3.3, 0.4, 0.0], [1.0, 0.0, -0.5]):
        touching = mesh.contacts([centre], 3.0)
        assert len(touching) == 1
        at = np.clip(centre[0], corners[:, 0].min(), corners[:, 0].max())
        assert np.allclose(touching.point, [[at, 0, 0]], atol=1e-8)
    assert len(mesh.contacts([[1.0, 0.3, 0.4]], 0.49)) == 0


@given(
    ticks=st.lists(st.integers(-3, 3), min_size=9, max_size=9),
    at=st.lists(st.integers(-6, 6), min_size=3, max_size=3),
    exponent=st.integers(-30, 30),
)
def test_any_triangle_of_any_size_has_its_closest_point(ticks: list[int], at: list[int], exponent: int) -> None:
    """Whole numbers make triangles of every degenerate kind."""
    unit = 2.0**exponent
    triangle, place = np.array(ticks, float).reshape(3, 3), np.array(at, float) / 2
    expected = closest_points(place, triangle[None])[0]
    touching = vc.Mesh([triangle * unit]).contacts([place * unit], 30.0 * unit)
    assert len(touching) == 1
    assert np.allclose(touching.point[0] / unit, expected, atol=1e-12)
    assert np.isclose(np.sqrt((touching.normal[0] ** 2).sum()), 1)


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 9))
def test_triangles_that_intersect_in_every_way_have_the_contacts_of_the_definition(seed: int, count: int) -> None:
    """Corners are small integers: edges and corners are shared, faces intersect, touch and are degenerate."""
    rng = np.random.default_rng(seed)
    triangles = rng.integers(0, 4, (count, 3, 3)).astype(float)
    places = rng.integers(-2, 9, (5, 3)) / 2
    radii = rng.integers(0, 5, 5) / 2 + 0.137  # no triangle is at this distance
    touching = vc.Mesh(triangles).contacts(places, radii)
    for k, (place, radius) in enumerate(zip(places, radii, strict=True)):
        expected = contact_points(place, radius, triangles)
        assert np.allclose(by_place(touching.point[touching.body == k]), by_place(expected), atol=1e-9)


def test_nothing_touches_nothing() -> None:
    empty = vc.Mesh(np.zeros((0, 3, 3)))
    assert len(empty) == 0
    assert len(empty.contacts([[0.0, 0.0, 0.0]], 1.0)) == 0
    none = vc.Mesh(cube()).contacts(np.zeros((0, 3)), [])
    assert len(none) == 0
    assert none.point.shape == none.normal.shape == none.velocity.shape == (0, 3)
    assert none.body.dtype == none.key.dtype == np.int32


def test_a_mesh_of_vertices_and_faces_is_that_of_its_triangles() -> None:
    triangles = cube()
    vertices, faces = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    one, other = vc.Mesh(triangles), vc.Mesh(vertices=vertices, faces=faces.reshape(-1, 3))
    assert repr(one) == repr(other) == "Mesh(12 triangles, 18 edges, 8 vertices)"
    assert np.array_equal(one.triangles, triangles)
    assert np.array_equal(other.vertices[other.faces], triangles)
    assert one.keys == 12 + 18 + 8 + 6


def test_float32_and_one_radius_for_all_are_taken() -> None:
    mesh = vc.Mesh(cube().astype(np.float32))
    centres = np.array([[0.5, 0.25, 1.25], [0.5, 0.25, 1.75]], np.float32)
    touching = mesh.contacts(centres, 0.5)
    assert touching.body.tolist() == [0]
    assert touching.point.dtype == np.float64


def test_large_spheres_touch_fine_meshes_where_they_are_nearest() -> None:
    """Thousands of triangles within reach, one contact."""
    mesh = vc.Mesh(ball(4), smooth=20)
    touching = mesh.contacts([[0.0, 0.0, 30.0], [0.0, 20.0, 20.0]], 29.5)
    assert touching.body.tolist() == [0, 1]
    assert np.allclose(touching.normal, [[0, 0, 1], [0, 0.5**0.5, 0.5**0.5]], atol=0.05)


# -------------------------------------------------------------------------------- motion


@every_form
def test_a_mesh_that_moved_is_like_one_made_there(form: Form) -> None:
    rng = np.random.default_rng(12)
    places, radii = spheres_about(form.triangles, 200, 13)
    mesh = vc.Mesh(form.triangles)
    for _ in range(3):
        mesh.rotate(rng.uniform(-4, 4), rng.normal(size=3), rng.normal(size=3))
        mesh.translate(rng.normal(size=3))
        assert np.allclose(mesh.rotation @ mesh.rotation.T, np.eye(3), atol=1e-15)
        moved = places @ mesh.rotation.T + mesh.translation
        touching, expected = mesh.contacts(moved, radii), vc.Mesh(mesh.triangles).contacts(moved, radii)
        assert np.array_equal(touching.body, expected.body)
        for k in np.unique(touching.body):
            a, b = touching.body == k, expected.body == k
            for name in ("point", "normal"):
                assert np.allclose(
                    by_place(getattr(touching, name)[a]), by_place(getattr(expected, name)[b]), atol=1e-6
                )
            assert np.allclose(np.sort(touching.distance[a]), np.sort(expected.distance[b]), atol=1e-12)
            assert sorted(touching.triangle[a]) == sorted(expected.triangle[b]) or form.name in {"terrain", "cube"}


def test_moving_does_not_build_the_tree_again() -> None:
    mesh = vc.Mesh(ball(2))
    built = mesh._tree.stats.details
    mesh.rotate(1.0, [0, 1, 0])
    mesh.contacts([[1.0, 0, 0]], 0.5)
    after = mesh._tree.stats.details
    assert {name: after[name] for name in after if "build" in name} == {n: built[n] for n in built if "build" in n}


def test_place_turns_then_moves_from_where_the_mesh_was_made() -> None:
    rng = np.random.default_rng(3)
    mesh = vc.Mesh(cube())
    mesh.translate([5, 5, 5])
    turn, offset = rotation(rng), rng.normal(size=3)
    mesh.place(turn, offset)
    assert np.allclose(mesh.triangles, cube() @ turn.T + offset)
    mesh.place()
    assert np.array_equal(mesh.triangles, cube())


def test_a_thousand_small_turns_are_one_large_one() -> None:
    mesh, other = vc.Mesh(cube()), vc.Mesh(cube())
    motion = {"velocity": [1.0, 2.0, 3.0], "spin": [0.3, -2.0, 1.1], "origin": [0.5, 0.1, 4.0]}
    mesh.set_motion(**motion)
    other.set_motion(**motion)
    for _ in range(1000):
        mesh.advance(0.01)
    other.advance(10.0)
    assert np.allclose(mesh.triangles, other.triangles, atol=1e-10)
    assert np.allclose(mesh.velocity_at(mesh.vertices), other.velocity_at(other.vertices), atol=1e-9)


def test_the_velocity_of_a_contact_is_that_of_its_point() -> None:
    """It equals the displacement of a point of the mesh in a short time, divided by that time."""
    mesh = vc.Mesh(cube())
    mesh.set_motion(velocity=[1.0, 0.0, -2.0], spin=[0.0, 3.0, 1.0], origin=[0.2, 0.3, 0.4])
    mesh.advance(0.37)
    centres = mesh.triangles.mean(axis=1)
    touching = mesh.contacts(centres, 0.1)
    assert len(touching) >= 12
    own = (touching.point - mesh.translation) @ mesh.rotation
    dt = 1e-6
    mesh.advance(dt)
    later = own @ mesh.rotation.T + mesh.translation
    assert np.allclose((later - touching.point) / dt, touching.velocity, atol=1e-4)


def test_a_mesh_at_rest_does_not_move() -> None:
    mesh = vc.Mesh(cube())
    mesh.advance(1.0)
    assert np.array_equal(mesh.triangles, cube())
    assert not mesh.contacts([[0.5, 0.25, 1.25]], 0.5).velocity.any()


# -------------------------------------------------------------------------------- refused


def mesh() -> vc.Mesh:
    return vc.Mesh(cube())


VERTICES = np.eye(3)
REFUSALS = [
    Refusal("no triangles", lambda: vc.Mesh(), "triangles", "vertices=.*faces="),
    Refusal("both", lambda: vc.Mesh(cube(), vertices=VERTICES, faces=[[0, 1, 2]]), "triangles", "combined"),
    Refusal("vertices alone", lambda: vc.Mesh(vertices=VERTICES), "faces", "both"),
    Refusal("flat triangles", lambda: vc.Mesh(cube()[:, :, :2]), "triangles", r"\(12, 3, 2\)"),
    Refusal("nan", lambda: vc.Mesh(cube() * np.nan), "triangles", "nan.*row 0"),
    Refusal("vast", lambda: vc.Mesh(cube() * 1e80), "triangles", r"1e\+80"),
    Refusal("text", lambda: vc.Mesh(vertices=[["a", "b", "c"]], faces=[[0, 0, 0]]), "vertices", "U1"),
    Refusal("an unknown vertex", lambda: vc.Mesh(vertices=VERTICES, faces=[[0, 1, 3]]), "faces", "3"),
    Refusal("a negative vertex", lambda: vc.Mesh(vertices=VERTICES, faces=[[0, 1, -1]]), "faces", "-1"),
    Refusal("faces of two", lambda: vc.Mesh(vertices=VERTICES, faces=[[0, 1]]), "faces", r"\(1, 2\)"),
    Refusal("faces of fractions", lambda: vc.Mesh(vertices=VERTICES, faces=[[0, 1, 2.5]]), "faces", "float64"),
    Refusal("negative smoothness", lambda: vc.Mesh(cube(), smooth=-1), "smooth", "-1"),
    Refusal("smoothness that is not a number", lambda: vc.Mesh(cube(), smooth=np.nan), "smooth", "nan"),
    Refusal("points in the plane", lambda: mesh().contacts(np.zeros((4, 2)), 1.0), "points", r"\(4, 2\)"),
    Refusal("nan points", lambda: mesh().contacts([[0, 0, np.nan]], 1.0), "points", "nan"),
    Refusal("negative radii", lambda: mesh().contacts([[0, 0, 0]], -1.0), "radii", "-1"),
    Refusal("radii of others", lambda: mesh().contacts([[0, 0, 0]], [1.0, 2.0]), "radii", r"\(2,\)"),
    Refusal("an axis without length", lambda: mesh().rotate(1.0, [0, 0, 0]), "axis", r"0\.0, 0\.0, 0\.0"),
    Refusal("an endless angle", lambda: mesh().rotate(np.inf, [0, 0, 1]), "angle", "inf"),
    Refusal("an offset in the plane", lambda: mesh().translate([1, 2]), "offset", r"\(2,\)"),
    Refusal("a mirror", lambda: mesh().place(np.diag([1.0, 1, -1])), "rotation", "-1"),
    Refusal("a stretch", lambda: mesh().place(np.eye(3) * 1.1), "rotation", r"1\.1"),
    Refusal("a rotation of the plane", lambda: mesh().place(np.eye(2)), "rotation", r"\(2, 2\)"),
    Refusal("a time that is not a number", lambda: mesh().advance(np.nan), "dt", "nan"),
    Refusal("a spin of one number", lambda: mesh().set_motion(spin=3.0), "spin", r"\(\)"),
    Refusal("an infinite velocity", lambda: mesh().set_motion(velocity=[np.inf, 0, 0]), "velocity", "inf"),
]


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_a_refusal_names_argument_value_and_requirement(refusal: Refusal) -> None:
    check_refusal(refusal)


def test_a_file_is_read_where_trimesh_is_installed(tmp_path: Any) -> None:
    path = tmp_path / "mesh.off"
    path.write_text("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")
    try:
        import trimesh  # noqa: F401
    except ImportError:
        with pytest.raises(ImportError, match="trimesh"):
            vc.Mesh.load(path)
    else:
        assert repr(vc.Mesh.load(path)) == "Mesh(1 triangles, 3 edges, 3 vertices)"


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda mesh: pickle.loads(pickle.dumps(mesh))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_a_copy_has_the_triangles_and_the_motion_but_moves_independently(copied: Any) -> None:
    first = vc.Mesh(cube(), smooth=30.0)
    first.set_motion(velocity=[0, 0, 1], spin=[1, 0, 0])
    first.advance(0.3)
    second = copied(first)
    places = np.random.default_rng(1).uniform(-1, 3, (200, 3))
    expected, touching = first.contacts(places, 0.5), second.contacts(places, 0.5)
    assert len(expected) > 20
    for field in fields(expected):
        assert np.array_equal(getattr(touching, field.name), getattr(expected, field.name))
    second.advance(1.0)
    assert np.array_equal(first.contacts(places, 0.5).point, expected.point)
    assert not np.array_equal(second.vertices, first.vertices)


def test_arrays_of_a_mesh_are_read_only() -> None:
    mesh = vc.Mesh(cube())
    for array in (mesh.vertices, mesh.faces, mesh.triangles, mesh.rotation, mesh.translation):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
