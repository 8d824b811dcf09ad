"""Packings have no overlaps, are inside their region, and are dense enough."""

import numpy as np
import pytest
import trimesh

import vicinal as vc
from vicinal import InputError
from vicinal.sim.draws import Draws
from vicinal.sim.lattice import lattice
from vicinal.sim.meshes import SurfaceMesh, load_mesh
from vicinal.sim.packing import Occupied, drop, pack
from vicinal.sim.spaces import BoxSpace, CylinderSpace, MeshSpace, SphereSpace


def ball(radius=0.5):
    mesh = trimesh.creation.icosphere(subdivisions=2, radius=radius)
    return SurfaceMesh(np.array(mesh.vertices), np.array(mesh.faces, np.int32))


SPACES = {
    "box": lambda: BoxSpace(np.zeros(3), np.array([1.0, 0.8, 1.2])),
    "cylinder": lambda: CylinderSpace(np.zeros(3), np.array([0.6, 0.6, 0.3]), 0.4),
    "sphere": lambda: SphereSpace(np.zeros(3), 0.6),
    "mesh": lambda: MeshSpace(ball()),
}


def some(space, fraction, radius=0.06, spread=0.3, seed=0):
    rng = np.random.default_rng(seed)
    radii = radius * (1 + spread * rng.uniform(-1, 1, 4000))
    count = int(np.searchsorted(np.cumsum(4 / 3 * np.pi * radii**3), fraction * space.volume))
    return radii[:count], Draws(seed)


def check(space, places, radii, box=None):
    assert np.isfinite(places).all()
    assert len(vc.pairs(places, radii=radii, box=box)[0]) == 0
    assert space.fits(places, radii * (1 - 1e-9)).all()


@pytest.mark.parametrize("fraction", [0.1, 0.45])
@pytest.mark.parametrize("name", SPACES)
def test_packed_spheres_are_inside_and_do_not_overlap(name, fraction):
    space = SPACES[name]()
    radii, draws = some(space, fraction if name != "mesh" else 0.8 * fraction)
    check(space, pack(space, radii, draws), radii)


def test_dense_packings_are_reached():
    space = BoxSpace(np.zeros(3), np.ones(3), (1.0, 1.0, 1.0))
    radii, draws = some(space, 0.57, radius=0.05)
    check(space, pack(space, radii, draws, box=(1.0, 1.0, 1.0)), radii, box=(1.0, 1.0, 1.0))


def test_a_region_that_is_too_full_is_refused(monkeypatch):
    monkeypatch.setattr("vicinal.sim.packing.PUSH_ROUNDS", 30)
    space = SPACES["box"]()
    radii, draws = some(space, 0.72)
    with pytest.raises(InputError, match=r"0\.7\d of its volume and still overlap"):
        pack(space, radii, draws)
    with pytest.raises(InputError, match=r"a sphere of radius 0\.5 does not fit"):
        pack(space, np.array([0.5]), draws)
    with pytest.raises(InputError, match=r"onto a lattice in the region, but it has \d+ sites"):
        lattice(space, radii, draws)


@pytest.mark.parametrize("place", [pack, lattice])
def test_more_than_any_packing_holds_is_refused_before_it_is_tried(place, monkeypatch):
    def search(*_, **__):
        raise AssertionError("spheres were placed")

    monkeypatch.setattr(vc, "pairs", search)
    monkeypatch.setattr(vc, "HashGrid", search)
    space = SPACES["box"]()
    radii = np.full(23_343, 0.06)
    with pytest.raises(InputError, match=r"23,343 bodies .* 22 times its volume \(21\.1 against 0\.96 m³\)"):
        place(space, radii, Draws(0))


def test_a_gap_is_kept_between_spheres():
    space = SPACES["box"]()
    radii, draws = some(space, 0.3, spread=0.0)
    places = pack(space, radii, draws, gap=0.2)
    check(space, places, radii)
    assert len(vc.pairs(places, radii=1.0999 * radii)[0]) == 0


@pytest.mark.parametrize("place", [pack, lattice, drop])
def test_spheres_in_place_stay_free_of_new_ones(place):
    space = SPACES["box"]()
    occupied = Occupied(np.array([[0.5, 0.4, 0.6]]), np.array([0.35]))
    radii, draws = some(space, 0.1)
    places = place(space, radii, draws, occupied=occupied)
    if place is drop:
        # NaN marks spheres without a position.
        placed = ~np.isnan(places[:, 0])
        assert placed.mean() > 0.9
        places, radii = places[placed], radii[placed]
    check(space, places, radii)
    assert (np.linalg.norm(places - occupied.points[0], axis=1) >= radii + 0.35).all()


@pytest.mark.parametrize("fraction", [0.02, 0.3, 0.5])
def test_lattices_have_room_for_many(fraction):
    space = SPACES["box"]()
    radii, draws = some(space, fraction, spread=0.0)
    check(space, lattice(space, radii, draws), radii)


def test_the_same_seed_gives_the_same_places():
    space = SPACES["cylinder"]()
    one, other = (pack(space, *some(space, 0.4)) for _ in range(2))
    assert np.array_equal(one, other)


@pytest.mark.parametrize("name", SPACES)
def test_random_places_fill_a_region_evenly(name):
    space = SPACES[name]()
    places = space.sample(np.zeros(4000), Draws(1))
    assert space.fits(places, np.zeros(4000)).all()
    # The standard deviation of the centroid is the extent divided by the root of the number.
    middle = 0.5 * (space.low + space.high)
    assert np.abs(places.mean(axis=0) - middle).max() < 0.02 * (space.high - space.low).max()


