"""Triangle meshes from files."""

from __future__ import annotations

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
    try:
        # The triangles as they stand in the file; none are joined or dropped.
        mesh: Any = trimesh.load(str(path), force="mesh", process=False)
        vertices = np.asarray(mesh.vertices, np.float64)
        faces = np.asarray(mesh.faces, np.int32)
    except Exception as error:  # noqa: BLE001 - the reader raises any error of its parsers
        raise InputError(f"{path}: must be an STL, OBJ or PLY file of triangles ({error})") from None
    if not len(faces) or not np.isfinite(vertices).all():
        raise InputError(f"{path}: must have triangles and finite coordinates, got {len(faces)} triangles")
    return vertices, faces


_HEADER, _TRIANGLE = 84, 50
"""Bytes of a binary STL file: before the triangles, and of each."""


def check_stl(path: Path) -> None:
    """Raise an error if an STL file ends before its last triangle.

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
