"""Restart files: everything a run needs to go on bit for bit, complete or not there."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from vicinal.errors import InputError
from vicinal.io.atomic import atomic_file

FORMAT = 1


def save_restart(path: Path, *, scene: str, simulation: Mapping[str, Any], run: Mapping[str, Any]) -> None:
    """Write a restart file.

    Parameters
    ----------
    path
        Where; a file there is replaced once the new one is complete.
    scene
        The resolved configuration, as TOML.
    simulation
        State of the simulation: arrays, numbers and strings.
    run
        State of everything around it, likewise.
    """
    arrays: dict[str, Any] = {}
    plain: dict[str, Any] = {"format": FORMAT, "scene": scene}
    for part, values in (("simulation", simulation), ("run", run)):
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                arrays[f"{part}/{name}"] = value
            else:
                plain[f"{part}/{name}"] = value.item() if isinstance(value, np.generic) else value
    with atomic_file(path) as file:
        # Numbers as text are exact too: JSON writes every float so that it is read back the same.
        np.savez(file, plain=np.array(json.dumps(plain)), **arrays)


def load_restart(path: Path) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Read a restart file: the configuration and both states."""
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            plain = json.loads(str(file["plain"]))
            found = {name: file[name] for name in file.files if name != "plain"}
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such restart file") from None
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: not a restart file of vicinal ({error})") from None
    if plain.pop("format", None) != FORMAT:
        raise InputError(f"{path}: a restart file of another version; this one reads format {FORMAT}")
    scene = plain.pop("scene")
    found |= plain
    parts: dict[str, dict[str, Any]] = {"simulation": {}, "run": {}}
    for name, value in found.items():
        part, _, rest = name.partition("/")
        parts[part][rest] = value
    return scene, parts["simulation"], parts["run"]