def test_inside_a_mesh_is_what_trimesh_says():
    mesh = trimesh.creation.annulus(r_min=0.3, r_max=0.6, height=0.4)
    own = SurfaceMesh(np.array(mesh.vertices), np.array(mesh.faces, np.int32))
    points = np.random.default_rng(0).uniform(-0.7, 0.7, (2000, 3))
    out = np.hypot(points[:, 0], points[:, 1])
    clear = (np.abs(out - 0.3) > 0.01) & (np.abs(out - 0.6) > 0.01)
    expected = (out > 0.3) & (out < 0.6) & (np.abs(points[:, 2]) < 0.2)
    assert np.array_equal(own.contains(points)[clear], expected[clear])
    assert own.volume == pytest.approx(mesh.volume)
    assert own.open_edges == 0


def test_spheres_are_pushed_off_a_mesh():
    mesh = ball()
    points = np.random.default_rng(2).uniform(-0.4, 0.4, (500, 3))
    points = points[mesh.contains(points)]
    radii = np.full(len(points), 0.1)
    pairs = np.repeat(points, len(mesh.faces), axis=0)
    feet = trimesh.triangles.closest_point(np.tile(mesh.corners, (len(points), 1, 1)), pairs)
    near = np.linalg.norm(pairs - feet, axis=1).reshape(len(points), -1).min(axis=1)
    assert np.array_equal(mesh.touches(points, radii), near <= radii)
    moved = mesh.pushed_off(points, radii)
    assert np.array_equal(moved[near > radii], points[near > radii])
    # Pushed off one face, a sphere may touch the next; a few rounds separate it from all.
    for _ in range(20):
        moved = mesh.pushed_off(moved, radii)
    assert not mesh.touches(moved, 0.999 * radii).any()


def test_meshes_are_read_and_bad_ones_refused(tmp_path):
    trimesh.creation.box().export(tmp_path / "box.stl")
    mesh = load_mesh(tmp_path / "box.stl", scale=2.0, move=(1, 0, 0))
    assert mesh.volume == pytest.approx(8)
    assert mesh.vertices.max(axis=0) == pytest.approx([2, 1, 1])
    assert mesh.open_edges == 0
    with pytest.raises(FileNotFoundError, match="no such mesh"):
        load_mesh(tmp_path / "none.stl")
    (tmp_path / "bad.stl").write_text("nonsense")
    with pytest.raises(InputError, match=r"must be an STL|must have triangles"):
        load_mesh(tmp_path / "bad.stl")


@pytest.mark.parametrize("kind", ["stl", "stl_ascii"])
def test_a_mesh_that_was_cut_off_is_refused_as_such(tmp_path, kind):
    file = tmp_path / "part.stl"
    trimesh.creation.box().export(file, file_type=kind)
    whole = file.read_bytes()
    assert len(load_mesh(file).faces) == 12
    for part in (0.9, 0.5, 0.05):
        file.write_bytes(whole[: int(part * len(whole))])
        with pytest.raises(InputError, match=r"part\.stl: .*cut off, copy it again"):
            load_mesh(file)
    # The header of a binary file may begin like a text file.
    if kind == "stl":
        file.write_bytes(b"solid " + whole[6:])
        assert len(load_mesh(file).faces) == 12
        file.write_bytes((b"solid " + whole[6:])[:-30])
        with pytest.raises(InputError, match="must have 12 triangles as its header says, got 11"):
            load_mesh(file)


def test_a_mesh_with_more_than_its_header_says_is_refused_with_both_numbers(tmp_path):
    file = tmp_path / "part.stl"
    trimesh.creation.box().export(file)
    whole = file.read_bytes()
    for more, triangles in ((b"\r\n", 12), (bytes(50), 13)):
        file.write_bytes(whole + more)
        message = f"must end after the 12 triangles of its header, got {len(more)} bytes more, or {triangles} triangles"
        with pytest.raises(InputError, match=message):
            load_mesh(file)


@pytest.mark.parametrize("encoding", ["ascii", "binary_little_endian"])
def test_a_ply_file_that_was_cut_off_is_refused_as_such(tmp_path, encoding):
    file = tmp_path / "part.ply"
    trimesh.creation.icosphere(2).export(file, encoding=encoding.partition("_")[0])
    whole = file.read_bytes()
    assert len(load_mesh(file).faces) == 320
    for end in (len(whole) - 40, len(whole) // 2, 300, 10):
        file.write_bytes(whole[:end])
        with pytest.raises(InputError, match=r"part\.ply: .*cut off, copy it again"):
            load_mesh(file)


def test_an_obj_file_that_was_cut_off_is_refused_as_such(tmp_path):
    file = tmp_path / "part.obj"
    trimesh.creation.icosphere(2).export(file)
    text = file.read_text()
    # Within the last number of a vertex, within a line of a face, between vertices and faces.
    for end in (text.index("\nf ") - 20, text.index("\nf ") + 8, text.index("\nf ")):
        file.write_text(text[:end])
        with pytest.raises(InputError, match=r"part\.obj: .*cut off, copy it again"):
            load_mesh(file)
    file.write_bytes(bytes(range(256)) * 4)
    with pytest.raises(InputError, match=r"part\.obj: .*cut off, copy it again") as raised:
        load_mesh(file)
    assert "charset" not in str(raised.value)
