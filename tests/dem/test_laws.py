"""All properties of a contact law follow from its struct in the compiled core."""

from pathlib import Path

import numpy as np
import pytest

from dem.grains import GLASS
from vicinal import InputError, _core
from vicinal.dem import Material, Simulation
from vicinal.dem.config import Dem
from vicinal.dem.materials import LAWS, PARAMETERS, SHARED, law_table, parameter_table

DOCS = Path(__file__).parents[2] / "docs" / "grains.md"


def test_materials_and_scenes_take_the_parameters_of_all_laws():
    assert {"linear", "hertz"} <= set(LAWS)
    for law in LAWS.values():
        for parameter in law.parameters:
            value = 0.25 if parameter.high == 0.5 else 1.0
            assert getattr(Material(**{parameter.name: value}), parameter.name) == value
            scene = scene_with({parameter.name: value} | {p.name: 0.25 for p in law.parameters if p.required}, law.name)
            assert getattr(scene.materials["m"], parameter.name) is not None


def scene_with(material, law):
    return Dem(law=law, materials={"m": material}, pairs=[{"materials": ["m", "m"], "friction": 0.3}])


def test_a_material_shows_its_defaults():
    assert "restitution=1.0" in repr(Material(kn=1e4))
    assert "above 0 and at most 1; 1 by default." in Material.__doc__


def test_an_unknown_law_is_an_error_that_lists_the_laws():
    match = rf"law must be one of {', '.join(LAWS)}, got 'hooke'"
    with pytest.raises(InputError, match=match):
        Simulation(materials={"m": GLASS}, law="hooke")
    with pytest.raises(ValueError, match=match):
        _core.Grains().set_law("hooke", [], [], history=True)
    with pytest.raises(InputError, match='"linear"'):
        scene_with({"kn": 1.0}, "hooke")


@pytest.mark.parametrize("law", LAWS)
def test_required_parameters_are_asked_for(law):
    for parameter in LAWS[law].parameters:
        if not parameter.required:
            continue
        given = {p.name: 0.25 for p in LAWS[law].parameters if p.required and p is not parameter}
        with pytest.raises(InputError, match=f"must have {parameter.name}"):
            Simulation(materials={"m": Material(**given)}, law=law)
        with pytest.raises(InputError, match=rf"materials\.m\.{parameter.name}.*is missing"):
            scene_with(given, law)


def test_parameters_without_effect_are_refused():
    glass = Material(youngs_modulus=1e6, poisson_ratio=0.2, gamma_n=1.0)
    with pytest.raises(InputError, match=r"must not have gamma_n.*pass restitution"):
        Simulation(materials={"m": glass}, law="hertz")


@pytest.mark.parametrize("name", PARAMETERS)
def test_values_out_of_range_are_refused(name):
    parameter = PARAMETERS[name]
    for value in (parameter.low - 1, np.nan, np.inf, "1", True):
        with pytest.raises(InputError, match=f"{name} must be a finite number"):
            Material(**{name: value})
    if parameter.high < np.inf:
        with pytest.raises(InputError, match=f"at most {parameter.high:g}"):
            Material(**{name: parameter.high * 1.01})
    assert parameter.unit
    assert parameter.doc


def test_the_documentation_has_the_tables_of_the_laws():
    text = DOCS.read_text(encoding="utf-8")
    assert law_table() in text, "replace the table of laws in docs/grains.md with law_table()"
    assert parameter_table() in text, "replace the table of parameters in docs/grains.md with parameter_table()"
    for parameter in (*SHARED, *PARAMETERS.values()):
        assert parameter.name in Material.__doc__


def material_of(law):
    """A material without damping and friction for any law; stiffnesses of 1e5 unless they are moduli."""
    values = {"youngs_modulus": 1e6, "poisson_ratio": 0.3}
    return Material(**{p.name: values.get(p.name, 1e5) for p in LAWS[law].parameters if p.required})


@pytest.mark.parametrize("law", LAWS)
def test_stored_energy_is_the_integral_of_the_force(law):
    # No damping, no friction: contacts() gives force and energy for any overlap.
    material = material_of(law)
    overlaps = np.linspace(0, 0.02, 401)[1:]
    forces, energies = [], []
    for overlap in overlaps:
        sim = Simulation(materials={"m": material}, law=law, gravity=(0, 0, 0), dt=1e-6)
        sim.insert([[0, 0, 0], [1 - overlap, 0, 0]], radii=0.5)
        contact = sim.contacts()
        forces.append(contact["normal_force"][0])
        energies.append(contact["energy"][0])
    steps = np.diff(overlaps, prepend=0.0)
    work = np.cumsum(steps * (np.array(forces) + np.array([0.0, *forces[:-1]])) / 2)
    np.testing.assert_allclose(energies[20:], work[20:], rtol=2e-3)


@pytest.mark.parametrize("law", LAWS)
def test_collision_time_is_how_long_contacts_last(law):
    sim = Simulation(materials={"m": material_of(law)}, law=law, gravity=(0, 0, 0), dt=1e-7)
    sim.insert([[-0.5, 0, 0], [0.5, 0, 0]], radii=0.5, velocities=[[0.5, 0, 0], [-0.5, 0, 0]])
    mass = float(sim.masses[0]) / 2
    sim.dt = sim._core.collision_time(0, 0, mass, 0.25, 1.0) / 400
    steps = 0
    while (steps == 0 or sim.contact_count()) and steps < 800:
        sim.run(1)
        steps += 1
    assert steps == pytest.approx(400, rel=0.06)
