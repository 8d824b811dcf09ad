"""vicinal in the form of other packages: a change of the import makes existing code faster.

- `vicinal.adapters.scipy`: `KDTree`, with the methods of ``scipy.spatial.cKDTree``
- `vicinal.adapters.ase`: `neighbor_list`, with the signature of ``ase.neighborlist.neighbor_list``
- `vicinal.adapters.mdanalysis`: pairs of an ``AtomGroup`` with its ``dimensions``
- `vicinal.adapters.freud`: to and from ``freud.locality.NeighborList``
- `vicinal.adapters.torch`: `radius_graph` and `knn_graph`, with the signatures of torch-cluster

Each module imports its package when it is used, not before.
"""

from importlib import import_module

_MODULES = ("ase", "freud", "mdanalysis", "scipy", "torch")


def __dir__() -> list[str]:
    return list(_MODULES)


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
