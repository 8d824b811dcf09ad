"""The state of a simulation of grains: all data needed to continue it bit for bit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vicinal.dem import shapes as shape_kinds
from vicinal.dem.bodies import check_sizes
from vicinal.dem.materials import Material
from vicinal.dem.relist import Elements, restore_lists
from vicinal.distributed.agreement import agree_on
from vicinal.errors import InputError
from vicinal.sim import walls as wall_kinds

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

    from vicinal import _core
    from vicinal.dem.simulation import Simulation

FORMAT = 6
COLUMNS = (
    "positions",
    "radii",
    "velocities",
    "spins",
    "orientations",
    "half_kicks",
    "half_spin_kicks",
    "momenta",
    "half_impulses",
    "inertias",
    "masses",
)
MEMORY = ("first", "first_part", "second", "second_part", "springs", "turnings", "normals")


def _plain(value: object) -> object:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _described(thing: object) -> dict[str, Any]:
    return {"type": type(thing).__name__, **{f.name: _plain(getattr(thing, f.name)) for f in fields(thing)}}  # type: ignore[arg-type]


def _made(kinds: Any, description: Mapping[str, Any]) -> Any:
    rest = dict(description)
    thing = getattr(kinds, rest.pop("type"))
    return thing(**{k: np.array(v) if isinstance(v, list) else v for k, v in rest.items()})


def state(sim: Simulation) -> dict[str, Any]:
    """Return the state of a simulation."""
    core = sim._core  # noqa: SLF001
    settings = {
        "materials": {name: asdict(material) for name, material in sim.materials.items()},
        "pairs": [[*key, dict(value)] for key, value in sim.pairs.items()],
        "law": sim.law,
        "history": sim.history,
        "gravity": sim.gravity.tolist(),
        "box": sim.box,
        "walls": [_described(wall) for wall in sim.walls],
        "shapes": [_described(shape) for shape in sim.shapes],
        "random": sim.random.bit_generator.state,
        "own": {name: getattr(sim, name) for name in _OWN},
        "blocks": sim._blocks[1:],  # noqa: SLF001
        "primed": core.primed,
        "drifted": core.drifted,
        "has_lists": core.has_lists,
    }
    result: dict[str, Any] = {
        "format": FORMAT,
        "settings": json.dumps(settings),
        "steps": sim.step_count,
        "wall_margin": core.wall_margin,
        "wall_drift": core.wall_drift,
        "blocks": sim._blocks[0],  # noqa: SLF001
    }
    return result | _columns(sim)


def _columns(sim: Simulation) -> dict[str, Any]:
    """Return the columns of bodies and contacts, in the order of ids, on rank 0; other ranks get no rows."""
    core, ranks, rows = sim._core, sim._ranks, sim._rows()  # noqa: SLF001
    elements = _element_rows(core, rows)
    own: dict[str, Any] = {"ids": core.ids()[rows], "keys": core.keys()[rows], "materials": core.materials()[rows]}
    own |= {"shapes": core.shapes()[rows], "elements": np.array([len(some) for some in elements], np.int64)}
    own |= {name: core.get(name)[rows] for name in COLUMNS}
    order = np.concatenate([np.empty(0, np.int64), *elements])
    reference, margins = core.reference() if core.has_lists else (np.empty((0, 3)), np.empty(0))
    if core.has_lists:
        reference, margins = reference[order], margins[order]
    own |= {"reference": reference, "margins": margins}
    for kind, memory in zip(("pairs", "walls"), core.contact_memory(), strict=True):
        own |= {f"{kind}_{name}": column for name, column in zip(MEMORY, memory, strict=True)}
    parts = ranks.at_first(own)
    whole = {name: _joined([part[name] for part in parts]) for name in own}
    order = np.argsort(whole["ids"])
    ends = np.cumsum(whole["elements"])
    spheres = [np.arange(end - count, end) for end, count in zip(ends, whole["elements"], strict=True)]
    of_elements = np.concatenate([np.empty(0, np.int64), *(spheres[row] for row in order)])
    for name in ("ids", "keys", "materials", "shapes", "elements", *COLUMNS):
        whole[name] = whole[name][order]
    if len(whole["margins"]):
        whole["reference"], whole["margins"] = whole["reference"][of_elements], whole["margins"][of_elements]
    for kind in ("pairs", "walls"):
        keys = [whole[f"{kind}_{name}"] for name in ("second_part", "second", "first_part", "first")]
        order = np.lexsort(keys)
        for name in MEMORY:
            whole[f"{kind}_{name}"] = whole[f"{kind}_{name}"][order]
    return whole


def _element_rows(core: _core.Grains, rows: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
    """Return the rows of the elements of each of these bodies."""
    owners = core.owners()
    if not len(owners):
        return [np.array([row]) for row in rows]
    ends = np.searchsorted(owners, np.arange(core.size), side="right")
    starts = np.searchsorted(owners, np.arange(core.size), side="left")
    return [np.arange(starts[row], ends[row]) for row in rows]


def _joined(columns: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return columns of several ranks as one; contacts may have springs of one or several points."""
    points = max((column.shape[1] for column in columns if column.ndim == 3), default=0)
    return np.concatenate([np.repeat(c, points, axis=1) if c.ndim == 3 and c.shape[1] < points else c for c in columns])


