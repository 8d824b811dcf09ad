"""vicinal as a contestant: one call or a kept index; a chosen structure, instruction set or thread count."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from contestants import Call, Contestant, IntArray, Listing
from workloads import TASKS, Case, Cloud

STRUCTURES = ("CellSorting", "LinkedCells", "Exhaustive")
# n²/2 tests at a quarter of a nanosecond: a tenth of a second.
EXHAUSTIVE_BODIES = 30_000


class Vicinal(Contestant):
    """
    vicinal.

    Parameters
    ----------
    structure
        Class to use, or None for the functions that choose a structure themselves.
    reused
        Keep one index and time ``update`` plus the search instead of building a new one.
    kept
        Keep one index of unmoved bodies, and time the search alone.
    isa
        Instruction set to switch to, or None for the best available one.
    threads
        Thread count that overrides that of the run.
    """

    distribution = "vicinal"
    tasks = TASKS

    def __init__(
        self,
        structure: str | None = None,
        *,
        reused: bool = False,
        kept: bool = False,
        isa: str | None = None,
        threads: int | None = None,
    ) -> None:
        self.structure, self.reused, self.kept, self.isa, self.threads = structure, reused, kept, isa, threads
        index = "reused" if reused else "kept" if kept else None
        words = ["vicinal", structure, index, isa, f"{threads}T" if threads else None]
        self.name = " ".join(word for word in words if word)

    def version(self) -> str | None:
        """Version of the imported package, which need not be the installed one."""
        try:
            return str(import_module("vicinal").info()["version"])
        except ImportError:
            return None

    def refuses(self, case: Case) -> str | None:
        """Refuse cases that would take minutes by design."""
        if self.structure == "Exhaustive" and case.bodies > EXHAUSTIVE_BODIES:
            return "tests every pair"
        return super().refuses(case)

    def before(self) -> None:
        """Switch to the requested instruction set and thread count."""
        if self.isa is not None:
            import_module("vicinal._core").set_isa(self.isa)
        if self.threads is not None:
            import_module("vicinal").set_threads(self.threads)

    def after(self) -> None:
        """Switch back to the best instruction set."""
        if self.isa is not None:
            import_module("vicinal._core").set_isa(isas()[-1])

    def prepare(self, cloud: Cloud, task: str, threads: int) -> Call:
        """Return a search with a new or a kept index; the first call, which is never timed, builds the kept one."""
        vc = import_module("vicinal")
        vc.set_threads(threads)
        points, space = cloud.points, {"cutoff": cloud.cutoff, "box": cloud.box}
        method = {"pairs": "pairs", "vectors": "pairs", "rows": "neighbors", "count": "count"}[task]
        result = {"want": "ijdDS"} if task == "vectors" else {}
        if self.structure is None and not (self.reused or self.kept):
            function = getattr(vc, method)
            return lambda: function(points, **space, **result)
        chosen = vc.choose(points, **space)
        structure = getattr(vc, self.structure or chosen.structure)
        options = space | (dict(chosen.parameters) if self.structure is None else {})
        if not (self.reused or self.kept):
            return lambda: getattr(structure(points, **options), method)(**result)
        index: list[Any] = []

        def call() -> Any:
            if not index:
                index.append(structure(points, **options))
            elif self.reused:
                index[0].update(points)
            return getattr(index[0], method)(**result)

        return call

    def listing(self, result: Any, task: str) -> Listing:
        """Pair arrays or CSR rows."""
        if task in {"pairs", "vectors"}:
            return Listing(result[0], result[1], full=False)
        i = np.repeat(np.arange(len(result.offsets) - 1), np.diff(result.offsets))
        return Listing(i, result.indices, full=True)

    def counts(self, result: Any) -> IntArray:
        """Return the counts unchanged."""
        return np.asarray(result)


def isas() -> list[str]:
    """Instruction sets this machine can run, lowest first."""
    return list(import_module("vicinal").info()["isa_available"])


def variants(structures: tuple[str, ...]) -> list[Contestant]:
    """The functions and an index, then each requested structure: new, updated, and unchanged."""
    names: list[str | None] = [None, *structures]
    ways: list[dict[str, bool]] = [{}, {"reused": True}, {"kept": True}]
    return [Vicinal(name, **way) for name in names for way in ways]
