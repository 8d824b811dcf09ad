"""Print digests of results, which must be the same on every processor: `make aarch64` compares them with x86-64."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import vicinal as vc
from vicinal import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from dem.test_grain_isa import COLUMNS, SCENES
from sph.test_bits import numbers, splash

SPHERES = ("linear", "hertz", "rates", "no history", "sticky", "mesh", "mesh, sticky")
"""Scenes without shapes whose principal axes are computed by LAPACK, which differs between processors."""


def searches() -> Iterator[Any]:
    """Yield pairs with distances, rows and nearest points of random points."""
    for dtype in (np.float32, np.float64):
        points = np.random.default_rng(3).random((3000, 3)).astype(dtype)
        for box in (None, (1.0, 1.0, 1.0), ((1.0, 0, 0), (0.4, 0.9, 0), (-0.2, 0.3, 1.1))):
            yield from vc.pairs(points, 0.1, box=box, want="ijdDS", sort=True)
            yield from vc.nearest(points, 9, box=box)
        yield vc.neighbors(points, 0.12, sort=True).indices


def grains(scene: str) -> Iterator[Any]:
    """Yield the state of spheres after some steps."""
    sim = SCENES[scene]()
    sim.run(300)
    for name in COLUMNS:
        yield getattr(sim, name)


def fluid(dim: int, precision: str) -> Iterator[Any]:
    """Yield the state of a fluid after some steps."""
    sim = splash(dim, precision=precision)
    sim.run(20)
    yield np.frombuffer(numbers(sim), np.uint8)


def main() -> None:
    """Print a digest for each task; all instruction sets must agree."""
    tasks: dict[str, Callable[[], Iterator[Any]]] = {"searches": searches}
    tasks |= {f"grains, {scene}": lambda scene=scene: grains(scene) for scene in SPHERES}
    for dim in (2, 3):
        for precision in ("single", "double"):
            tasks[f"fluid, {dim}D, {precision}"] = lambda dim=dim, precision=precision: fluid(dim, precision)
    for task, results in tasks.items():
        found = set()
        for isa in _core.available_isas():
            _core.set_isa(isa)
            digest = hashlib.sha256()
            for array in results():
                digest.update(np.ascontiguousarray(array).tobytes())
            found.add(digest.hexdigest()[:16])
        print(f"{task}: {', '.join(sorted(found))}")


if __name__ == "__main__":
    main()
