"""Neighbours of ASE atoms: a function with the signature of ``ase.neighborlist.neighbor_list``.

>>> from vicinal.adapters.ase import neighbor_list  # instead of: from ase.neighborlist import neighbor_list

The result is that of ASE in another order within the rows of an atom. As in ASE, the cutoff itself is not included.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal.errors import InputError
from vicinal.search import pairs

if TYPE_CHECKING:
    from ase import Atoms

Array = npt.NDArray[Any]
Cutoffs = float | npt.ArrayLike | Mapping[tuple[str | int, str | int], float]


def box_of(atoms: Atoms) -> dict[str, Any]:
    """Return the cell of atoms as the keywords of `vicinal.pairs`.

    Examples
    --------
    >>> from ase.build import bulk
    >>> vicinal.adapters.ase.box_of(bulk("Cu", "fcc", a=3.6, cubic=True))
    {'box': (3.6, 3.6, 3.6)}
    """
    cell, periodic = np.asarray(atoms.cell, np.float64), np.asarray(atoms.pbc, bool)
    if not periodic.any():
        return {"box": None}
    if not np.any(cell - np.diag(np.diag(cell))) and (np.diag(cell)[periodic] > 0).all():
        return {"box": tuple(float(edge) if used else None for edge, used in zip(np.diag(cell), periodic, strict=True))}
    return {"box": _completed(atoms), "periodic": tuple(periodic.tolist())}


def _completed(atoms: Atoms) -> Array:
    """Return the cell with edges in place of missing ones, along which space is open."""
    from ase.geometry import complete_cell

    return np.asarray(complete_cell(atoms.cell))  # type: ignore[no-untyped-call]


def neighbor_list(
    quantities: str,
    a: Atoms,
    cutoff: Cutoffs,
    self_interaction: bool = False,  # noqa: FBT001, FBT002
    max_nbins: float = 1e6,
) -> Any:
    """Find the neighbours of all atoms, as ``ase.neighborlist.neighbor_list`` does.

    Parameters
    ----------
    quantities
        Letters of the arrays to return: ``i``, ``j``, ``d``, ``D``, ``S``.
    a
        Atoms with their cell and periodic directions.
    cutoff
        One number; or one radius per atom, whose sums are the cutoffs; or the cutoffs of pairs of elements, given by
        symbol or number. Elements without a cutoff form no pairs.
    self_interaction
        Each atom is its own neighbour, too, unless its element has no cutoff with itself.
    max_nbins
        Accepted for compatibility; it has no effect.

    Examples
    --------
    >>> from ase.build import bulk
    >>> i, d = vicinal.adapters.ase.neighbor_list("id", bulk("Cu", "fcc", a=3.6, cubic=True), 3.0)
    >>> np.bincount(i).tolist()
    [12, 12, 12, 12]
    """
    del max_nbins
    letters = _check.check_want(quantities, "ijdDS", "quantities")
    if not hasattr(a, "positions"):
        raise InputError(f"a must be Atoms of ASE, got {type(a).__name__}; use vicinal.pairs for other points")
    options, limit = _reach(a, cutoff)
    needed = "".join(dict.fromkeys("ijd" + letters))
    found = pairs(
        a.positions, **options, **box_of(a), want=needed, half=False, sort=True, self_pairs=bool(self_interaction)
    )
    columns = dict(zip(needed, found, strict=True))
    i, j = columns["i"], columns["j"]
    beyond = columns["d"] >= limit(i, j)
    if beyond.any():
        columns = {letter: column[~beyond] for letter, column in columns.items()}
    made = tuple(
        column.astype(np.intp) if letter in "ijS" else column
        for letter, column in ((letter, columns[letter]) for letter in letters)
    )
    return made[0] if len(made) == 1 else made


def _reach(atoms: Atoms, cutoff: Cutoffs) -> tuple[dict[str, Any], Any]:
    """Return the keywords of a search, and the cutoff of each pair of atoms (i, j) as a function."""
    if isinstance(cutoff, Mapping):
        matrix, types = _matrix(atoms, cutoff)
        return {"cutoff": matrix, "types": types}, lambda i, j: matrix[types[i], types[j]]
    if np.ndim(cutoff) == 0:
        return {"cutoff": cutoff}, lambda i, j: np.float64(cutoff)  # type: ignore[arg-type]  # noqa: ARG005
    radii = np.asarray(cutoff, np.float64)
    if radii.shape != (len(atoms),):
        raise InputError(f"cutoff must be one number, or one radius for each of {len(atoms)} atoms, got {radii.shape}")
    return {"radii": radii}, lambda i, j: radii[i] + radii[j]


def _matrix(atoms: Atoms, cutoffs: Mapping[Any, float]) -> tuple[Array, Array]:
    """Return the cutoffs of pairs of elements as a matrix, and the type of every atom."""
    from ase.data import atomic_numbers

    elements, types = np.unique(np.asarray(atoms.numbers), return_inverse=True)
    place = {int(number): k for k, number in enumerate(elements)}
    matrix = np.full((max(len(elements), 1),) * 2, -1.0)
    for names, distance in cutoffs.items():
        if not (isinstance(names, tuple) and len(names) == 2):
            raise InputError(f'cutoff must have pairs of elements as keys, such as ("Cu", "O"), got {names!r}')
        for name in names:
            if isinstance(name, str) and name not in atomic_numbers:
                raise InputError(f"cutoff must have symbols or numbers of elements in its keys, got {name!r}")
        one, two = (place.get(atomic_numbers[name] if isinstance(name, str) else int(name)) for name in names)
        if one is not None and two is not None:
            matrix[one, two] = matrix[two, one] = distance
    return matrix, types
