"""Where a measurement was made."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from contestants import Contestant


def describe_machine(contestants: list[Contestant]) -> dict[str, Any]:
    """Processor, memory, system, versions and what vicinal says of itself."""
    return {
        "when": datetime.now(tz=UTC).isoformat(timespec="seconds"),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "cores_usable": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "huge_pages": _read("/sys/kernel/mm/transparent_hugepage/enabled"),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {"numpy": _version("numpy")} | {c.distribution: c.version() for c in contestants},
        "vicinal": vicinal_info(),
    }


def cpu_model() -> str:
    """Name of the processor as the system tells it."""
    for line in _read("/proc/cpuinfo").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def vicinal_info() -> dict[str, Any] | None:
    """What ``vicinal.info()`` says: version, instruction set, threads, compiler."""
    try:
        return dict(import_module("vicinal").info())
    except ImportError:
        return None


def _version(module: str) -> str:
    return str(import_module(module).__version__)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return ""