# Values that a simulation keeps about its lists and time.
_OWN = (
    "_dt",
    "_start",
    "_next_id",
    "_skin",
    "_fixed_skin",
    "_life_from",
    "_builds",
    "_sorted_at",
    "_warned",
    "_max_overlap",
    "_placed_from",
    "_crossings",
)


def restore(cls: type[Simulation], state: Mapping[str, Any], comm: Intracomm | None) -> Simulation:
    """Return the simulation that has the given state, shared by the ranks of a communicator."""
    if not isinstance(state, Mapping):
        raise InputError(f"state must be the result of state() of grains, got {type(state).__name__}")
    if int(state.get("format", -1)) != FORMAT:
        raise InputError(f"the format of a state must be {FORMAT}, got {state.get('format')!r}")
    told = str(state["settings"])
    compared = {"settings": told, "steps": int(state["steps"]), "bodies": len(state["ids"])}
    agree_on(comm, {"state": compared}, per_rank=())
    settings = json.loads(told)
    sim = cls(
        materials={name: Material(**values) for name, values in settings["materials"].items()},
        pairs={(a, b): values for a, b, values in settings["pairs"]},
        law=settings["law"],
        history=settings["history"],
        walls=[_made(wall_kinds, wall) for wall in settings["walls"]],
        gravity=settings["gravity"],
        box=[edge or None for edge in settings["box"]],
        comm=comm,
    )
    sim.random.bit_generator.state = settings["random"]
    for name, value in settings["own"].items():
        setattr(sim, name, tuple(value) if isinstance(value, list) else value)
    for shape in settings["shapes"]:
        sim._shape(_made(shape_kinds, shape))
    core, ranks = sim._core, sim._ranks
    bodies = {name: np.ascontiguousarray(state[name]) for name in ("ids", "keys", "materials", "shapes", *COLUMNS)}
    check_sizes(sim.box, bodies["radii"])
    own = ranks.share(bodies["positions"])
    core.append(*(bodies[name][own] for name in ("ids", "materials", "shapes")))
    for name in COLUMNS:
        core.set(name, bodies[name][own])
    core.restore_keys(bodies["keys"][own])
    sim._blocks = (np.ascontiguousarray(state["blocks"], dtype=np.uint64), *settings["blocks"])
    core.set_blocks(*sim._blocks)
    core.steps = int(state["steps"])
    core.primed = settings["primed"]
    core.drifted = settings["drifted"]
    if sim._dt is not None:
        core.set_space(sim.gravity.tolist(), sim.box, sim._dt)
    for kind in ("pairs", "walls"):
        core.restore_memory(kind == "walls", *(np.ascontiguousarray(state[f"{kind}_{name}"]) for name in MEMORY))
    ranks.compared = core.steps
    sim._sync_walls()
    if settings["has_lists"]:
        ids = np.repeat(state["ids"], state["elements"])
        reference, margins = (np.ascontiguousarray(state[name]) for name in ("reference", "margins"))
        known = Elements(ids, reference, margins)
        rows, _ = known.of_bodies(np.sort(core.ids()))
        restore_lists(sim, known.rows(rows), float(state["wall_margin"]), float(state["wall_drift"]))
    else:
        core.sort_rows()
        sim._set_elements()
        core.settle()
    return sim
