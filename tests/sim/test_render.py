"""Pictures and animations of runs."""

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from sim.busy import busy
from vicinal import sim
from vicinal.cli.app import app
from vicinal.sim.pictures.camera import Camera
from vicinal.sim.pictures.raster import Canvas


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("render") / "out"
    scene = busy(run={"duration": 0.002}, output={"every": 0.001}, picture={"view": [-60, 20]})
    sim.run(scene, out)
    return out


def render(*arguments):
    return CliRunner().invoke(app, ["render", *map(str, arguments)])


def test_a_picture_and_an_animation_are_made(folder):
    result = render(folder / "particles.vtkhdf", "--size", "300x240", "--frames", 3)
    assert result.exit_code == 0, result.output
    picture = np.asarray(Image.open(folder / "particles.png"))
    assert picture.shape[:2] == (304, 300)
    # Many colours: bodies of several speeds, shaded.
    assert len(np.unique(picture.reshape(-1, picture.shape[2]), axis=0)) > 500
    with Image.open(folder / "particles.gif") as animation:
        assert animation.n_frames == 3
    for name in ("particles.png", "particles.gif"):
        assert str((folder / name).resolve()) in result.stdout


def test_options_choose_step_colour_and_view(folder, tmp_path):
    pictures = []
    for k, options in enumerate((["--step", 0], ["--step", 0, "--view", "z"], ["--colour", "radius"])):
        target = tmp_path / f"{k}.png"
        result = render(folder, "-o", target, "--size", "200x200", "--title", "", *options)
        assert result.exit_code == 0, result.output
        pictures.append(np.asarray(Image.open(target)))
    assert not np.array_equal(pictures[0], pictures[1])
    assert not np.array_equal(pictures[0], pictures[2])


def test_a_fluid_in_the_plane_is_seen_from_above_even_if_files_of_its_scene_are_gone(tmp_path):
    from vicinal.cli.render import _look

    text = """
[run]
duration = 1.0
[sph]
dim = DIM
spacing = 0.1
[[sph.fill]]
region = "pool"
[regions.pool]
shape = "box"
low = [0, 0, 0]
high = [1, 1, 1]
[[walls]]
shape = "mesh"
file = "gone.stl"
"""
    for dim, gravity, seen in ((2, "[0, -9.81, 0]", (-90, 90)), (3, "[0, 0, -9.81]", (-65, 18))):
        (tmp_path / "scene.toml").write_text(f"gravity = {gravity}\n" + text.replace("DIM", str(dim)))
        _, look = _look(tmp_path / "particles.vtkhdf", colour=None, style=None, view=None, size=None)
        assert (look.azimuth, look.elevation) == seen


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--colour", "taste"], 2, "radius"),
        (["--style", "melted"], 2, "surface"),
        (["--step", "9"], 2, "from 0 to 2"),
        (["--view", "up"], 2, "azimuth,elevation"),
        (["--size", "3x3"], 2, "from 100 to 8000"),
        (["-o", "a.xls"], 2, "'.xls'"),
        (["-o", "missing/a.png"], 1, "missing"),
    ],
)
def test_wrong_options_are_refused(folder, tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    result = render(folder, *(["-o", "a.png"] if "-o" not in arguments else []), *arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_missing_series_is_reported(tmp_path):
    result = render(tmp_path / "particles.vtkhdf", "-o", tmp_path / "a.png")
    assert result.exit_code == 1
    assert "no such file" in result.stderr


def test_the_camera_sees_the_whole_box():
    camera = Camera(30.0, 40.0, (0, 0, 0), (1, 2, 3), (200, 100))
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 2) for z in (0, 3)])
    seen = camera.project(corners)
    assert seen[:, 0].min() >= 0
    assert seen[:, 0].max() <= 200
    assert seen[:, 1].min() >= 0
    assert seen[:, 1].max() <= 100
    # Up is up.
    assert camera.project(np.array([[0, 0, 3.0]]))[0, 1] < camera.project(np.array([[0, 0, 0.0]]))[0, 1]


@pytest.mark.parametrize("radius", [8.0, 40.0])
def test_what_is_near_hides_what_is_far(radius):
    red, green = np.array([1.0, 0, 0]), np.array([0, 1.0, 0])
    inside = Canvas(100, 100, (1, 1, 1))
    inside.spheres(np.array([[50.0, 50, 0], [50.0, 50, 1]]), np.array([radius, 0.5 * radius]), np.array([red, green]))
    assert inside.image()[50, 50][0] > inside.image()[50, 50][1]
    near = Canvas(100, 100, (1, 1, 1))
    near.spheres(np.array([[50.0, 50, 0], [50.0, 50, 50]]), np.array([radius, 0.5 * radius]), np.array([red, green]))
    assert near.image()[50, 50][1] > near.image()[50, 50][0]
    side = near.image()[50, int(50 + 0.8 * radius)]
    assert side[0] > side[1]
    assert (near.image()[2, 2] == 1).all()


def test_particles_melt_into_a_smooth_body(folder, tmp_path):
    x, y = np.meshgrid(np.arange(20, 90, 6.0), np.arange(20, 90, 6.0))
    seen = np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])
    colours = np.tile([0.2, 0.4, 0.8], (len(seen), 1))
    spheres, surface = Canvas(110, 110, (1, 1, 1)), Canvas(110, 110, (1, 1, 1))
    spheres.spheres(seen, np.full(len(seen), 4.5), colours)
    surface.surface(seen, np.full(len(seen), 4.5), colours)
    rough, smooth = (canvas.image()[30:80, 30:80].std(axis=(0, 1)).max() for canvas in (spheres, surface))
    assert smooth < 0.2 * rough
    assert (surface.image()[2, 2] == 1).all()
    # What is nearer hides it, and it hides what is farther.
    surface.spheres(np.array([[50.0, 50, 50], [70.0, 70, -50]]), np.array([5.0, 5.0]), np.array([[1.0, 0, 0]] * 2))
    assert surface.image()[50, 50][0] > 0.5
    assert surface.image()[70, 70][2] > surface.image()[70, 70][0]
    result = render(folder, "-o", tmp_path / "a.png", "--size", "200x200", "--style", "surface")
    assert result.exit_code == 0, result.output
