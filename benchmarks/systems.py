"""Many small systems in one call, against a loop over the systems and against nvalchemiops, on one thread.

Run ``python benchmarks/systems.py``. nvalchemiops is measured where ``nvalchemi-toolkit-ops`` and torch are installed.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

# Thread pools read these when their library is loaded.
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "VICINAL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402

import vicinal as vc  # noqa: E402


def best(task: Callable[[], object], seconds: float) -> float:
    """Return the shortest CPU time of a task, in seconds; the first run is not counted."""
    task()
    shortest, begin = float("inf"), time.perf_counter()
    while time.perf_counter() - begin < seconds:
        start = time.process_time()
        task()
        shortest = min(shortest, time.process_time() - start)
    return shortest


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=2000)
    parser.add_argument("--bodies", type=int, default=20, help="per system")
    parser.add_argument("--cutoff", type=float, default=3.0)
    parser.add_argument("--periodic", action="store_true", help="a cell of its own for each system")
    parser.add_argument("--seconds", type=float, default=4.0, help="per contestant")
    options = parser.parse_args()
    count, size, cutoff = options.systems, options.bodies, options.cutoff
    rng = np.random.default_rng(1)
    edge = (size * 10.0) ** (1 / 3)  # ten cubic angstroms per atom
    points = rng.uniform(0, edge, (count * size, 3)).astype(np.float32)
    boxes = rng.uniform(edge, 1.2 * edge, (count, 3)).astype(np.float32) if options.periodic else None
    batch = np.repeat(np.arange(count), size)
    want = "ES" if options.periodic else "E"
    columns = "ijS" if options.periodic else "ij"

    def loop() -> None:
        for k in range(count):
            box = None if boxes is None else boxes[k].tolist()
            vc.pairs(points[k * size : (k + 1) * size], cutoff, box=box, want=columns, half=False)

    def together() -> int:
        return int(vc.pairs(points, cutoff, batch=batch, box=boxes, want=want, half=False)[0].shape[1])

    times = {"one call": best(together, options.seconds), "loop": best(loop, options.seconds)}
    print(f"{count} systems of {size} bodies, {together() / count / size:.1f} neighbours each, {vc.info()['isa']}")
    try:
        times["nvalchemiops"] = best(peer(points, cutoff, batch, boxes), options.seconds)
    except ImportError as error:
        print(f"nvalchemiops: {error}")
    for name, seconds in times.items():
        print(f"{name:>14} {1e3 * seconds:9.2f} ms {seconds / times['one call']:8.1f} x")


def peer(points: np.ndarray, cutoff: float, batch: np.ndarray, boxes: np.ndarray | None) -> Callable[[], object]:
    """Return the search of nvalchemiops for a list of edges."""
    import torch
    from nvalchemiops.torch.neighbors import neighbor_list

    torch.set_num_threads(1)
    options = {"batch_idx": torch.from_numpy(batch.astype(np.int32)), "return_neighbor_list": True}
    if boxes is not None:
        options["cell"] = torch.diag_embed(torch.from_numpy(boxes))
        options["pbc"] = torch.ones(len(boxes), 3, dtype=torch.bool)
    positions = torch.from_numpy(points)
    return lambda: neighbor_list(positions, cutoff, **options)


if __name__ == "__main__":
    main()
