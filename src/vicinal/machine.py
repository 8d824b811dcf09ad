"""How vicinal was built, and the machine it runs on."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, TypedDict

from vicinal import _core
from vicinal._environment import check_environment, note_fault


class Info(TypedDict):
    """The result of `info`."""

    version: str
    isa: str
    isa_available: list[str]
    threads: int
    openmp: bool
    compiler: str
    emulated: bool


def info() -> Info:
    """Return version, instruction set, threads and build.

    Examples
    --------
    >>> vicinal.info()["isa"] in vicinal.info()["isa_available"]
    True
    """
    from importlib.metadata import version  # late: it takes longer to load than all of vicinal

    check_environment()
    return Info(
        version=version("vicinal"),
        isa=_core.get_isa(),
        isa_available=_core.available_isas(),
        threads=_core.get_threads(),
        openmp=_core.openmp(),
        compiler=_core.compiler(),
        emulated=_core.emulated(),
    )


def describe(packages: Iterable[str] = ("numpy", "matplotlib", "scipy")) -> dict[str, Any]:
    """Return date, processor, memory, system and versions, as a record for measurements and runs.

    Parameters
    ----------
    packages
        Distributions to name with their versions; those that are not installed are left out.

    Examples
    --------
    >>> sorted({"cpu", "python", "vicinal", "versions"} - set(describe()))
    []
    """
    import platform

    return {
        "when": now(),
        "cpu": cpu(),
        "cores": os.cpu_count(),
        "cores_usable": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "memory_bytes": memory(),
        "huge_pages": _read("/sys/kernel/mm/transparent_hugepage/enabled"),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: known for name in packages if (known := installed(name))},
        "vicinal": dict(info()),
    }


def now() -> str:
    """Return date and time in UTC, for the record."""
    from datetime import UTC, datetime

    return datetime.now(tz=UTC).isoformat(timespec="seconds")


def installed(name: str) -> str | None:
    """Return the version of a distribution, or None if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None


def cpu() -> str:
    """Return the name of the processor."""
    import platform

    for line in _read("/proc/cpuinfo").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def memory() -> int | None:
    """Return the bytes of main memory, or None if the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123 - pathlib takes longer to load than all of vicinal
            return file.read().strip()
    except OSError:
        return ""


def _from_environment() -> None:
    wanted = os.environ.get("VICINAL_ISA", "").strip()
    if wanted:
        try:
            _core.set_isa(wanted)
        except ValueError:
            note_fault(f"VICINAL_ISA must be one of {', '.join(_core.available_isas())}, got {wanted!r}")


_from_environment()
