"""The state of a simulation of grains: all data needed to continue it bit for bit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal.dem import shapes as shape_kinds
from vicinal.dem.materials import Material
from vicinal.errors import InputError
from vicinal.sim import walls as wall_kinds

if TYPE_CHECKING:
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
MEMORY = ("first", "second", "springs", "turnings", "normals")


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
    reference, margins = core.reference() if core.has_lists else (np.empty((0, 3)), np.empty(0))
    result: dict[str, Any] = {
        "format": FORMAT,
        "settings": json.dumps(settings),
        "steps": sim.step_count,
        "wall_margin": core.wall_margin,
        "wall_drift": core.wall_drift,
        "ids": core.ids(),
        "keys": core.keys(),
        "blocks": sim._blocks[0],  # noqa: SLF001
        "materials": core.materials(),
        "shapes": core.shapes(),
        "reference": reference,
        "margins": margins,
        **{name: core.get(name) for name in COLUMNS},
    }
    for kind, memory in zip(("pairs", "walls"), core.contact_memory(), strict=True):
        result |= {f"{kind}_{name}": column for name, column in zip(MEMORY, memory, strict=True)}
    return result


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


def restore(cls: type[Simulation], state: Mapping[str, Any]) -> Simulation:
    """Return the simulation that has the given state."""
    if int(state.get("format", -1)) != FORMAT:
        raise InputError(f"the format of a state must be {FORMAT}, got {state.get('format')!r}")
    settings = json.loads(str(state["settings"]))
    sim = cls(
        materials={name: Material(**values) for name, values in settings["materials"].items()},
        pairs={(a, b): values for a, b, values in settings["pairs"]},
        law=settings["law"],
        history=settings["history"],
        walls=[_made(wall_kinds, wall) for wall in settings["walls"]],
        gravity=settings["gravity"],
        box=[edge or None for edge in settings["box"]],
    )
    sim.random.bit_generator.state = settings["random"]
    for name, value in settings["own"].items():
        setattr(sim, name, tuple(value) if isinstance(value, list) else value)
    for shape in settings["shapes"]:
        sim._shape(_made(shape_kinds, shape))
    core = sim._core
    core.append(
        np.ascontiguousarray(state["ids"], dtype=np.int64),
        np.ascontiguousarray(state["materials"], dtype=np.uint8),
        np.ascontiguousarray(state["shapes"], dtype=np.int32),
    )
    for name in COLUMNS:
        core.set(name, np.ascontiguousarray(state[name], dtype=np.float64))
    core.restore_keys(np.ascontiguousarray(state["keys"], dtype=np.uint64))
    sim._blocks = (np.ascontiguousarray(state["blocks"], dtype=np.uint64), *settings["blocks"])
    core.set_blocks(*sim._blocks)
    warned = sim._warned
    sim._changed()
    sim._warned = warned
    core.steps = int(state["steps"])
    core.primed = settings["primed"]
    core.drifted = settings["drifted"]
    for kind in ("pairs", "walls"):
        columns = [np.ascontiguousarray(state[f"{kind}_{name}"]) for name in MEMORY]
        core.restore_memory(kind == "walls", *columns)
    if sim._dt is not None:
        core.set_space(sim.gravity.tolist(), sim.box, sim._dt)
    sim._sync_walls()
    if settings["has_lists"]:
        # Rebuild the same lists from the positions for which they were built.
        reference, margins = (np.ascontiguousarray(state[name]) for name in ("reference", "margins"))
        sim._set_lists(reference, margins, float(state["wall_margin"]), float(state["wall_drift"]))
    return sim
