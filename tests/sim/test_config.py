"""The schema: what is allowed, what an error says, and the way to text and back."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicinal import InputError, dem
from vicinal.dem.config import Output, Periodic, Solver, load, read
from vicinal.dem.config.bodies import Sphere, TabletBody
from vicinal.dem.config.insertion import Emitter, Fill, FromFile, Outlet, Place
from vicinal.dem.sizes import draw
from vicinal.sim.sizes import Bimodal, Fixed, LogNormal, Normal, Table, Uniform, smallest_radius
from vicinal.sim.toml import dump, parse
from vicinal.sim.walls import Motion

TEXT = """\
title = "tray"

[materials.glass]
youngs_modulus = 1e7
poisson_ratio = 0.25
restitution = 0.5   # as measured

[bodies.grain]
material = "glass"
radius = { distribution = "uniform", low = 1e-3, high = 2e-3 }

[regions.air]
shape = "box"
low = [0, 0, 0]
high = [
  1,
  1,
  1,
]

[[insert]]
bodies = "grain"
region = "air"
count = 100

[[walls]]
shape = "box"
material = "glass"
low = [0, 0, 0]
high = [1, 1, 1]

[[walls]]
shape = "plane"
material = "glass"
point = [0, 0, 0]
normal = [0, 0, 2]
[walls.motion]
type = "rotating"
axis = [0, 1, 0]
speed = 3

