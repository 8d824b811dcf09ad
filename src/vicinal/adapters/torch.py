"""Graphs of torch tensors on the CPU, with the signatures of torch-cluster and the ``edge_index`` of PyTorch Geometric.

>>> from vicinal.adapters.torch import radius_graph  # instead of: from torch_cluster import radius_graph

Edges have no gradient: tensors that require one are detached. Distances computed from the edges, such as
``(x[edges[0]] - x[edges[1]]).norm(dim=1)``, are differentiable. Unlike torch-cluster, `max_num_neighbors` keeps the
nearest neighbours and never drops a loop, and the distance `r` itself is included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from vicinal import _check, _core
from vicinal.errors import InputError
from vicinal.nearest import nearest
from vicinal.search import pairs
from vicinal.self_pairs import join_pairs

if TYPE_CHECKING:
    from torch import Tensor

Flow = Literal["source_to_target", "target_to_source"]
# Cutoffs that reach all points, yet have finite squares.
FARTHEST = {4: 1e18, 8: 1e150}


def radius_graph(
    x: Tensor,
    r: float,
    batch: Tensor | None = None,
    loop: bool = False,  # noqa: FBT001, FBT002
    max_num_neighbors: int = 32,
    flow: Flow = "source_to_target",
    num_workers: int = 1,
    batch_size: int | None = None,
    *,
    box: Any = None,
) -> Tensor:
    """Return the edges between points within a distance, shape (2, m), int64.

    Parameters
    ----------
    x
        Points, shape (n, 2) or (n, 3).
    r
        Largest distance.
    batch
        The graph of each point, ascending; points of different graphs have no edges.
    loop
        Each point has an edge to itself, too, beside those to its neighbours.
    max_num_neighbors
        Most neighbours of a point: the nearest ones.
    flow
        "source_to_target": the second row holds the points whose neighbours are in the first; otherwise the first row.
    num_workers, batch_size
        Accepted for compatibility; they have no effect.
    box
        Periodic box, as for `vicinal.pairs`, one for all graphs or one for each.
    """
    del num_workers, batch_size
    most = _check.check_integer(max_num_neighbors, "max_num_neighbors", least=1, most=_check.MOST_BODIES)
    return _edges(x, float(r), batch, most, flow, loop=loop, box=box)


def knn_graph(
    x: Tensor,
    k: int,
    batch: Tensor | None = None,
    loop: bool = False,  # noqa: FBT001, FBT002
    flow: Flow = "source_to_target",
    cosine: bool = False,  # noqa: FBT001, FBT002
    num_workers: int = 1,
    batch_size: int | None = None,
) -> Tensor:
    """Return the edges between each point and its k nearest neighbours, shape (2, m), int64; see `radius_graph`.

    With `loop` a point is one of its own k neighbours, however many points coincide with it.
    """
    del num_workers, batch_size
    if cosine:
        raise InputError("cosine must be False, got True; divide the points by their lengths instead")
    most = _check.check_integer(k, "k", least=1, most=_check.MOST_BODIES)
    return _edges(x, None, batch, most, flow, loop=loop, box=None)


def _edges(x: Tensor, r: float | None, batch: Any, most: int, flow: str, *, loop: bool, box: Any) -> Tensor:
    import torch

    _check.check_choice(flow, "flow", ("source_to_target", "target_to_source"))
    if x.device.type != "cpu":
        raise InputError(f"x must be on the CPU, got {x.device}; pass x.cpu()")
    points: Any = x.detach().numpy()
    systems = np.zeros(len(points), np.int64) if batch is None else batch.detach().numpy()
    # Loops are added afterwards: among many coincident points, a point need not be one of its own nearest. They do not
    # take the place of a neighbour within a distance, but of one of the k nearest.
    others = most - 1 if loop and r is None else most
    edges = _edges_of_others(points, r, systems, others, box) if others > 0 else np.empty((2, 0), np.int64)
    if loop:
        joined = join_pairs({"i": edges[0], "j": edges[1]}, len(points), sort=True)
        edges = np.stack([joined["i"], joined["j"]])
    return torch.from_numpy(edges[::-1].copy() if flow == "source_to_target" else edges)


def _edges_of_others(points: Any, r: float | None, systems: Any, most: int, box: Any) -> Any:
    """Return the edges from each point to its nearest others, within a distance if it is given, in ascending order."""
    counts = np.bincount(systems)
    if r is None and counts.max(initial=0) > _core.LARGEST_SYSTEM:
        ends = np.cumsum(counts)
        parts = [
            _nearest_edges(points[end - size : end], most) + (end - size)
            for end, size in zip(ends, counts, strict=True)
            if size
        ]
        return np.concatenate(parts, axis=1)
    cutoff = FARTHEST[4 if points.dtype == np.float32 else 8] if r is None else r
    return pairs(points, cutoff, batch=systems, box=box, want="E", half=False, sort=True, max_neighbors=most)[0]


def _nearest_edges(points: Any, k: int) -> Any:
    """Return the edges from each point to its k nearest others, in ascending order of their numbers."""
    _, numbers = nearest(points, k)
    numbers.sort(axis=1)
    there = numbers >= 0
    centres = np.broadcast_to(np.arange(len(points))[:, None], numbers.shape)[there]
    return np.stack([centres, numbers[there]]).astype(np.int64)
