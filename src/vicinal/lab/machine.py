"""Where and with what a run was made."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("numpy", "matplotlib", "scipy")


def describe() -> dict[str, Any]:
    """Return processor, memory, system and versions.

    Examples
    --------
    >>> sorted({"cpu", "python", "vicinal", "versions"} - set(describe()))
    []
    """
    import vicinal as vc

    return {
        "cpu": cpu(),
        "cores": os.cpu_count(),
        "memory_bytes": memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: found for name in PACKAGES if (found := installed(name))},
        "vicinal": dict(vc.info()),
    }


def now() -> str:
    """Return the time of day, for the record."""
    return datetime.now(tz=UTC).isoformat(timespec="seconds")


def installed(name: str) -> str | None:
    """Return the version of a package, or None."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def cpu() -> str:
    """Return the name of the processor as the system tells it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    for line in text.splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def memory() -> int | None:
    """Return the bytes of main memory, where the system tells."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
