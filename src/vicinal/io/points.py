"""Reading points: one function for all formats, which the ending of the file name selects."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal import InputError
from vicinal.io.parquet import read_parquet
from vicinal.io.text import read_text
from vicinal.io.xyz import Box, read_xyz

if TYPE_CHECKING:
    from numpy.typing import NDArray

TEXT_ENDINGS = (".csv", ".tsv", ".txt", ".dat")
XYZ_ENDINGS = (".xyz", ".extxyz")
PARQUET_ENDING = ".parquet"
ENDINGS = (".npy", ".npz", *TEXT_ENDINGS, *XYZ_ENDINGS, PARQUET_ENDING)


@dataclass(frozen=True)
class PointSet:
    """Points read from a file.

    Attributes
    ----------
    points
        The array as stored in the file; text formats give float64, shape (n, 2) or (n, 3).
    box
        Periodic box of an extended xyz file: one length per axis, None for an open axis; or edge vectors. None: open
        space.
    periodic
        Along which of the edge vectors space is periodic; None: along all of them.
    box_fault
        Reason why the box that the file describes cannot be used, or an empty string.
    """

    points: NDArray[Any]
    box: Box | None = None
    periodic: tuple[bool, ...] | None = None
    box_fault: str = ""


def read_points(source: str | Path) -> PointSet:
    r"""Read points from a file.

    Parameters
    ----------
    source
        Path with one of the endings

        - ``.npy``: one array;
        - ``.npz``: ``file.npz:name`` for a named array, else the array ``points``, else the only array;
        - ``.csv .tsv .txt .dat``: columns split by comma, semicolon or white space, ``#`` starts a comment;
          with a header the columns x, y and, if present, z are used, without one there must be two or three;
        - ``.xyz .extxyz``: first frame; ``Properties`` tells the columns, ``Lattice`` and ``pbc`` the box;
        - ``.parquet``: the columns x, y and, if present, z (extra ``parquet``).

    Returns
    -------
    PointSet
        The points, and the box of an extended xyz file.

    Raises
    ------
    InputError
        If the content cannot be used; the message names file, line, fault and remedy.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "points.csv")
    ...     _ = path.write_text("name,x,y\nfirst,0,1\nsecond,2,3\n")
    ...     read_points(path).points
    array([[0., 1.],
           [2., 3.]])
    """
    text = str(source)
    file, separator, name = text.rpartition(".npz:")
    if separator:
        return PointSet(_read_npz(Path(file + ".npz"), name=name))
    path = Path(text)
    ending = path.suffix.lower()
    if ending == ".npy":
        return PointSet(_read_npy(path))
    if ending == ".npz":
        return PointSet(_read_npz(path, name=None))
    if ending == PARQUET_ENDING:
        return PointSet(read_parquet(path))
    if ending in TEXT_ENDINGS:
        return PointSet(read_text(path))
    if ending in XYZ_ENDINGS:
        return PointSet(*read_xyz(path))
    message = f"{path}: the file name must end in one of {' '.join(ENDINGS)}, got {ending!r}"
    raise InputError(message)


def _read_npy(path: Path) -> NDArray[Any]:
    with path.open("rb") as file:
        try:
            return np.asarray(np.lib.format.read_array(file, allow_pickle=False))
        except (ValueError, EOFError) as error:
            message = f"{path}: not a readable .npy file ({error}); write it with numpy.save"
            raise InputError(message) from error


def _read_npz(path: Path, *, name: str | None) -> NDArray[Any]:
    with path.open("rb") as file:
        if not zipfile.is_zipfile(file):
            message = f"{path}: not an .npz file; write it with numpy.savez (numpy.save makes .npy files)"
            raise InputError(message)
        file.seek(0)
        with np.load(file, allow_pickle=False) as archive:
            chosen = _array_name(path, archive.files, name=name)
            try:
                return np.asarray(archive[chosen])
            except (ValueError, EOFError, zipfile.BadZipFile) as error:
                message = f"{path}: array {chosen!r} cannot be read ({error}); write it with numpy.savez"
                raise InputError(message) from error


def _array_name(path: Path, names: list[str], *, name: str | None) -> str:
    listing = ", ".join(names) or "none"
    if name is not None:
        if name not in names:
            message = f"{path}: has no array {name!r}; arrays in the file: {listing}"
            raise InputError(message)
        return name
    if "points" in names:
        return "points"
    if len(names) == 1:
        return names[0]
    message = f"{path}: has no array 'points'; name one as {path.name}:NAME; arrays in the file: {listing}"
    raise InputError(message)
