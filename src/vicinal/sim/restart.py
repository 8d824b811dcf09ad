"""Restart files: all data that a run needs to continue bit for bit. A file is complete or absent."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from vicinal.errors import InputError
from vicinal.io.atomic import atomic_file
from vicinal.sim.folder import RESTART

FORMAT = 2


def save_restart(path: Path, scene: str, states: Mapping[str, Any]) -> None:
    """Write a restart file.

    Parameters
    ----------
    path
        Name of the file; an existing one is replaced once the new one is complete.
    scene
        The scene, as TOML.
    states
        States of the solvers by name: arrays, numbers and strings, possibly in nested dictionaries.
    """
    arrays: dict[str, Any] = {}
    plain: dict[str, Any] = {"format": FORMAT, "scene": scene}
    for name, value in _flat(states):
        if isinstance(value, np.ndarray):
            arrays[name] = value
        else:
            plain[name] = value.item() if isinstance(value, np.generic) else value
    with atomic_file(path) as file:
        # Numbers in JSON are exact: every float is written such that reading returns the same float.
        np.savez(file, plain=np.array(json.dumps(plain)), **arrays)


def restart_file(path: Path) -> Path:
    """Return the restart file: the one in a folder of results, if a folder is given."""
    return path / RESTART if path.is_dir() else path


def load_restart(path: Path) -> tuple[str, dict[str, Any]]:
    """Read a restart file: the scene, and the states of the solvers by name."""
    path = restart_file(path)
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            plain = json.loads(str(file["plain"]))
            values = {name: file[name] for name in file.files if name != "plain"}
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such restart file") from None
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile):
        raise InputError(f"{path}: not a restart file of vicinal, or not a complete one; use restart.npz") from None
    version = plain.pop("format", None)
    if version != FORMAT:
        raise InputError(f"{path}: the format of a restart file must be {FORMAT}, got {version}; run the scene again")
    scene = plain.pop("scene")
    return scene, _nested(values | plain)


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", value


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path, value in values.items():
        *folders, name = path.split("/")
        here = tree
        for folder in folders:
            here = here.setdefault(folder, {})
        here[name] = value
    return tree
