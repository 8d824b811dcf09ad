"""The schema: allowed values, error messages, and conversion to text and back."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicinal import InputError
from vicinal.dem.config import Dem
from vicinal.dem.config.bodies import Sphere, TabletBody
from vicinal.dem.config.insertion import Emitter, Fill, FromFile, GrainOutlet, Placement
from vicinal.sim.draws import Draws
from vicinal.sim.scene import Output, Periodic, RunSettings, Scene, load, read
from vicinal.sim.sizes import Bimodal, Fixed, LogNormal, Normal, PowerLaw, SieveCurve, Uniform
from vicinal.sim.toml import dump, parse
from vicinal.sim.wall_sections import MotionSection

TEXT = """\
title = "tray"

[dem.materials.glass]
youngs_modulus = 1e7
poisson_ratio = 0.25
restitution = 0.5   # as measured

[dem.bodies.grain]
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

[[dem.insert]]
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

[run]
duration = 1.0
"""


def scene(*settings, text=TEXT):
    source = parse(text, "tray.toml")
    for setting in settings:
        source.override(setting)
    return read(source)


def test_a_file_becomes_a_scene():
    described = scene()
    assert described.title == "tray"
    assert described.dem.materials["glass"].restitution == 0.5
    assert described.dem.bodies["grain"].radius == Uniform(low=1e-3, high=2e-3)
    assert described.walls[1].normal == (0, 0, 1)
    assert described.walls[1].motion.speed == 3
    assert described.gravity == (0, 0, -9.81)


def test_python_takes_the_same_keys():
    assert Scene(**tomllib.loads(TEXT)) == scene()


def test_a_resolved_scene_is_a_file_that_gives_the_same_scene():
    text = dump(scene().table())
    assert "restitution = 0.5" in text
    assert scene(text=text) == scene()


# Text, its replacement, and the beginning and a part of the message.
PLANE = """[[walls]]
name = "a"
shape = "plane"
material = "glass"
point = [0, 0, 0]
normal = [0, 0, 1]
"""
WRONG = [
    (
        "restitution = 0.5",
        "restitution = 1.4",
        "tray.toml:6: dem.materials.glass.restitution must",
        "at most 1, got 1.4",
    ),
    ("restitution = 0.5", "restitution = 'high'", "tray.toml:6: dem.materials.glass.restitution", "number above 0"),
    (
        "restitution = 0.5",
        "restituton = 1",
        "tray.toml:6: dem.materials.glass.restituton",
        'did you mean "restitution"?',
    ),
    ("youngs_modulus = 1e7", "", "tray.toml:3: dem.materials.glass.youngs_modulus", 'the law "hertz" needs'),
    ("high = 2e-3", "high = 2e-4", "tray.toml:10: dem.bodies.grain.radius.high", "at least low = 0.001, got 0.0002"),
    ('"uniform"', '"unifrom"', "tray.toml:10: dem.bodies.grain.radius.distribution", 'did you mean "uniform"?'),
    (
        'material = "glass"\nradius',
        'material = "gla"\nradius',
        "tray.toml:9: dem.bodies.grain.material",
        "[dem.materials]",
    ),
    ("  1,\n  1,\n  1,", "  1,\n  -1,\n  1,", "tray.toml:15: regions.air.high must be above low", "entry 1"),
    ("  1,\n  1,\n  1,", "  1,\n  'a',\n  1,", "tray.toml:17: regions.air.high.1 must be a number", 'got "a"'),
    ('region = "air"', 'region = "aire"', "tray.toml:23: dem.insert.0.region must be a name", 'did you mean "air"?'),
    ("count = 100", "count = 0.5", "tray.toml:24: dem.insert.0.count must", "a whole number from 1"),
    ("count = 100", "", "tray.toml:21: dem.insert.0.count is missing", "one of count, fraction and mass"),
    ("count = 100", "count = 9\nfraction = 0.2", "tray.toml:25: dem.insert.0.fraction", "together with count, got 0.2"),
    (
        'shape = "plane"\nmaterial = "glass"',
        'shape = "plane"',
        "tray.toml:32: walls.1.material is missing",
        "grains need",
    ),
    ("speed = 3", "sped = 3", "tray.toml:40: walls.1.motion.sped is an unknown key, got 3", 'did you mean "speed"?'),
    ("speed = 3", "", "tray.toml:37: walls.1.motion.speed is missing", "it must be a number"),
    ("axis = [0, 1, 0]", "axis = [0, 0, 0]", "tray.toml:39: walls.1.motion.axis", "not all 0"),
    ('shape = "plane"', 'shape = "plain"', "tray.toml:33: walls.1.shape must be", 'got "plain"; did you mean "plane"?'),
    ('shape = "plane"', "", "tray.toml:32: walls.1.shape is missing", '"plane"'),
    ("duration = 1.0", "duration = -1", "tray.toml:43: run.duration must", "at least 0, got -1"),
    ("duration = 1.0", "duration = 1\n[dem]\ndt = 1\nfraction = 0.1", "tray.toml:46: dem.fraction", "with dt"),
    ("duration = 1.0", "duration = true", "tray.toml:43: run.duration must", "a number of at least 0, got true"),
    ("[run]\nduration = 1.0\n", "", "tray.toml: run is missing", "it must be a table"),
    ("duration = 1.0", "duration = ", "tray.toml:43", "not valid TOML"),
    ("duration = 1.0", "duration = 1.0\nseed = -1", "tray.toml:44: run.seed must", "from 0 to 4,294,967,295, got -1"),
    ("[dem.materials.glass]", "[materials.glass]", "tray.toml:3: materials is an unknown key", 'write "dem.materials"'),
    ("[[dem.insert]]", "[dem.insert]", "tray.toml:21: dem.insert must be a list", "double brackets, [[ ]]"),
    (
        "[run]",
        2 * PLANE + "[run]",
        "tray.toml:49: walls.3.name must differ",
        'got "a"',
    ),
]


@pytest.mark.parametrize(("old", "new", "place", "allowed"), WRONG, ids=[case[2].split(": ")[-1] for case in WRONG])
def test_an_error_names_line_key_value_and_range(old, new, place, allowed):
    assert old in TEXT
    with pytest.raises(InputError) as error:
        scene(text=TEXT.replace(old, new))
    assert str(error.value).startswith(place)
    assert allowed in str(error.value)


def test_any_key_can_be_set_from_outside():
    described = scene(
        "dem.dt=1e-5", "walls.1.motion.speed=7", "regions.air.high.2=3", "title=a drum", "gravity=[0, 0, 0]"
    )
    assert described.dem.dt == 1e-5
    assert described.walls[1].motion.speed == 7
    assert described.regions["air"].high == (1, 1, 3)
    assert described.title == "a drum"
    assert described.gravity == (0, 0, 0)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("dem.dtt=1", '--set dem.dtt=1: dem.dtt is an unknown key, got 1; did you mean "dt"?'),
        ("regions.air.high.2=-1", "--set regions.air.high.2=-1: regions.air.high"),
        ("regions.air.high=[1, -1]", "--set regions.air.high=[1, -1]: regions.air.high must be a list of 3"),
        ('regions.air.high=[1, "a", 2]', '--set regions.air.high=[1, "a", 2]: regions.air.high.1 must be a number'),
        ("walls.7.point=[0,0,0]", "walls.7 does not exist; walls is a list with entries 0 to 1"),
        ("title.x=1", "title is a value, not a table"),
        ("dem.dt", "--set must have the form KEY=VALUE"),
        ("dem.materials.glass.gamma_n=3", 'must not be given with the law "hertz", got 3.0; give restitution instead'),
    ],
)
def test_errors_of_settings_name_the_setting(setting, message):
    with pytest.raises(InputError) as error:
        scene(setting)
    assert message in str(error.value)


def test_python_errors_have_no_line_but_the_path():
    table = tomllib.loads(TEXT)
    table["dem"]["bodies"]["grain"]["radius"] = 0
    with pytest.raises(InputError, match=r"^dem\.bodies\.grain\.radius must be a number above 0, .* got 0$"):
        Scene(**table)


def test_files_are_relative_to_the_configuration(tmp_path):
    wall = '[[walls]]\nshape = "mesh"\nmaterial = "glass"\nfile = "drum.stl"\n'
    (tmp_path / "a.toml").write_text(TEXT.replace("[run]", wall + "[run]"))
    with pytest.raises(InputError, match=r"a\.toml:45: walls\.2\.file must be an existing file; there is no .*drum"):
        load(tmp_path / "a.toml")
    (tmp_path / "drum.stl").touch()
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
        # The line of every key contains it; only keys without quotes can be searched for literally.
        if path and isinstance(path[-1], str) and not isinstance(value, dict | list):
            assert source.place(path).startswith("x.toml:")
            line = lines[int(source.place(path).split(":")[1]) - 1]
            if re.fullmatch("[A-Za-z0-9_-]+", path[-1]):
                assert f"{path[-1]} = " in line
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
    PowerLaw(low=1.0, high=3.0, by="volume"),
    SieveCurve(radii=(1.0, 2.0, 4.0), shares=(1, 2, 1)),
]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.TAG[1])
def test_radii_are_positive_bounded_and_reproducible(size):
    one, other = (size.draw(5000, Draws(3)) for _ in range(2))
    assert np.array_equal(one, other)
    assert one.min() >= size.smallest() * (1 - 1e-9) > 0


def test_distributions_have_their_moments():
    draws = Draws(0)
    n = 20_000
    assert Uniform(low=1, high=3).draw(n, draws).mean() == pytest.approx(2, rel=0.01)
    normal = Normal(mean=2, deviation=0.2).draw(n, draws)
    assert normal.mean() == pytest.approx(2, rel=0.01)
    assert normal.std() == pytest.approx(0.2, rel=0.04)
    assert np.median(LogNormal(median=2, deviation=0.3).draw(n, draws)) == pytest.approx(2, rel=0.02)
    two = Bimodal(small=1, large=3, large_share=0.25).draw(n, draws)
    assert (two == 3).mean() == pytest.approx(0.25, abs=0.01)
    # Half of the volume in spheres of three times the radius: one in 28 by number.
    two = Bimodal(small=1, large=3, large_share=0.5, by="volume").draw(n, draws)
    assert (two == 3).mean() == pytest.approx(1 / 28, rel=0.1)
    sieve = SieveCurve(radii=(1, 2, 4), shares=(1, 2, 1)).draw(n, draws)
    assert (sieve == 2).mean() == pytest.approx(0.5, abs=0.015)


def test_the_file_in_the_documentation_is_a_scene():
    page = (Path(__file__).parents[2] / "docs" / "dem.md").read_text(encoding="utf-8")
    text = page.split("```toml\n")[1].split("```")[0]
    described = read(parse(text, "dem.md"))
    assert described.walls[0].motion.speed == 3
    # Every key of every table is named there.
    tables = page.split("| table | kinds | keys |")[1].split("\n\n")[0]
    for section in (
        RunSettings,
        Dem,
        Output,
        Periodic,
        GrainOutlet,
        MotionSection,
        Fill,
        Emitter,
        Placement,
        FromFile,
        TabletBody,
        Sphere,
    ):
        for name in section.keys():  # noqa: SIM118
            assert re.search(rf"\b{name}\b", tables), f"{section.__name__}.{name}"
