"""Triangle meshes from files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError
from vicinal.extras import need


def read_mesh(path: str | Path) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int32]]:
    """Read a mesh from an STL, OBJ or PLY file; needs trimesh.

    Returns
    -------
    vertices, faces
        Coordinates, shape (v, 3), and the numbers of the three vertices of each triangle, shape (m, 3).
    """
    need("reading a mesh", "mesh")
    import trimesh

    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: no such mesh file")
    if Path(path).suffix.lower() == ".stl":
        check_stl(Path(path))
    declared = _faces_of_ply(Path(path)) if Path(path).suffix.lower() == ".ply" else 0
    try:
        # The triangles as they stand in the file; none are joined or dropped.
        mesh: Any = trimesh.load(str(path), force="mesh", process=False)
        vertices = np.asarray(mesh.vertices, np.float64)
        faces = np.asarray(mesh.faces, np.int32)
    except Exception as error:  # noqa: BLE001 - the reader raises any error of its parsers
        # For bytes that are not text, the reader looks for a package that guesses their encoding.
        reason = "it is not text" if isinstance(error, ImportError) else str(error)
        raise InputError(
            f"{path}: must be an STL, OBJ or PLY file of triangles ({reason}); it may be cut off, copy it again"
        ) from None
    if len(faces) < declared:
        raise InputError(
            f"{path}: must have {declared} faces as its header says, got {len(faces)}; it was cut off, copy it again"
        )
    if not len(faces) or not np.isfinite(vertices).all():
        raise InputError(
            f"{path}: must have triangles and finite coordinates, got {len(faces)} triangles; "
            "if it was cut off, copy it again"
        )
    return vertices, faces


_HEADER, _TRIANGLE = 84, 50
"""Bytes of a binary STL file: before the triangles, and of each."""


def check_stl(path: Path) -> None:
    """Raise an error if an STL file ends before or after its last triangle.

    Parameters
    ----------
    path
        A binary file, whose header has the number of triangles, or a text file, which ends with ``endsolid``.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(_HEADER)
        count = int.from_bytes(start[80:84], "little")
        if size == _HEADER + count * _TRIANGLE and size >= _HEADER:
            return
        if start.lstrip()[:5].lower() == b"solid" and b"\x00" not in start:
            file.seek(max(0, size - 4096))
            if b"endsolid" in file.read().lower():
                return
            raise InputError(f"{path}: an STL file of text must end with endsolid; it was cut off, copy it again")
    if size < _HEADER:
        raise InputError(
            f"{path}: must be an STL file of at least {_HEADER} bytes, got {size}; it was cut off, copy it again"
        )
    whole = (size - _HEADER) // _TRIANGLE
    if whole < count:
        raise InputError(
            f"{path}: must have {count} triangles as its header says, got {whole}; it was cut off, copy it again"
        )
    raise InputError(
        f"{path}: must end after the {count} triangles of its header, got {size - _HEADER - count * _TRIANGLE} bytes "
        f"more, or {whole} triangles in all; export it again, or remove them if the count is right"
    )


def _faces_of_ply(path: Path) -> int:
    """Return the number of faces that the header of a PLY file states, 0 if it does not."""
    with path.open("rb") as file:
        found = re.search(rb"^element face (\d+)\s*$", file.read(1 << 16).partition(b"end_header")[0], re.MULTILINE)
    return int(found[1]) if found else 0