[solver]
duration = 1.0
"""


def scene(*settings, text=TEXT):
    source = parse(text, "tray.toml")
    for setting in settings:
        source.override(setting)
    return read(source)


def test_a_file_becomes_a_scene():
    found = scene()
    assert found.title == "tray"
    assert found.materials["glass"].restitution == 0.5
    assert found.bodies["grain"].radius == Uniform(low=1e-3, high=2e-3)
    assert found.walls[1].normal == (0, 0, 1)
    assert found.walls[1].motion.speed == 3
    assert found.gravity == (0, 0, -9.81)


def test_python_takes_the_same_keys():
    assert dem.Scene(**tomllib.loads(TEXT)) == scene()


def test_a_resolved_scene_is_a_file_that_gives_the_same_scene():
    text = dump(scene().table())
    assert "restitution = 0.5" in text
    assert scene(text=text) == scene()


# Where, which key, which value, what is allowed.
WRONG = [
    ("restitution = 0.5", "restitution = 1.4", "tray.toml:6: materials.glass.restitution = 1.4", "at most 1"),
    ("restitution = 0.5", "restitution = 'high'", 'tray.toml:6: materials.glass.restitution = "high"', "a number"),
    (
        "restitution = 0.5",
        "restituton = 0.5",
        "tray.toml:6: materials.glass.restituton",
        '(did you mean "restitution"?)',
    ),
    ("youngs_modulus = 1e7", "", "tray.toml:3: materials.glass.youngs_modulus", 'the law "hertz" needs'),
    ("high = 2e-3", "high = 2e-4", "tray.toml:10: bodies.grain.radius.high = 0.0002", "low = 0.001"),
    ('"uniform"', '"unifrom"', "tray.toml:10: bodies.grain.radius.distribution", '(did you mean "uniform"?)'),
    ("  1,\n  1,\n  1,", "  1,\n  -1,\n  1,", "tray.toml:15: regions.air.high = [1.0, -1.0, 1.0]", "entry 1"),
    ("  1,\n  1,\n  1,", "  1,\n  'a',\n  1,", 'tray.toml:17: regions.air.high.1 = "a"', "a number"),
    ('region = "air"', 'region = "aire"', 'tray.toml:23: insert.0.region = "aire"', '(did you mean "air"?)'),
    ("count = 100", "count = 0.5", "tray.toml:24: insert.0.count = 0.5", "a whole number from 1"),
    ("count = 100", "", "tray.toml:21: insert.0.count", "one of count, fraction and mass"),
    ("count = 100", "count = 9\nfraction = 0.2", "tray.toml:25: insert.0.fraction = 0.2", "only one"),
    ("speed = 3", "sped = 3", "tray.toml:40: walls.1.motion.sped", '(did you mean "speed"?)'),
    ("speed = 3", "", "tray.toml:37: walls.1.motion.speed", "is missing"),
    ("axis = [0, 1, 0]", "axis = [0, 0, 0]", "tray.toml:39: walls.1.motion.axis", "not all 0"),
    ('shape = "plane"', 'shape = "plain"', 'tray.toml:33: walls.1.shape = "plain"', '"plane"'),
    ('shape = "plane"', "", "tray.toml:32: walls.1.shape", "is missing"),
    ("duration = 1.0", "duration = -1", "tray.toml:43: solver.duration = -1", "at least 0"),
    ("duration = 1.0", "duration = 1\ndt = 1\nfraction = 0.1", "tray.toml:45: solver.fraction", "only one"),
    ("duration = 1.0", "duration = true", "tray.toml:43: solver.duration = True", "a number"),
    ("[solver]\nduration = 1.0\n", "", "tray.toml: solver", "is missing"),
    ("duration = 1.0", "duration = ", "tray.toml:43", "not valid TOML"),
]


@pytest.mark.parametrize(("old", "new", "place", "allowed"), WRONG, ids=[case[2].split(": ")[-1] for case in WRONG])
def test_an_error_names_line_key_value_and_range(old, new, place, allowed):
    assert old in TEXT
    with pytest.raises(InputError) as error:
        scene(text=TEXT.replace(old, new))
    assert str(error.value).startswith(place)
    assert allowed in str(error.value)


def test_any_key_can_be_set_from_outside():
    found = scene(
        "solver.dt=1e-5", "walls.1.motion.speed=7", "regions.air.high.2=3", "title=a drum", "gravity=[0, 0, 0]"
    )
    assert found.solver.dt == 1e-5
    assert found.walls[1].motion.speed == 7
    assert found.regions["air"].high == (1, 1, 3)
    assert found.title == "a drum"
    assert found.gravity == (0, 0, 0)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("solver.dtt=1", '--set solver.dtt=1: solver.dtt = 1: unknown key (did you mean "dt"?)'),
        ("regions.air.high.2=-1", "--set regions.air.high.2=-1: regions.air.high"),
        ("regions.air.high=[1, -1]", "--set regions.air.high=[1, -1]: regions.air.high = [1, -1]: give a list of 3"),
        ('regions.air.high=[1, "a", 2]', '--set regions.air.high=[1, "a", 2]: regions.air.high.1 = "a": give a number'),
        ("walls.7.point=[0,0,0]", "give a place from 0 to 1, not 7"),
        ("title.x=1", "title is a value, not a table"),
        ("solver.dt", "give a key and a value"),
        ("materials.glass.gamma_n=3", 'the law "hertz" takes restitution instead'),
    ],
)
def test_errors_of_settings_name_the_setting(setting, message):
    with pytest.raises(InputError) as error:
        scene(setting)
    assert message in str(error.value)


def test_python_errors_have_no_line_but_the_path():
    table = tomllib.loads(TEXT)
    table["bodies"]["grain"]["radius"] = 0
    with pytest.raises(InputError, match=r"^bodies\.grain\.radius = 0: give a number above 0"):
        dem.Scene(**table)


def test_files_are_relative_to_the_configuration(tmp_path):
    wall = '[[walls]]\nshape = "mesh"\nmaterial = "glass"\nfile = "drum.stl"\n'
    (tmp_path / "a.toml").write_text(TEXT.replace("[solver]", wall + "[solver]"))
    assert load(tmp_path / "a.toml").walls[2].file == str((tmp_path / "drum.stl").resolve())
    with pytest.raises(FileNotFoundError, match="no such file"):
        load(tmp_path / "b.toml")


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\x00", exclude_categories=["Cs"]), max_size=8)
PLAIN = st.one_of(st.booleans(), st.integers(-(2**40), 2**40), st.floats(allow_nan=False, allow_infinity=False), NAMES)
TABLES = st.dictionaries(
    NAMES,
    st.recursive(
        st.one_of(PLAIN, st.lists(PLAIN, max_size=3)),
        lambda inner: st.one_of(
            st.dictionaries(NAMES, inner, max_size=3),
            st.lists(st.dictionaries(NAMES, inner, max_size=3), min_size=1, max_size=2),
        ),
        max_leaves=6,
    ),
    max_size=3,
)


@given(TABLES)
def test_what_is_written_is_read_back(table):
    source = parse(dump(table), "x.toml")
    assert source.table == table
    lines = dump(table).split("\n")

    def look(value, path):
        # The line of every key begins with it, or with the header of its table.
        if path and isinstance(path[-1], str) and not isinstance(value, dict | list):
            assert source.place(path).startswith("x.toml:")
            line = lines[int(source.place(path).split(":")[1]) - 1]
            assert tomllib.loads(line) == {path[-1]: value}
        if isinstance(value, dict):
            for name, entry in value.items():
                look(entry, (*path, name))
        elif isinstance(value, list):
            for place, entry in enumerate(value):
                look(entry, (*path, place))

    look(table, ())


SIZES = [
    Fixed(value=2.0),
    Uniform(low=1.0, high=3.0),
    Normal(mean=2.0, deviation=0.2),
    Normal(mean=2.0, deviation=5.0, low=0.5, high=3.0),
    LogNormal(median=2.0, deviation=0.3),
    Bimodal(small=1.0, large=3.0, large_share=0.25),
    Table(radii=(1.0, 2.0, 4.0), shares=(1, 2, 1)),
]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.TAG[1])
def test_radii_are_positive_bounded_and_reproducible(size):
    one, other = (draw(size, 5000, np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(one, other)
    assert one.min() >= smallest_radius(size) * (1 - 1e-9) > 0


def test_distributions_have_their_moments():
    rng = np.random.default_rng(0)
    n = 20_000
    assert draw(Uniform(low=1, high=3), n, rng).mean() == pytest.approx(2, rel=0.01)
    normal = draw(Normal(mean=2, deviation=0.2), n, rng)
    assert normal.mean() == pytest.approx(2, rel=0.01)
    assert normal.std() == pytest.approx(0.2, rel=0.04)
    assert np.median(draw(LogNormal(median=2, deviation=0.3), n, rng)) == pytest.approx(2, rel=0.02)
    two = draw(Bimodal(small=1, large=3, large_share=0.25), n, rng)
    assert (two == 3).mean() == pytest.approx(0.25, abs=0.01)
    # Half of the volume in spheres of three times the radius: one in 28 by number.
    two = draw(Bimodal(small=1, large=3, large_share=0.5, by="volume"), n, rng)
    assert (two == 3).mean() == pytest.approx(1 / 28, rel=0.1)
    sieve = draw(Table(radii=(1, 2, 4), shares=(1, 2, 1)), n, rng)
    assert (sieve == 2).mean() == pytest.approx(0.5, abs=0.015)


def test_the_file_in_the_documentation_is_a_scene():
    page = (Path(__file__).parents[2] / "docs" / "dem.md").read_text(encoding="utf-8")
    text = page.split("```toml\n")[1].split("```")[0]
    found = read(parse(text, "dem.md"))
    assert found.walls[0].motion.speed == 3
    # Every key of every table is named there.
    tables = page.split("| table | kinds | keys |")[1].split("\n\n")[0]
    for section in (Solver, Output, Periodic, Outlet, Motion, Fill, Emitter, Place, FromFile, TabletBody, Sphere):
        for name in section.keys():  # noqa: SIM118
            assert re.search(rf"\b{name}\b", tables), f"{section.__name__}.{name}"
