"""Faults are reported: states that are not finite, overlaps at the start, bodies that cross walls."""

import numpy as np
import pytest

from dem.grains import bed, floor, linear, simulation
from vicinal import InputError
from vicinal.dem import (
    Clump,
    CrossingWarning,
    Cylinder,
    MeshWall,
    Polyhedron,
    Simulation,
    Tablet,
    UnstableError,
    box_walls,
)

CUBE = Polyhedron([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
ANYTHING = 1e9


def coincident(shape=None, **options):
    """Two bodies that have moved to the same position."""
    sim = simulation(linear(), walls=[floor()], gravity=(0, 0, 0), dt=1e-4, max_overlap=ANYTHING, **options)
    body = {"radii": 0.5} if shape is None else {"shape": shape}
    sim.insert([[9, 9, 9.0], [1, 2, 0.4], [1, 2, 9]], **body)
    sim.check_overlaps()
    sim._core.drop_lists()
    sim._core.set("positions", np.array([[9, 9, 9.0], [1, 2, 0.4], [1, 2, 0.4]])[sim._core.ids()])
    return sim


@pytest.mark.parametrize("shape", [None, Clump([[0, 0, 0], [0.5, 0, 0]], [0.5, 0.4])], ids=["spheres", "clumps"])
def test_a_state_that_is_not_finite_is_noticed_in_the_step_in_which_it_arises(shape):
    sim = coincident(shape)
    with pytest.raises(UnstableError, match=r"body 1 at \(1, 2, 0\.4\) and 1 more is no longer finite") as error:
        sim.run(100)
    assert "it touches body 2 (overlap" in str(error.value)
    assert "the wall 'floor' (overlap" in str(error.value)
    assert (error.value.step, error.value.time) == (sim.step_count, sim.time) == (0, 0.0)
    assert np.isfinite(sim.positions).all()
    # The simulation cannot be continued either.
    with pytest.raises(UnstableError, match="body 1"):
        sim.run(1)


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_a_body_whose_speed_overflows_is_named():
    sim = simulation(linear(), gravity=(0, 0, 0), dt=1e-4)
    sim.insert([[0, 0, 0.0], [5, 0, 0]], radii=0.5)
    sim._core.set("velocities", np.array([[0, 0, 0], [1e200, 0, 0]]))
    with pytest.raises(UnstableError, match=r"the motion of body 1 at \(5, 0, 0\) is no longer finite"):
        sim.run(10)


@pytest.mark.parametrize("dt", [None, 1e-4])
@pytest.mark.parametrize("name", ["velocities", "spins"])
@pytest.mark.parametrize("size", [1e160, 1e200])
def test_motions_whose_energy_would_overflow_are_refused(dt, name, size):
    motion = [[0, 0, 0], [0, -size, 0]]
    message = rf"{name} must be at most 1e\+100, got \[0\.0, -1e\+\d+, 0\.0\] for body 1 of 2"
    sim = simulation(linear(), gravity=(0, 0, 0), dt=dt)
    with pytest.raises(InputError, match=message):
        sim.insert([[0, 0, 0.0], [5, 0, 0]], radii=0.5, **{name: motion})
    sim.insert([[0, 0, 0.0], [5, 0, 0]], radii=0.5)
    with pytest.raises(InputError, match=message):
        setattr(sim, name, motion)


def test_walls_and_gravity_that_are_too_fast_for_a_time_step_are_refused():
    with pytest.raises(InputError, match=r"gravity must be three numbers of at most 1e\+100"):
        simulation(linear(), gravity=(0, 0, -1e200))
    with pytest.raises(InputError, match=r"floor\.velocity must be three numbers of at most 1e\+100"):
        floor(velocity=(0, 0, 1e200))


@pytest.mark.parametrize("shape", [None, Tablet(0.5, 0.3, 0.15)], ids=["spheres", "tablets"])
@pytest.mark.parametrize("assigned", [False, True])
def test_a_body_that_spins_too_fast_for_the_step_is_named(shape, assigned):
    spins = [[0, 0, 0], [0, 0, 3e5]]
    sim = simulation(linear(), gravity=(0, 0, 0), dt=1e-4)
    body = {"radii": 0.5} if shape is None else {"shape": shape}
    sim.insert([[0, 0, 0.0], [5, 0, 0]], spins=None if assigned else spins, **body)
    if assigned:
        sim.run(1)
        sim.spins = spins
    with pytest.raises(
        UnstableError, match=r"body 1 at \(5, 0, 0\) turns: its surface moves 15\.?\d* in one step, 15 "
    ):
        sim.run(200)


def test_a_state_that_breaks_during_a_run_is_noticed_at_that_step():
    sim = bed(60)
    sim.run(300)
    kicks = sim._core.get("half_kicks")
    kicks[7, 1] = np.nan
    sim._core.set("half_kicks", kicks)
    with pytest.raises(UnstableError, match=r"no longer finite at t = 0\.06, step 300"):
        sim.run(5000)
    assert np.isfinite(sim.positions).all()


def test_spins_that_are_not_finite_are_noticed_too():
    # The velocities stay finite, since without a contact the spin has no effect on them.
    for shape in (None, Tablet(0.5, 0.3, 0.15)):
        sim = simulation(linear(), gravity=(0, 0, 0), dt=1e-4)
        sim.insert([[0, 0, 0.0]], **({"radii": 0.5} if shape is None else {"shape": shape}))
        sim.run(1)
        sim._core.set("half_spin_kicks" if shape is None else "half_impulses", np.array([[np.inf, 0, 0]]))
        with pytest.raises(UnstableError, match=r"body 0 .* step 2; it touches nothing"):
            sim.run(10)


def test_a_body_that_flies_off_is_named():
    sim = simulation(linear(), dt=1e-4)
    sim.insert([[0, 0, 0.0], [3, 0, 0]], radii=0.5, velocities=[[0, 0, 0], [2e5, 0, 0]])
    with pytest.raises(UnstableError, match=r"body 1 at \(3, 0, 0\) moves 20 in one step, 20 diameters"):
        sim.run(1)


def test_bodies_are_not_inserted_at_the_same_place():
    sim = simulation(linear(), gravity=(0, 0, 0), dt=1e-4, max_overlap=ANYTHING)
    sim.insert([[9, 9, 9.0], [1, 2, 0.4], [1, 2, 0.4]], radii=0.5)
    with pytest.raises(InputError, match="must be at different places, got body 1 and body 2 at the same one"):
        sim.run(1)


@pytest.mark.parametrize("shape", [CUBE, Tablet(0.5, 0.3, 0.15), Clump([[0, 0, 0], [0.3, 0, 0]], [0.3, 0.2])])
@pytest.mark.parametrize("box", [None, (4, 4, 4)])
def test_other_shapes_are_not_inserted_at_the_same_place(shape, box):
    sim = simulation(linear(), gravity=(0, 0, 0), dt=1e-4, max_overlap=ANYTHING, box=box)
    sim.insert([[1, 2, 0.5], [3, 3, 3], [1, 2, 0.5 if box is None else 4.5]], shape=shape)
    with pytest.raises(InputError, match="must be at different places, got body 0 and body 2 at the same one"):
        sim.run(1)


# --- overlaps ---------------------------------------------------------------------------------------------------------


def test_spheres_that_overlap_deeply_are_refused_with_counts_and_the_worst_case():
    sim = simulation(linear(), gravity=(0, 0, 0), dt=1e-4)
    sim.insert([[0, 0, 0], [0.06, 0, 0], [3, 0, 0], [3.98, 0, 0]], radii=0.5)
    found = sim.overlaps()
    assert (found.bodies, found.with_bodies, found.with_walls) == (4, 2, 0)
    assert found.worst == pytest.approx(1.88)
    with pytest.raises(InputError, match=r"of the smaller radius, got 1\.88 at t = 0: 4 bodies overlap \(2 times"):
        sim.run(1)
    assert sim.step_count == 0
    with pytest.raises(InputError, match=r"body 0 and body 1.*max_overlap"):
        sim.run(1)
    sim.max_overlap = 2
    sim.run(1)


@pytest.mark.parametrize(
    ("walls", "place", "worst"),
    [
        ([floor()], (0, 0, -1.0), 3.0),  # behind a plane
        (box_walls("box", (0, 0, 0), (0.8, 5, 5), "m"), (0.4, 2, 2), 0.4),  # larger than its box
        ([Cylinder(name="pipe", material="m", start=(0, 0, 0), end=(0, 0, 1), radius=0.4)], (0.05, 0, 0), 0.4),
    ],
)
def test_bodies_that_do_not_fit_between_walls_are_refused(walls, place, worst):
    sim = simulation(linear(), walls=walls, dt=1e-4)
    sim.insert([place], radii=0.5)
    assert sim.overlaps().worst == pytest.approx(worst)
    with pytest.raises(InputError, match=r"1 body overlaps .* body 0 and the wall"):
        sim.run(1)


def plate(**changes):
    corners = np.array([[-5, -5, 0], [5, -5, 0], [5, 5, 0], [-5, 5, 0.0]])
    return MeshWall(name="plate", material="m", vertices=corners, faces=[[0, 1, 2], [0, 2, 3]], **changes)


def test_a_fill_that_cuts_a_mesh_is_refused():
    sim = simulation(linear(), walls=[plate()], dt=1e-4)
    rng = np.random.default_rng(1)
    sim.insert(np.c_[np.arange(-4, 5), np.zeros(9), rng.uniform(-0.5, 0.5, 9)], radii=0.4)
    depth = 0.4 - np.abs(sim.positions[:, 2])
    with pytest.raises(InputError, match=f"{(depth > 4e-4).sum()} bodies overlap .* the wall 'plate'"):
        sim.run(1)
    assert sim.overlaps().worst == pytest.approx(depth.max() / 0.4)


@pytest.mark.parametrize("shape", [CUBE, Tablet(0.5, 0.3, 0.15), Clump([[0, 0, 0], [0.3, 0, 0]], [0.3, 0.2])])
def test_other_shapes_that_lie_inside_each_other_are_refused(shape):
    sim = simulation(linear(), gravity=(0, 0, 0), dt=1e-4)
    sim.insert([[0, 0, 0], [0.1, 0.05, 0.2]], shape=shape)
    of = r"of the smaller radius \(of a clump: that of its smallest sphere\)"
    of = of if isinstance(shape, Clump) else "of 5 times the rounding"
    with pytest.raises(InputError, match=rf"by at most 0\.1 {of}, got .*: 2 bodies overlap"):
        sim.run(1)


@pytest.mark.parametrize("depth", [0.0, 0.3, 0.44, 0.46])
@pytest.mark.parametrize("shape", [CUBE, Tablet(0.5, 0.7, 0.15)])
def test_a_shape_that_a_mesh_pierces_is_refused(shape, depth):
    sim = simulation(linear(), walls=[plate()], dt=1e-4)
    sim.insert([[0.3, 0.1, depth]], shape=shape)
    assert (sim.overlaps().bodies, sim.overlaps().worst > 0.1) == (1, True)
    with pytest.raises(InputError, match=r"0 times with a body, (1 time|2 times) with a wall.*the wall 'plate'"):
        sim.run(1)
    assert np.isfinite(sim.contacts()["normal"]).all()


def test_only_bodies_that_were_just_placed_are_checked():
    # Soft grains under load overlap by more than the accepted overlap at the start.
    sim = simulation(linear(kn=60.0, restitution=0.3), walls=[floor()], dt=1e-3)
    sim.insert([[0, 0, 0.5]], radii=0.5)
    sim.run(3000)
    assert sim.overlaps().worst > 0.15
    sim.insert([[3, 0, 0.5]], radii=0.5)
    sim.run(1)
    copy = Simulation.restore(sim.state())
    copy.run(1)
    sim.insert([[0.2, 0, 0.5]], radii=0.5)
    with pytest.raises(InputError, match="body 0 and body 2"):
        Simulation.restore(sim.state()).run(1)
    sim.remove([2])
    sim.run(1)
    sim.positions = sim.positions
    with pytest.raises(InputError, match="body 0 and the wall 'floor'"):
        sim.run(1)


# --- crossings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("speed", [100.0, 3000.0, 12_000.0, 60_000.0])
@pytest.mark.parametrize("wall_moves", [False, True])
def test_a_body_that_crosses_a_wall_is_counted_and_reported_once(speed, wall_moves):
    # From a body that is pushed through a soft wall to one so fast that no step sees it touch the wall.
    sim = simulation(
        linear(kn=1e2), walls=[plate(velocity=(0, 0, speed)) if wall_moves else plate()], gravity=(0, 0, 0), dt=1e-4
    )
    sim.insert([[0.3, 0, 2], [-1.3, 0, 3]], radii=0.5, velocities=(0, 0, 0 if wall_moves else -speed))
    with pytest.warns(CrossingWarning, match=r"body 0 crossed the wall 'plate' in one step at t = .* smaller dt") as w:
        sim.run(round(5 / speed / sim.dt) + 3)
    assert len([one for one in w if one.category is CrossingWarning]) == 1
    assert sim.crossings == {"plate": 2}
    assert sim.stats.crossings == 2
    assert Simulation.restore(sim.state()).crossings == {"plate": 2}


def test_bodies_that_bounce_do_not_cross():
    sim = simulation(linear(kn=2e5), walls=[plate(), floor()], gravity=(0, 0, 0), dt=1e-5)
    sim.insert([[0.3, 0, 0.6], [2, 0, 0.6]], radii=0.5, velocities=[[0, 0, -3.0], [0, 0, -30]])
    sim.run(10_000)
    assert (sim.velocities[:, 2] > 0).all()
    assert sim.stats.crossings == 0


def test_a_centre_behind_a_plane_is_a_crossing_too():
    sim = simulation(linear(kn=1e2), walls=[floor()], gravity=(0, 0, 0), dt=1e-4)
    sim.insert([[0, 0, 0.6]], radii=0.5, velocities=[[0, 0, -100.0]])
    with pytest.warns(CrossingWarning, match="'floor'"):
        sim.run(100)
    assert sim.crossings == {"floor": 1}


@pytest.mark.parametrize("wall", [floor, plate])
@pytest.mark.parametrize("shape", [CUBE, Tablet(0.5, 0.3, 0.15)])
def test_shapes_that_sink_through_a_soft_wall_slowly_cross_it(shape, wall):
    sim = simulation(linear(kn=10.0), walls=[wall()], dt=1e-4)
    sim.insert([[0.3, 0, 0.55]], shape=shape)
    with pytest.warns(CrossingWarning, match="body 0 crossed the wall"):
        sim.run(4000)
    assert sim.positions[0, 2] < 0
    assert sim.crossings == {wall().name: 1}


def test_shapes_that_rest_do_not_cross():
    sim = simulation(linear(), walls=[floor()], dt=1e-4)
    sim.insert([[0, 0, 0.55], [3, 0, 0.55]], shape=CUBE)
    sim.run(5000)
    assert sim.crossings == {}


def test_a_run_without_bodies_leaves_the_step_open():
    sim = simulation(linear())
    with pytest.raises(InputError, match="dt must be given if there are no bodies"):
        sim.run(1)
    sim.insert([[0, 0, 0.0]], radii=0.5)
    assert 0 < sim.dt < 1e-3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"materials": linear()}, "materials must have names, as in"),
        ({"materials": {"m": {"kn": 1e4}}}, r'materials\["m"\] must be a Material, got dict'),
        ({"walls": floor()}, "walls must be a list of walls, got Plane; put a single wall into a list"),
        (
            {"walls": ["floor"]},
            "walls must be a list of walls, each one of Plane, Cylinder, MeshWall, got 'floor' in it",
        ),
        ({"pairs": {"m": 1}}, "pairs must map two names"),
        ({"pairs": [1]}, "pairs must be"),
        ({"box": -1}, "box must be a positive, finite number, got -1"),
        ({"box": (1, 1)}, "box must have 3 lengths"),
    ],
)
def test_wrong_arguments_name_the_argument_and_what_to_do(options, message):
    with pytest.raises(InputError, match=message):
        Simulation(**({"materials": {"m": linear()}, "law": "linear"} | options))


def test_one_length_is_that_of_all_axes():
    assert simulation(linear(), box=2.0).box == (2.0, 2.0, 2.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radii": 0.1, "spins": 5.0}, r"spins must have the shape \(1, 3\) or \(3,\), got \(\)"),
        ({"radii": 0.1, "velocities": "fast"}, "velocities must be real numbers"),
        ({"shape": "cube"}, "shape must be one of Clump, Tablet, Polyhedron, got 'cube'"),
    ],
)
def test_bodies_that_cannot_be_inserted_leave_nothing_behind(options, message):
    sim = simulation(linear(), dt=1e-4)
    with pytest.raises(InputError, match=message):
        sim.insert([[0, 0, 0.0]], **options)
    assert len(sim) == 0
    assert sim.shapes == ()


def test_a_box_whose_corners_are_exchanged_is_refused():
    with pytest.raises(InputError, match=r"tray\.upper must be above tray\.lower on every axis"):
        box_walls("tray", (0, 0, 0), (1, 1, -1), "m")
