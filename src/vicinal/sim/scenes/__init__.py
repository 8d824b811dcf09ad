"""Scenes that come with the package: ``vicinal run NAME``."""

from __future__ import annotations

from pathlib import Path

from vicinal.errors import InputError
from vicinal.sim.schema import suggestion

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """Return the names of all scenes.

    Examples
    --------
    >>> "drum" in names()
    True
    """
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def find(scene: str | Path) -> Path:
    """Return the file of a scene that is given as a TOML file or by its name in the package.

    Examples
    --------
    >>> find("drum").name
    'drum.toml'
    """
    path = Path(scene)
    if path.is_file():
        return path
    if str(scene) in names():
        return FOLDER / f"{scene}.toml"
    if path.suffix:
        raise FileNotFoundError(f"{scene}: no such file")
    known = ", ".join(names())
    raise InputError(
        f"{scene}: must be a TOML file or the name of a scene; {suggestion(scene, names())}scenes: {known}"
    )
