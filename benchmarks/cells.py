"""Tilted periodic cells: their cost relative to an orthogonal cell of the same volume, and other tools' answers.

    python benchmarks/cells.py                    time, in ns per pair, and ratio to the orthogonal cell
    python benchmarks/cells.py --peers            compare all pairs with ASE, matscipy, vesin, freud and MDAnalysis

Points are uniform with about 30 neighbours each, in random order, float64, one thread, CPU time, best of interleaved
rounds. Peers that are not installed are left out. They are compared on the cells that the tests use
(tests/named_cells.py), with the images that each of them supports.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import vicinal as vc

ROOT3 = 3**0.5 / 2
CELLS = {
    "orthogonal": np.eye(3),
    "turned": np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0],
    "monoclinic": [[1, 0, 0], [0, 1, 0], [-0.35, 0, 1]],
    "triclinic": [[1, 0, 0], [0.3, 1, 0], [-0.4, 0.35, 1]],
    "hexagonal": [[1, 0, 0], [0.5, ROOT3, 0], [0, 0, 1]],
    "fcc": [[0, 1, 1], [1, 0, 1], [1, 1, 0]],
    "bcc": [[-1, 1, 1], [1, -1, 1], [1, 1, -1]],
    "very tilted": [[1, 0, 0], [57.3, 1, 0], [-9.1, 23.4, 1]],
}
NEIGHBORS = 30
Keys = set[tuple[int, ...]]


def unit_volume(rows: Any) -> Any:
    """Return vectors of the same shape that span a volume of 1."""
    matrix = np.array(rows, float)
    return matrix / abs(np.linalg.det(matrix)) ** (1 / 3)


def measure(sizes: list[int], rounds: int, structures: list[str], want: str) -> None:
    """Print the time per pair in every cell."""
    print(f"ns per pair (ratio to the orthogonal cell), want={want!r}")
    print(f"{'structure':>14} {'points':>9} " + " ".join(f"{name:>15}" for name in CELLS))
    for n in sizes:
        cutoff = (NEIGHBORS / (4 / 3 * np.pi * n)) ** (1 / 3)
        places = np.random.default_rng(1).random((n, 3))
        for structure in structures:
            calls: dict[str, Callable[[], Any]] = {}
            for name, rows in CELLS.items():
                cell = unit_volume(rows)
                box = (1.0, 1.0, 1.0) if name == "orthogonal" else cell
                points = places @ cell if name != "orthogonal" else places
                kind = None if structure == "chosen" else structure
                calls[name] = partial(vc.pairs, points, cutoff, box=box, structure=kind, want=want)
            pairs = {name: len(call()[0]) for name, call in calls.items()}
            best = dict.fromkeys(calls, float("inf"))
            for _ in range(rounds):
                for name, call in calls.items():
                    start = process_time()
                    call()
                    best[name] = min(best[name], process_time() - start)
            each = {name: best[name] / pairs[name] * 1e9 for name in calls}
            cells = [f"{each[name]:6.2f} ({each[name] / each['orthogonal']:4.2f})" for name in calls]
            print(f"{structure:>14} {n:>9} " + " ".join(f"{cell:>15}" for cell in cells), flush=True)


def keys(i: Any, j: Any, S: Any) -> Keys:
    """Return the set of (i, j, shift)."""
    return set(map(tuple, np.column_stack([i, j, S]).astype(int).tolist()))


def couples(i: Any, j: Any) -> set[tuple[int, int]]:
    """Return the set of (i, j)."""
    return set(zip(i.tolist(), j.tolist(), strict=True))


def ase_pairs(points: Any, rows: Any, periodic: Any, cutoff: float) -> Keys:
    """Return the answer of ASE."""
    from ase import Atoms
    from ase.neighborlist import neighbor_list

    atoms = Atoms(f"H{len(points)}", positions=points, cell=rows, pbc=periodic)
    return keys(*neighbor_list("ijS", atoms, cutoff))


def matscipy_pairs(points: Any, rows: Any, periodic: Any, cutoff: float) -> Keys:
    """Return the answer of matscipy."""
    from ase import Atoms
    from matscipy.neighbours import neighbour_list

    atoms = Atoms(f"H{len(points)}", positions=points, cell=rows, pbc=periodic)
    return keys(*neighbour_list("ijS", atoms, float(cutoff)))


def vesin_pairs(points: Any, rows: Any, periodic: Any, cutoff: float) -> Keys:
    """Return the answer of vesin."""
    from vesin import NeighborList

    made = NeighborList(cutoff=cutoff, full_list=True)
    return keys(*made.compute(points=points, box=rows, periodic=list(periodic), quantities="ijS"))


def freud_pairs(points: Any, rows: Any, periodic: Any, cutoff: float) -> set[tuple[int, int]] | None:
    """Return the answer of freud: pairs without shifts, for cutoffs below half the cell and its own orientation."""
    import freud

    if (
        not all(periodic)
        or np.triu(rows.T, 1).shape != (3, 3)
        or np.any(np.triu(rows, 1))
        or np.any(np.diag(rows) <= 0)
    ):
        return None
    box = freud.box.Box.from_matrix(rows.T)
    wrapped = box.wrap(points - 0.5 * rows.sum(axis=0))
    try:
        query = freud.locality.AABBQuery(box, wrapped).query(wrapped, {"r_max": cutoff, "exclude_ii": True})
        found = query.toNeighborList()
    except RuntimeError:  # the cutoff is too large for the box
        return None
    return set(map(tuple, found[:].tolist()))


def mdanalysis_pairs(points: Any, rows: Any, periodic: Any, cutoff: float) -> set[tuple[int, int]] | None:
    """Return the answer of MDAnalysis: pairs without shifts, float32, below half the cell."""
    from ase.geometry import cell_to_cellpar
    from MDAnalysis.lib.distances import self_capped_distance
    from MDAnalysis.lib.mdamath import triclinic_vectors

    if not all(periodic) or not np.allclose(triclinic_vectors(cell_to_cellpar(rows)), rows, atol=1e-4):
        return None
    numbers = cell_to_cellpar(rows).astype(np.float32)
    found, _ = self_capped_distance(points.astype(np.float32), max_cutoff=cutoff, box=numbers)
    return {tuple(pair) for pair in found.tolist()} | {tuple(pair[::-1]) for pair in found.tolist()}


PEERS = {"matscipy": matscipy_pairs, "vesin": vesin_pairs, "freud": freud_pairs, "MDAnalysis": mdanalysis_pairs}
PEERS["ASE"] = ase_pairs  # the slowest


def compare() -> bool:
    """Compare with peers on the cells of the tests; return whether all agree."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
    from named_cells import CELLS as NAMED

    agree = True
    for peer, ask in PEERS.items():
        compared = skipped = 0
        for cell in NAMED:
            rows, edges = cell.vectors, [edge for edge in _widths(cell) if edge]
            for n, cutoff in ((1, 1.87), (3, 1.31), (40, 0.71), (300, 0.29), (500, 0.12)):
                points = cell.points(n, seed=n, spread=1)
                shiftless = ask in (freud_pairs, mdanalysis_pairs)
                endless = ask is ase_pairs and (n > 40 or (n > 1 and cell.name == "very tilted"))  # takes minutes
                if (shiftless and cutoff >= 0.45 * min(edges)) or endless:
                    skipped += 1
                    continue
                try:
                    theirs: Any = ask(points, rows, cell.periodic, cutoff)
                except ImportError:
                    break
                except (np.linalg.LinAlgError, ValueError):  # an edge of an open axis is 0, or the cutoff is too large
                    theirs = None
                if theirs is None:
                    skipped += 1
                    continue
                i, j, S, d = vc.pairs(points, cutoff, box=rows, periodic=cell.periodic, want="ijSd", half=False)
                # The other tools round differently: a pair at the cutoff itself may differ.
                tie = np.abs(d - cutoff) < (1e-4 if shiftless else 1e-10)
                ours: Any = keys(i, j, S) if not shiftless else couples(i, j)
                close = keys(i[tie], j[tie], S[tie]) if not shiftless else couples(i[tie], j[tie])
                compared += 1
                if (ours ^ theirs) - close:
                    agree = False
                    print(f"{peer} differs: {cell}, {n} points, cutoff {cutoff}: {len(ours ^ theirs)} of {len(ours)}")
        print(f"{peer}: {compared} cases compared, {skipped} left out", flush=True)
    return agree


def _widths(cell: Any) -> list[float]:
    from vicinal.cell import read_cell

    return read_cell(cell.vectors, cell.periodic, 3, np.dtype(np.float64)).edges


def main() -> None:
    """Measure, or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--points", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--structures", nargs="+", default=["chosen"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--want", default="ij")
    chosen = parser.parse_args()
    if chosen.peers:
        sys.exit(0 if compare() else 1)
    with vc.threads(1):
        measure(chosen.points, chosen.rounds, chosen.structures, chosen.want)


if __name__ == "__main__":
    main()
