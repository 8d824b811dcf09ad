"""Sample scenes: bodies to search, for tests, benchmarks and first tries.

Every scene is seeded. The same call gives the same bodies, bit for bit, on every machine and with every version of
NumPy: only the raw bits of PCG64 are used, which NumPy promises never to change, and + − × ÷ √, which IEEE arithmetic
rounds the same way everywhere.

Examples
--------
>>> scene = vicinal.scenes.packed(vicinal.scenes.lognormal(1000, sigma=0.3, seed=1), filling=0.4, seed=1)
>>> i, j = vicinal.pairs(**scene.bodies, skin=0.2)
"""

from vicinal.scenes.clouds import clustered, filament, sheet, uniform
from vicinal.scenes.cuboids import cuboids
from vicinal.scenes.groups import SphereGroup, boxes_in_box, checkerboard, giant
from vicinal.scenes.motion import drift, headings, jitter, shaking, shear
from vicinal.scenes.packing import packed
from vicinal.scenes.scene import SampleScene
from vicinal.scenes.sizes import bimodal, lognormal, power_law, spheres
from vicinal.sim.draws import Draws

__all__ = [
    "Draws",
    "SampleScene",
    "SphereGroup",
    "bimodal",
    "boxes_in_box",
    "checkerboard",
    "clustered",
    "cuboids",
    "drift",
    "filament",
    "giant",
    "headings",
    "jitter",
    "lognormal",
    "packed",
    "power_law",
    "shaking",
    "shear",
    "sheet",
    "spheres",
    "uniform",
]


def __dir__() -> list[str]:
    return __all__
