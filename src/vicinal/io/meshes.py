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
    try:
        # The triangles as they stand in the file; none are joined or dropped.
        mesh: Any = trimesh.load(str(path), force="mesh", process=False)
        vertices = np.asarray(mesh.vertices, np.float64)
        faces = np.asarray(mesh.faces, np.int32)
    except Exception as error:  # noqa: BLE001 - the reader raises whatever its parsers meet
        raise InputError(f"{path}: must be an STL, OBJ or PLY file of triangles ({error})") from None
    if not len(faces) or not np.isfinite(vertices).all():
        raise InputError(f"{path}: must have triangles and finite coordinates, got {len(faces)} triangles")
    return vertices, faces
