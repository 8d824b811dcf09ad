"""Runs that are interrupted and restarted."""

from __future__ import annotations

from pathlib import Path

from vicinal.sim import Result, RunLoop, run
from vicinal.sim.scene import Scene


def run_in_parts(scene: Scene, folder: Path) -> Result:
    """Stop a run in its middle, and restart it."""
    loop = RunLoop(scene, folder)
    for progress in loop.go():
        if progress.share > 0.5:
            assert progress.share < 1
            loop.save()
            break
    return run(scene, folder, restart=folder / "restart.npz")
